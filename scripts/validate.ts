import { readdirSync } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { collectFolder } from "../publish/collect.ts";
import {
	type FileProblem,
	judgeChange,
	judgeStored,
	type LayerFile,
	type PathsByKey,
	pathsByKey,
	problemLine,
} from "../registry/judge.ts";
import { warningsOf } from "../registry/registration.ts";
import { descriptionPath, layerPath, ownersPath } from "../registry/smallkey.ts";
import { counted, plain } from "../registry/untrusted.ts";
import { createRun, exitCodes } from "./terminal/command-line.ts";

type NamedFile = LayerFile & { name: string };

/** The path starts at the last folder called `layers`. */
async function readFileNamed(name: string): Promise<NamedFile> {
	const parts = relative(process.cwd(), resolve(name)).split(sep);
	const start = parts.lastIndexOf("layers");
	const path = (start < 0 ? parts : parts.slice(start)).join("/");
	const stat = await lstat(name);
	if (stat.isDirectory()) throw new Error(`${name}: is a folder; name its files: ${join(name, "*.json")}`);
	const kind = stat.isSymbolicLink() ? "symlink" : stat.isFile() ? "file" : "other";
	return { name, path, kind, bytes: kind === "file" ? await readFile(name) : new Uint8Array(0) };
}

type Finding = FileProblem & { isWarning?: true };

/** Judges files below `layers` with the others there. */
function checkFiles(files: readonly NamedFile[]): Finding[] {
	const isPlaced = ({ path }: LayerFile) => path.startsWith("layers/");
	const [placed, alone] = [files.filter(isPlaced), files.filter((file) => !isPlaced(file))];
	return [...checkWritten(placed, pathsBeside(placed)), ...alone.flatMap(checkAlone)];
}

function checkWritten(files: readonly LayerFile[], before: PathsByKey): Finding[] {
	const { layers, problems } = judgeChange(before, files, "anyone");
	const warnings = [...layers].flatMap(([smallkey, { registration }]) =>
		warningsOf(registration).map((warning): Finding => {
			return { ...warning, file: layerPath(smallkey), isWarning: true };
		}),
	);
	return [...problems, ...warnings];
}

/** Judges it as a layer called `alone`. */
function checkAlone(file: NamedFile): Finding[] {
	const path = file.path.endsWith(".service.json") ? descriptionPath("alone") : layerPath("alone");
	const findings = checkWritten([{ ...file, path }], pathsByKey([{ path: layerPath("alone") }]));
	return findings.map((finding) => ({ ...finding, file: file.path }));
}

function checkAll(files: readonly LayerFile[]): Finding[] {
	const owners = files.filter(({ path }) => path === ownersPath);
	return [...judgeStored(files).problems, ...checkWritten(owners, new Map())];
}

/** The files themselves count as new. */
function pathsBeside(files: readonly NamedFile[]): PathsByKey {
	const paths = new Set(files.map(({ path }) => path));
	const folders = new Map(files.map((file) => [dirname(file.path), dirname(file.name)]));
	const beside = [...folders].flatMap(([path, name]) =>
		readdirSync(name).map((file) => ({ path: `${path}/${file}` })),
	);
	return pathsByKey(beside.filter(({ path }) => !paths.has(path)));
}

export const validate = createRun(async ({ read, io }) => {
	const [, names] = await read((line) =>
		line.argument("[file...]", "registrations in any folder; without one, all layers of this checkout"),
	);
	const isAll = names.length === 0;
	io.warn(`Checking ${isAll ? "layers/ of this checkout" : counted(names.length, "named file")}`);
	const namedFiles = await Promise.all(names.map(readFileNamed));
	const files = isAll ? collectFolder("layers") : namedFiles.sort((a, b) => (a.path < b.path ? -1 : 1));
	const findings = isAll ? checkAll(files) : checkFiles(namedFiles);
	for (const { isWarning, ...problem } of findings)
		io.warn(plain(`${isWarning ? "warning: " : ""}${problemLine(problem)}`));
	const warnings = findings.filter(({ isWarning }) => isWarning).length;
	const problems = findings.length - warnings;
	const counts = [counted(files.length, "file"), counted(problems, "problem")];
	if (warnings > 0) counts.push(counted(warnings, "warning"));
	io.print(counts.join(", "));
	return problems > 0 ? exitCodes.wrong : exitCodes.done;
});
