// npx fragments schemas: writes the JSON Schemas and the OpenAPI document into a folder
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { schemaFiles } from "../catalogue/openapi.ts";
import { targetNames } from "../registry/targets/table.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printLine } from "../terminal/io.ts";
import { counted } from "../terminal/plain.ts";

export const run = createRun(async (argv, _environment, io) => {
	const line = createCommandLine("schemas", io)
		.option("--out <dir>", "where to write", "dist/schemas")
		.option("--url <url>", "where the paths of the service begin", "/")
		.parse(argv, { from: "user" });
	const { out, url } = line.opts();
	await mkdir(out, { recursive: true });
	const files = schemaFiles(targetNames, url);
	for (const [name, text] of files) await writeFile(join(out, name), text);
	printLine(io, `${counted(files.size, "file")} in ${out}`);
	return exitCodes.done;
});
