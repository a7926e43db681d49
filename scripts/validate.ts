import { readdirSync } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import { collectFolder, type Source } from "../publish/collect.ts";
import {
	type FileProblem,
	judgeChange,
	type LayerFile,
	type NamesBefore,
	namesOf,
	problemLine,
} from "../registry/judge.ts";
import { ownersPath } from "../registry/owners.ts";
import { warningsOf } from "../registry/registration.ts";
import { descriptionPath, layerPath } from "../registry/smallkey.ts";
import { counted, plain } from "../registry/untrusted-text.ts";
import { createRun, exitCodes } from "./terminal/command-line.ts";

const layersOption = new Option("--layers <dir>", "a folder of layers (layers of this checkout)").conflicts(
	"repo",
);

const repoOption = new Option(
	"--repo <dir>",
	"a git repository instead, such as DATA_DIR/repository.git of a running service",
);

const refOption = new Option("--ref <ref>", "its commit (the branch main)");

export function withSource<Args extends unknown[], Options extends OptionValues>(
	line: Command<Args, Options>,
) {
	return line.addOption(layersOption).addOption(repoOption).addOption(refOption);
}

type SourceOptions = Partial<Record<"layers" | "repo" | "ref", string | undefined>>;

export function nameSource({ layers, repo, ref }: SourceOptions): { source: Source; name: string } {
	if (ref !== undefined && repo === undefined) throw new Error("--ref: is for --repo");
	if (repo !== undefined) {
		const name = `${ref ?? "the branch main"} of the repository ${repo}`;
		return { source: { repository: repo, ref: ref ?? "refs/heads/main" }, name };
	}
	if (layers !== undefined) return { source: { folder: layers }, name: layers };
	return { source: { folder: "layers" }, name: "layers/ of this checkout" };
}

type NamedFile = LayerFile & { name: string };

/** In the repository, the path starts at the last folder called `layers`. */
async function readFileNamed(name: string): Promise<NamedFile> {
	const parts = relative(process.cwd(), resolve(name)).split(sep);
	const start = parts.lastIndexOf("layers");
	const path = (start < 0 ? parts : parts.slice(start)).join("/");
	const stat = await lstat(name);
	if (stat.isDirectory()) throw new Error(`${name}: is a folder; name its files: ${join(name, "*.json")}`);
	const kind = stat.isSymbolicLink() ? "symlink" : stat.isFile() ? "file" : "other";
	return { name, path, kind, bytes: kind === "file" ? await readFile(name) : new Uint8Array(0) };
}

type Checked = Record<"problems" | "warnings", readonly FileProblem[]>;

/** By the rules for writes. Files in a folder `layers` are judged together with the others there. */
function checkFiles(given: readonly NamedFile[]): Checked {
	const files = given.toSorted((a, b) => (a.path < b.path ? -1 : 1));
	const isPlaced = ({ path }: LayerFile) => path.startsWith("layers/");
	const placed = files.filter(isPlaced);
	const alone = files.filter((file) => !isPlaced(file));
	const checks = [checkWritten(placed, namesBeside(placed)), ...alone.map(checkAlone)];
	const all = (list: keyof Checked) => checks.flatMap((checked) => checked[list]);
	return { problems: all("problems"), warnings: all("warnings") };
}

function checkWritten(files: readonly LayerFile[], before: NamesBefore): Checked {
	const { layers, problems } = judgeChange(before, files, "anyone");
	const warnings = [...layers].flatMap(([smallkey, { registration }]) =>
		warningsOf(registration).map((warning) => ({ ...warning, file: layerPath(smallkey) })),
	);
	return { problems, warnings };
}

/** As a layer called `alone`, whatever its name. */
function checkAlone(file: NamedFile): Checked {
	const path = file.path.endsWith(".service.json") ? descriptionPath("alone") : layerPath("alone");
	const { problems, warnings } = checkWritten([{ ...file, path }], () => ["alone.json"]);
	const inFile = (problem: FileProblem) => ({ ...problem, file: file.path });
	return { problems: problems.map(inFile), warnings: warnings.map(inFile) };
}

function checkAll(files: readonly LayerFile[]): Checked {
	const owners = files.filter(({ path }) => path === ownersPath);
	const stored = judgeChange(namesOf(files), files, "stored");
	return { problems: [...stored.problems, ...checkWritten(owners, () => []).problems], warnings: [] };
}

/** The other names in their folders: the files themselves count as new. */
function namesBeside(files: readonly NamedFile[]): NamesBefore {
	const paths = new Set(files.map(({ path }) => path));
	const folders = new Map(files.map((file) => [dirname(file.path), dirname(file.name)]));
	const beside = [...folders].flatMap(([path, name]) =>
		readdirSync(name).map((file) => ({ path: `${path}/${file}` })),
	);
	return namesOf(beside.filter(({ path }) => !paths.has(path)));
}

export const validate = createRun("validate", async ({ read, io }) => {
	const [, names] = await read((line) =>
		line.argument(
			"[file...]",
			"registrations, wherever they are; all layers of this checkout where none is named",
		),
	);
	io.warn(`Checking ${names.length > 0 ? counted(names.length, "named file") : "layers/ of this checkout"}`);
	const named = await Promise.all(names.map(readFileNamed));
	const files = names.length > 0 ? named : collectFolder("layers");
	const { problems, warnings } = names.length > 0 ? checkFiles(named) : checkAll(files);
	for (const problem of problems) io.warn(plain(problemLine(problem)));
	for (const warning of warnings) io.warn(plain(`warning: ${problemLine(warning)}`));
	const counts = [counted(files.length, "file"), counted(problems.length, "problem")];
	if (warnings.length > 0) counts.push(counted(warnings.length, "warning"));
	io.print(counts.join(", "));
	return problems.length > 0 ? exitCodes.wrong : exitCodes.done;
});
