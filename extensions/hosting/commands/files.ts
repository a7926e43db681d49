// npx fragment-publisher headers and publish-objects: how static hosting serves a build, and a bucket that has it
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Argument } from "@commander-js/extra-typings";
import { readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { progress } from "../../../publish/progress.ts";
import { createRun, parseCount } from "../../../scripts/terminal/command-line.ts";
import { openBucket, prepareUpload, publish } from "../bucket.ts";
import { type StaticHostName, staticHosts } from "../headers.ts";
import { listForBucket } from "../verify.ts";

const headers = createRun("headers", async ({ read, environment, io }) => {
	const hosts = Object.keys(staticHosts) as StaticHostName[];
	const [{ root, port }, host] = await read((line) =>
		line
			.addArgument(new Argument("<host>", "which").choices(hosts))
			.option("--root <dir>", "the folder of the build", "dist")
			.option("--port <number>", "where it listens", parseCount, 80),
	);
	const { targets } = readConfiguration(withoutStore(environment));
	io.warn(`The configuration of ${host} for ${resolve(root)}`);
	io.print(staticHosts[host]({ targets, root: resolve(root), port }).trimEnd());
});

const bucketHelp = `
OBJECTS_ENDPOINT, OBJECTS_BUCKET, OBJECTS_REGION (auto), AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY name the bucket.`;

const publishObjects = createRun("publish-objects", async ({ read, environment, io }) => {
	const [{ dist, dryRun, list, all = false }] = await read((line) =>
		line
			.option("--dist <dir>", "the build", "dist")
			.option("--dry-run", "print what would be uploaded and removed")
			.option("--list <file>", "only list the files, for node extensions/hosting/hand-over.ts (publish.yml)")
			.option("--all", "upload everything, also what the bucket's manifest says is there")
			.addHelpText("after", bucketHelp),
	);
	const listing = await listForBucket(resolve(dist));
	if (list !== undefined) {
		await writeFile(list, JSON.stringify(listing));
		return;
	}
	const bucket = openBucket(environment);
	const prepared = await prepareUpload(bucket, resolve(dist), listing, all);
	const { upload, remove, unchanged } = prepared;
	if (dryRun) {
		for (const name of upload) io.print(`upload ${name}`);
		for (const name of remove) io.print(`remove ${name}`);
		const counts = `${upload.length} to upload, ${remove.length} to remove, ${unchanged} unchanged`;
		io.print(`${counts}; nothing was changed`);
		return;
	}
	const bar = progress(upload.length + remove.length, "publishing");
	await publish(bucket, prepared, bar.tick).finally(bar.stop);
	io.print(`${upload.length} uploaded, ${remove.length} removed, ${unchanged} unchanged`);
});

export const runs = { headers, "publish-objects": publishObjects };
