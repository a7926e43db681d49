// npx fragments publish-objects: synchronizes a bucket with the build (docs/hosting.md, "Past the file limit")
import { resolve } from "node:path";
import { Bucket, prepareUpload, publish } from "../hosting/bucket.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printLine } from "../terminal/io.ts";

const environmentHelp = `
OBJECTS_ENDPOINT, OBJECTS_BUCKET, OBJECTS_REGION (auto), AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY name the bucket.`;

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("publish-objects", io)
		.option("--dist <dir>", "the build", "dist")
		.option("--dry-run", "print what would be uploaded and removed")
		.option("--all", "upload everything, also what the bucket's manifest says is there")
		.addHelpText("after", environmentHelp)
		.parse(argv, { from: "user" })
		.opts();
	const bucket = new Bucket(environment);
	const prepared = await prepareUpload(bucket, resolve(options.dist), options.all ?? false);
	const { upload, remove, unchanged } = prepared;
	if (options.dryRun) {
		for (const name of upload) printLine(io, `upload ${name}`);
		for (const name of remove) printLine(io, `remove ${name}`);
		printLine(
			io,
			`${upload.length} to upload, ${remove.length} to remove, ${unchanged} unchanged; nothing was changed`,
		);
		return exitCodes.done;
	}
	await publish(bucket, prepared);
	printLine(io, `${upload.length} uploaded, ${remove.length} removed, ${unchanged} unchanged`);
	return exitCodes.done;
});
