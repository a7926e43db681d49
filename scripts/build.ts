// npx fragment-publisher build, headers, publish-objects and schemas: write what static hosting serves, and how
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Argument } from "@commander-js/extra-typings";
import { readConfiguration, withoutStore } from "../api/service/settings.ts";
import { openBucket, prepareUpload, publish } from "../extensions/hosting/bucket.ts";
import { type StaticHostName, staticHosts } from "../extensions/hosting/headers.ts";
import { listForBucket } from "../extensions/hosting/verify.ts";
import { counted, plain } from "../registry/plain.ts";
import { targetNames } from "../registry/targets/table.ts";
import { buildOutput, catalogueLine, checkOutput, updateChecksums } from "../site/build/output.ts";
import { schemaFiles } from "../site/data/openapi.ts";
import { nameSource, withSource } from "./source.ts";
import { createRun, parseCount, WrongError } from "./terminal/command-line.ts";
import { progress } from "./terminal/progress.ts";

const buildHelp = `
A wrong file of a folder prevents the whole build. With --repo everything else is built, and a wrong file in its last
valid form; the exit code is 1 in both cases.`;

const build = createRun("build", async ({ read, environment, io }) => {
	const [options] = await read((line) =>
		withSource(line)
			.option("--out <dir>", "output folder; the files of removed layers are removed from it", "dist")
			.option("--compress", "a .gz and a .br beside each file, for a web server that looks for them")
			.option("--manifest", "manifest.json beside the files: the SHA-256 of each")
			.option("--fresh", "compare every file, also those that the last build recorded as complete")
			.addHelpText("after", buildHelp),
	);
	const { source, name } = nameSource(options);
	const out = resolve(options.out);
	io.warn(`Building ${name} into ${out}`);
	await checkOutput(out);
	const { problems, written, catalogue } = await buildOutput(source, out, environment, options);
	for (const problem of problems) io.warn(plain(problem));
	const found = counted(problems.length, "problem");
	if (!written) throw new WrongError(`${found}; nothing was written`);
	await updateChecksums(out, options.manifest);
	io.print(`${written.written} written, ${written.unchanged} unchanged, ${written.removed} removed`);
	if (catalogue) io.print(catalogueLine(catalogue));
	if (problems.length > 0)
		throw new WrongError(`${found}; those files are served in their last valid form, or not at all`);
});

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

const schemas = createRun("schemas", async ({ read, io }) => {
	const [{ out, url }] = await read((line) =>
		line
			.option("--out <dir>", "where to write", "dist/schemas")
			.option("--url <url>", "where the paths of the service begin", "/"),
	);
	await mkdir(out, { recursive: true });
	const files = schemaFiles(targetNames, url);
	for (const [name, text] of files) await writeFile(join(out, name), text);
	io.print(`${counted(files.size, "file")} in ${out}`);
});

export const runs = { build, headers, "publish-objects": publishObjects, schemas };
