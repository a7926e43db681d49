// npm run publish-objects: keeps a bucket in step with the build (docs/hosting.md, "Past the file limit").
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { Bucket, readBucketSettings } from "./hosting/bucket.ts";
import { preparePublication, publish } from "./hosting/publish.ts";
import { runCommand } from "./terminal/command-line.ts";

const usage = `npm run publish-objects [-- [--dist DIR] [--dry-run] [--all]]

  --dist DIR   the build (dist)
  --dry-run    print what would be uploaded and removed
  --all        upload everything, also what the bucket's manifest says is there

OBJECTS_ENDPOINT, OBJECTS_BUCKET, OBJECTS_REGION (auto), AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY name the bucket.`;

const options = {
	dist: { type: "string" },
	"dry-run": { type: "boolean" },
	all: { type: "boolean" },
	help: { type: "boolean", short: "h" },
} as const;

function parseWords() {
	try {
		return parseArgs({ options }).values;
	} catch (error) {
		throw new Error(`${(error as Error).message}\nusage: ${usage}`);
	}
}

await runCommand(async () => {
	const words = parseWords();
	if (words.help) {
		console.log(usage);
		return 0;
	}
	const bucket = new Bucket(readBucketSettings(process.env));
	const publication = await preparePublication(bucket, resolve(words.dist ?? "dist"), words.all ?? false);
	const { upload, remove, unchanged } = publication.plan;
	if (words["dry-run"]) {
		for (const name of upload) console.log(`upload ${name}`);
		for (const name of remove) console.log(`remove ${name}`);
		console.log(
			`${upload.length} to upload, ${remove.length} to remove, ${unchanged} unchanged; nothing was changed`,
		);
		return 0;
	}
	await publish(bucket, publication);
	console.log(`${upload.length} uploaded, ${remove.length} removed, ${unchanged} unchanged`);
	return 0;
});
