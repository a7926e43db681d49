import {
	type EditedFile,
	type FileProblem,
	judgeChange,
	namesOf,
	problemLine,
} from "../../registry/judge.ts";
import { maxBytesOf, warningsOf } from "../../registry/registration.ts";
import { layerPath, parseLayerPath } from "../../registry/smallkey.ts";
import { problemAt } from "../../registry/texts.ts";
import { counted, groupBy, visible } from "../../registry/untrusted-text.ts";
import { isAncestor } from "../git/commands/commits.ts";
import { type Quarantine, readRecords, withQuarantine } from "../git/commands/run.ts";
import {
	diffTree,
	findTooMany,
	listTree,
	type PathChange,
	readEntries,
	sizesOf,
} from "../git/commands/tree.ts";
import {
	findCommitProblem,
	findRefProblem,
	findUnmerged,
	isServices,
	servedRef,
	type Update,
} from "./updates.ts";

/** Bytes of files that are in memory at once: a push may have gigabytes. */
const maxPortionBytes = 16 << 20;

async function judgeCommits(repository: string, from: string | null, to: string) {
	const changes = await (from === null ? listTree(repository, to, []) : diffTree(repository, from, to, ":/"));
	const layers = changes.filter(({ path }) => parseLayerPath(path) !== null);
	// A first push moves a catalogue from another repository: its smallkeys are not new.
	const names = namesOf(from === null ? layers : await listTree(repository, from, "layers/"));
	const problems: FileProblem[] = [];
	const warnings: FileProblem[] = [];
	for (const { path, mode } of changes) {
		if (mode !== null && !path.startsWith("layers/") && path.endsWith(".json"))
			warnings.push({ file: path, ...problemAt("", "no-layer") });
	}
	for await (const portion of readPortions(repository, changes)) {
		const judged = judgeChange(names, portion, "anyone");
		// Not by a spread, which has a limit of arguments: a push may have 100,000 wrong files.
		for (const problem of judged.problems) problems.push(problem);
		for (const [smallkey, { registration }] of judged.layers)
			for (const warning of warningsOf(registration))
				warnings.push({ ...warning, file: layerPath(smallkey) });
	}
	return { layerFiles: layers.length, problems, warnings };
}

/** Portions have all files of a smallkey in any spelling. Files outside `layers/`, or over their limit, are not read. */
async function* readPortions(
	repository: string,
	changes: readonly PathChange[],
): AsyncGenerator<EditedFile[]> {
	const sizes = await sizesOf(repository, changes);
	const sizeOf = ({ id }: PathChange) => sizes.get(id ?? "") ?? 0;
	const standIn = (change: PathChange) => {
		if (sizeOf(change) > maxBytesOf(change.path)) return maxBytesOf(change.path) + 1;
		return change.path.startsWith("layers/") ? null : 0;
	};
	const read = async (portion: readonly PathChange[]): Promise<EditedFile[]> => {
		const written = portion.filter(({ mode }) => mode !== null);
		const removed = portion.filter(({ mode }) => mode === null);
		const files = await readEntries(repository, written, standIn);
		return [...files, ...removed.map(({ path }) => ({ path, kind: "removed" as const }))];
	};
	const keyOf = ({ path }: PathChange) => parseLayerPath(path)?.smallkey.toLowerCase() ?? path;
	let [portion, bytes]: [PathChange[], number] = [[], 0];
	for (const group of groupBy(changes, keyOf).values()) {
		portion.push(...group);
		for (const change of group) bytes += standIn(change) ?? sizeOf(change);
		if (bytes < maxPortionBytes) continue;
		yield await read(portion);
		[portion, bytes] = [[], 0];
	}
	yield await read(portion);
}

export interface Verdict {
	isAccepted: boolean;
	lines: string[];
}

const maxLineLength = 1_000;

const maxProblems = 50;
const maxWarnings = 10;

/** A push is accepted or refused as a whole. @param quarantine null if it brings no objects */
export async function judgePush(
	repository: string,
	quarantine: Quarantine | null,
	updates: readonly Update[],
): Promise<Verdict> {
	if (quarantine === null) return judgeUpdates(repository, updates);
	// First, and for every branch: accepted objects stay in the repository.
	const tooLarge = await findTooLarge(repository, quarantine.GIT_QUARANTINE_PATH);
	if (tooLarge !== null) return refusal([tooLarge]);
	return withQuarantine(quarantine, () => judgeUpdates(repository, updates));
}

async function judgeUpdates(repository: string, updates: readonly Update[]): Promise<Verdict> {
	const refused: string[] = [];
	for (const update of updates) {
		const problem = findRefProblem(update) ?? (await findMoveProblem(repository, update));
		if (problem !== null) refused.push(`${update.ref}: ${problem}`);
	}
	if (refused.length > 0) return refusal(refused);
	const served = updates.find(({ ref }) => ref === servedRef);
	if (!served || served.to === null) return { isAccepted: true, lines: [] };
	const { layerFiles, problems, warnings } = await judgeCommits(repository, served.from, served.to);
	if (problems.length > 0) return refusal(problemLines(problems, maxProblems));
	const warned = problemLines(warnings, maxWarnings).map((line) => `warning: ${line}`);
	return {
		isAccepted: true,
		lines: forTerminal([...warned, `${counted(layerFiles, "changed file")} of layers: in order`]),
	};
}

async function findMoveProblem(repository: string, update: Update): Promise<string | null> {
	const { from, to, ref } = update;
	if (to === null || !isServices(ref)) return null;
	if (from !== null && !(await isAncestor(repository, from, to)))
		return "must follow its current commit, which a forced push would lose: pull first";
	const problem = (await findCommitProblem(repository, to)) ?? (await findUnmerged(update, repository));
	return problem ?? findTooMany(repository, to);
}

function refusal(lines: readonly string[]): Verdict {
	return { isAccepted: false, lines: forTerminal(["refused, and nothing was changed:", ...lines]) };
}

function problemLines(problems: readonly FileProblem[], max: number): string[] {
	const sorted = problems.toSorted((a, b) => (a.file === b.file ? 0 : a.file < b.file ? -1 : 1));
	const lines = sorted.slice(0, max).map(problemLine);
	const hidden = problems.length - lines.length;
	const files = new Set(problems.map(({ file }) => file)).size;
	if (hidden > 0) lines.push(`and ${hidden} more, in ${counted(files, "file")} in all`);
	return lines;
}

function forTerminal(lines: readonly string[]): string[] {
	return lines.map((line) => {
		const text = visible(line);
		return text.length > maxLineLength ? `${text.slice(0, maxLineLength).toWellFormed()}…` : text;
	});
}

/** Bytes of one object, of a commit or tag, and of all objects, unpacked: a pack of kilobytes may have gigabytes as deltas. */
const maxBytes = 64 << 20;
const maxCommitBytes = 1 << 20;
const maxTotalBytes = 4 * 2 ** 30;
const maxObjects = 2_000_000;

/** Git reads the sizes without unpacking. @param quarantine the folder with the pushed objects */
async function findTooLarge(repository: string, quarantine: string): Promise<string | null> {
	const format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
	const args = ["cat-file", "--batch-all-objects", "--unordered", format];
	// Without the objects of the repository itself.
	const environment = { GIT_OBJECT_DIRECTORY: quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: "" };
	let objects = 0;
	let total = 0;
	for await (const lines of readRecords(repository, args, "\n", { environment })) {
		for (const line of lines) {
			const [id, type, size] = line.split(" ");
			const bytes = Number(size);
			const limit = type === "commit" || type === "tag" ? maxCommitBytes : maxBytes;
			if (!(bytes <= limit)) return `${type} ${id} must have at most ${limit} bytes, not ${bytes}`;
			total += bytes;
		}
		objects += lines.length;
		if (objects > maxObjects || total > maxTotalBytes)
			return `a push may bring at most ${maxObjects} objects and ${maxTotalBytes} bytes, unpacked: push it in parts`;
	}
	return null;
}
