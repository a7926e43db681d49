// node extensions/hosting/hand-over.ts assets|worker|bucket FOLDER: gives a build to the hosting. publish.yml runs it beside the
// hosting's key, in a job that has no package but wrangler, or the two of deploy/bucket. Node 24 reads it without tsx.
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { openBucket, prepareUpload, publish } from "./bucket.ts";
import { deployWorker } from "./deployment.ts";

const [what = "", folder = "built"] = process.argv.slice(2);
const dist = resolve(folder, "dist");
const worker = resolve(folder, "deploy/workers/dist/worker.js");

async function fillBucket(): Promise<boolean> {
	const bucket = openBucket(process.env);
	const listing = JSON.parse(await readFile(join(folder, "listing.json"), "utf8"));
	const prepared = await prepareUpload(bucket, dist, listing, false);
	await publish(bucket, prepared);
	const { upload, remove, unchanged } = prepared;
	console.log(`${upload.length} uploaded, ${remove.length} removed, ${unchanged} unchanged`);
	return true;
}

const ways: Record<string, () => Promise<boolean>> = {
	assets: () => deployWorker({ worker, assets: dist }, process.env),
	worker: () => deployWorker({ worker, assets: null }, process.env),
	bucket: fillBucket,
};

const way = ways[what];
if (!way) throw new Error(`${what}: must be one of ${Object.keys(ways).join(", ")}`);
process.exitCode = (await way()) ? 0 : 1;
