// npm run validate: the check of the build, without writing
import { lstat, readFile } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import type { Source } from "../publish/build.ts";
import { collectSource, layersOption, nameSource, refOption, repoOption } from "../publish/source.ts";
import {
	checkCatalogue,
	checkRegistrationFile,
	type LayerFile,
	type Problem,
	problemLine,
} from "../registry/catalogue.ts";
import { ownersPath, parseOwners } from "../registry/owners.ts";
import type { Registration } from "../registry/registration.ts";
import { layerPath } from "../registry/smallkey.ts";
import { warningsOf } from "../registry/warnings.ts";
import { createCommandLine, createRun, exitCodes, runCommand } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";

/** What was looked at, and what is wrong or odd there, in the order of the files. */
interface Checked {
	files: number;
	problems: Problem[];
	warnings: Problem[];
}

/** One file as named on the command line. In a folder called `layers`, its path starts at the last one. */
async function readNamed(name: string): Promise<LayerFile> {
	const parts = relative(process.cwd(), resolve(name)).split(sep);
	const start = parts.lastIndexOf("layers");
	const path = (start < 0 ? parts : parts.slice(start)).join("/");
	const found = await lstat(name);
	if (found.isSymbolicLink()) return { path, kind: "symlink", bytes: new Uint8Array(0) };
	if (!found.isFile()) return { path, kind: "other", bytes: new Uint8Array(0) };
	return { path, kind: "file", bytes: await readFile(name) };
}

/** Files that somebody names: about to be written, wherever they lie, and worth a word on what is odd. */
function checkNamed(files: LayerFile[]): Checked {
	const problems: Problem[] = [];
	const warnings: Problem[] = [];
	const warn = (file: string, registration: Registration) => {
		for (const text of warningsOf(registration)) warnings.push({ file, text });
	};
	const isPlaced = ({ path }: LayerFile) => path.startsWith("layers/");
	for (const file of files.filter((one) => !isPlaced(one))) {
		const checked = checkRegistrationFile(file, "written");
		problems.push(...checked.problems);
		if (checked.registration) warn(file.path, checked.registration);
	}
	problems.push(
		...checkCatalogue(
			files.filter(isPlaced),
			({ smallkey, registration }) => warn(layerPath(smallkey), registration),
			"written",
		),
		...ownersProblems(files),
	);
	return { files: files.length, problems, warnings };
}

/** `layers/owners.json` is no layer's, and a file that a person writes all the same. */
function ownersProblems(files: LayerFile[]): Problem[] {
	const owners = files.find(({ path }) => path === ownersPath);
	return owners ? parseOwners(owners.bytes).problems.map((text) => ({ file: ownersPath, text })) : [];
}

async function check(names: string[], source: Source): Promise<Checked> {
	const files = names.length > 0 ? await Promise.all(names.map(readNamed)) : await collectSource(source);
	files.sort((a, b) => (a.path < b.path ? -1 : 1));
	if (names.length > 0) return checkNamed(files);
	const problems = [...checkCatalogue(files, () => undefined), ...ownersProblems(files)];
	return { files: files.length, problems, warnings: [] };
}

/** `1 file`, `2 files` */
function counted(count: number, what: string): string {
	return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}

export const run = createRun(async (argv, _environment, io) => {
	const line = createCommandLine("validate", io)
		.argument("[file...]", "registrations, wherever they lie; all layers where none is named")
		.addOption(layersOption)
		.addOption(repoOption)
		.addOption(refOption)
		.parse(argv, { from: "user" });
	const [named] = line.processedArgs;
	const { source, name } = nameSource(line.opts());
	if (named.length > 0 && Object.keys(line.opts()).length > 0) {
		throw new Error("files, or one of --layers and --repo: both cannot be checked at once");
	}
	printError(io, `Checking ${named.length > 0 ? counted(named.length, "named file") : name}`);
	const { files, problems, warnings } = await check(named, source);
	for (const problem of problems) printError(io, plain(problemLine(problem)));
	for (const warning of warnings) printError(io, plain(`warning: ${problemLine(warning)}`));
	const counts = [counted(files, "file"), counted(problems.length, "problem")];
	if (warnings.length > 0) counts.push(counted(warnings.length, "warning"));
	printLine(io, counts.join(", "));
	return problems.length > 0 ? exitCodes.wrong : exitCodes.done;
});

await runCommand(import.meta.url, run);
