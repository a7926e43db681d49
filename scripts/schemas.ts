import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { targetNames } from "../registry/targets/table.ts";
import { counted } from "../registry/untrusted-text.ts";
import { schemaFiles } from "../site/data/openapi.ts";
import { createRun } from "./terminal/command-line.ts";

export const run = createRun("schemas", async ({ read, io }) => {
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
