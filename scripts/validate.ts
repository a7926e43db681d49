// npx fragments validate: checks registrations as the build does, without writing
import { readdirSync } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { collectSource } from "../publish/collect.ts";
import {
	judgeFile,
	judgeFiles,
	type LayerFile,
	type NamesBefore,
	type Problem,
	problemLine,
	type Remark,
} from "../registry/judge.ts";
import { ownersPath } from "../registry/owners.ts";
import type { Registration } from "../registry/registration.ts";
import { fileName, layerPath } from "../registry/smallkey.ts";
import { warningsOf } from "../registry/warnings.ts";
import { createRun, exitCodes } from "../system/terminal/command-line.ts";
import { counted, plain } from "../system/terminal/plain.ts";
import { nameSource, withSource } from "./source.ts";

type Named = LayerFile & { name: string };

/** Reads a file on the command line. Its path in the repository starts at the last folder called `layers`. */
async function readNamed(name: string): Promise<Named> {
	const parts = relative(process.cwd(), resolve(name)).split(sep);
	const start = parts.lastIndexOf("layers");
	const path = (start < 0 ? parts : parts.slice(start)).join("/");
	const found = await lstat(name);
	if (found.isSymbolicLink()) return { name, path, kind: "symlink", bytes: new Uint8Array(0) };
	if (found.isDirectory()) throw new Error(`${name}: is a folder; name its files: ${join(name, "*.json")}`);
	if (!found.isFile()) return { name, path, kind: "other", bytes: new Uint8Array(0) };
	return { name, path, kind: "file", bytes: await readFile(name) };
}

/**
 * Checks named files by the rules for writes, with warnings. A file in a folder `layers` is judged together with the other
 * files in that folder.
 */
function checkNamed(named: Named[]): { problems: Problem[]; warnings: Remark[] } {
	const problems: Problem[] = [];
	const warnings: Remark[] = [];
	const warn = (file: string, registration: Registration) => {
		for (const text of warningsOf(registration)) warnings.push({ file, text });
	};
	const isPlaced = ({ path }: LayerFile) => path.startsWith("layers/");
	for (const file of named.filter((one) => !isPlaced(one))) {
		const checked = judgeFile(file, "written");
		problems.push(...checked.problems);
		if (checked.registration) warn(file.path, checked.registration);
	}
	const placed = named.filter(isPlaced);
	const judged = judgeFiles(placed, "written", namesBeside(placed));
	for (const [smallkey, { registration }] of judged.layers) warn(layerPath(smallkey), registration);
	problems.push(...judged.problems, ...ownersProblems(named));
	return { problems, warnings };
}

/** Returns a reader of the names beside the named files: folder under `layers/` → the other names in it. */
function namesBeside(named: readonly Named[]): NamesBefore {
	return (folder) => {
		const own = named.filter(({ path }) => path.split("/")[1] === folder);
		const folders = new Set(own.map(({ name }) => dirname(name)));
		const names = new Set([...folders].flatMap((one) => readdirSync(one)));
		for (const { path } of own) names.delete(fileName(path));
		return names;
	};
}

/** Checks `layers/owners.json`, which belongs to no layer. */
function ownersProblems(files: LayerFile[]): Problem[] {
	const owners = files.find(({ path }) => path === ownersPath);
	return owners ? judgeFile(owners, "written").problems : [];
}

export const run = createRun("validate", async ({ read, io }) => {
	const [options, names] = await read((line) =>
		withSource(
			line.argument("[file...]", "registrations, wherever they lie; all layers where none is named"),
		),
	);
	const { source, name } = nameSource(options);
	if (names.length > 0 && Object.keys(options).length > 0) {
		throw new Error("files, or one of --layers and --repo: both cannot be checked at once");
	}
	io.warn(`Checking ${names.length > 0 ? counted(names.length, "named file") : name}`);
	const named = await Promise.all(names.map(readNamed));
	const files = names.length > 0 ? named : await collectSource(source);
	const { problems, warnings } =
		names.length > 0
			? checkNamed(named.sort((a, b) => (a.path < b.path ? -1 : 1)))
			: { problems: [...judgeFiles(files).problems, ...ownersProblems(files)], warnings: [] };
	for (const problem of problems) io.warn(plain(problemLine(problem)));
	for (const warning of warnings) io.warn(plain(`warning: ${problemLine(warning)}`));
	const counts = [counted(files.length, "file"), counted(problems.length, "problem")];
	if (warnings.length > 0) counts.push(counted(warnings.length, "warning"));
	io.print(counts.join(", "));
	return problems.length > 0 ? exitCodes.wrong : exitCodes.done;
});
