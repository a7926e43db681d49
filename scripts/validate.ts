import { lstat, readFile } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { collectFolder } from "../publish/collect.ts";
import {
	type FileProblem,
	judgeChange,
	judgeStored,
	type LayerFile,
	type PathsByKey,
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

function checkWritten(files: readonly LayerFile[], before: PathsByKey | null): Finding[] {
	const { layers, problems } = judgeChange(before, files, "anyone");
	const warnings = [...layers].flatMap(([smallkey, { registration }]) =>
		warningsOf(registration).map((warning): Finding => {
			return { ...warning, file: layerPath(smallkey), isWarning: true };
		}),
	);
	return [...problems, ...warnings];
}

/** A file that is not below `layers` is judged as one of a layer called `alone`. */
function checkNamed(file: NamedFile): Finding[] {
	const isDescription = file.path.endsWith(".service.json");
	const pathAlone = isDescription ? descriptionPath("alone") : layerPath("alone");
	const path = file.path.startsWith("layers/") ? file.path : pathAlone;
	const findings = checkWritten([{ ...file, path }], isDescription ? null : new Map());
	return findings.map((finding) => ({ ...finding, file: file.path }));
}

function checkAll(files: readonly LayerFile[]): Finding[] {
	const owners = files.filter(({ path }) => path === ownersPath);
	return [...judgeStored(files).problems, ...checkWritten(owners, new Map())];
}

export const validate = createRun(async ({ read, io }) => {
	const [, names] = await read((line) =>
		line.argument("[file...]", "registrations in any folder; without one, all layers of this checkout"),
	);
	const isAll = names.length === 0;
	io.warn(`Checking ${isAll ? "layers/ of this checkout" : counted(names.length, "named file")}`);
	const namedFiles = await Promise.all(names.map(readFileNamed));
	const files = isAll ? collectFolder("layers") : namedFiles.sort((a, b) => (a.path < b.path ? -1 : 1));
	const findings = isAll ? checkAll(files) : namedFiles.flatMap(checkNamed);
	for (const { isWarning, ...problem } of findings)
		io.warn(plain(`${isWarning ? "warning: " : ""}${problemLine(problem)}`));
	const warnings = findings.filter(({ isWarning }) => isWarning).length;
	const problems = findings.length - warnings;
	const counts = [counted(files.length, "file"), counted(problems, "problem")];
	if (warnings > 0) counts.push(counted(warnings, "warning"));
	io.print(counts.join(", "));
	return problems > 0 ? exitCodes.wrong : exitCodes.done;
});
