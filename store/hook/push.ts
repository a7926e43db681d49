import {
	type EditedFile,
	type FileProblem,
	judgeChange,
	pathsByKey,
	problemLine,
} from "../../registry/judge.ts";
import { warningsOf } from "../../registry/registration.ts";
import { layerPath, parseLayerPath } from "../../registry/smallkey.ts";
import { problemAt } from "../../registry/texts.ts";
import { counted, groupBy, shorten, visible } from "../../registry/untrusted.ts";
import { findForeignRoot } from "../files/files.ts";
import { type Quarantine, readRecords, withQuarantine } from "../git/commands/run.ts";
import { diffTree, listTree, type PathChange, readLimited } from "../git/commands/tree.ts";
import { findUpdateProblem, servedRef, type Update } from "./updates.ts";

/** In memory at once: a push may have gigabytes. */
const maxPortionBytes = 16 << 20;

/** A portion has all spellings of a smallkey. */
async function* readPortions(repository: string, changes: readonly PathChange[]) {
	const keyOf = ({ path }: { path: string }) => parseLayerPath(path)?.smallkey.toLowerCase() ?? path;
	let portion: EditedFile[] = [];
	let bytes = 0;
	for await (const file of readLimited(repository, [...groupBy(changes, keyOf).values()].flat())) {
		const last = portion.at(-1);
		if (last && bytes >= maxPortionBytes && keyOf(file) !== keyOf(last)) {
			yield portion;
			portion = [];
			bytes = 0;
		}
		portion.push(file);
		bytes += "bytes" in file ? file.bytes.length : 0;
	}
	yield portion;
}

async function judgeCommits(repository: string, from: string | null, to: string) {
	const changes = await (from === null ? listTree(repository, to, []) : diffTree(repository, from, to, ":/"));
	const layers = changes.filter(({ path }) => parseLayerPath(path) !== null);
	// A first push moves a catalogue: its smallkeys are not new.
	const before = pathsByKey(from === null ? layers : await listTree(repository, from, "layers/"));
	const problems: FileProblem[] = [];
	const warnings: FileProblem[] = [];
	for (const { path, mode } of changes) {
		if (mode !== null && !path.startsWith("layers/") && path.endsWith(".json"))
			warnings.push({ file: path, ...problemAt("", "no-layer") });
	}
	for await (const portion of readPortions(repository, changes)) {
		const judged = judgeChange(before, portion, "anyone");
		// A spread could exceed the limit of arguments.
		for (const problem of judged.problems) problems.push(problem);
		for (const [smallkey, { registration }] of judged.layers)
			for (const warning of warningsOf(registration))
				warnings.push({ ...warning, file: layerPath(smallkey) });
	}
	return { layerFiles: layers.length, problems, warnings };
}

type Verdict = { isAccepted: boolean; lines: string[] };

const maxLineLength = 1_000;

const maxProblems = 50;
const maxWarnings = 10;

/** A push is accepted or refused as a whole. @param quarantine null if it brings no objects */
export async function judgePush(
	repository: string,
	quarantine: Quarantine | null,
	updates: readonly Update[],
): Promise<Verdict> {
	const foreign = await findForeignRoot(repository, "git push …");
	if (foreign !== null) return refuse([foreign]);
	if (quarantine === null) return judgeUpdates(repository, updates);
	// For every branch, since accepted objects stay in the repository.
	const tooLarge = await findTooLarge(repository, quarantine.GIT_QUARANTINE_PATH);
	if (tooLarge !== null) return refuse([tooLarge]);
	return withQuarantine(quarantine, () => judgeUpdates(repository, updates));
}

async function judgeUpdates(repository: string, updates: readonly Update[]) {
	const refused: string[] = [];
	for (const update of updates) {
		const problem = await findUpdateProblem(repository, update);
		if (problem !== null) refused.push(`${update.ref}: ${problem}`);
	}
	if (refused.length > 0) return refuse(refused);
	const served = updates.find(({ ref }) => ref === servedRef);
	if (!served?.to) return { isAccepted: true, lines: [] };
	const { layerFiles, problems, warnings } = await judgeCommits(repository, served.from, served.to);
	if (problems.length > 0) return refuse(problemLines(problems, maxProblems));
	const lines = problemLines(warnings, maxWarnings).map((line) => `warning: ${line}`);
	lines.push(`${counted(layerFiles, "changed file")} of layers: in order`);
	return { isAccepted: true, lines: forTerminal(lines) };
}

function refuse(lines: readonly string[]) {
	return { isAccepted: false, lines: forTerminal(["refused, and nothing was changed:", ...lines]) };
}

function problemLines(problems: readonly FileProblem[], max: number) {
	const sorted = problems.toSorted((a, b) => (a.file === b.file ? 0 : a.file < b.file ? -1 : 1));
	const lines = sorted.slice(0, max).map(problemLine);
	const hidden = problems.length - lines.length;
	const files = new Set(problems.map(({ file }) => file)).size;
	if (hidden > 0) lines.push(`and ${hidden} more, in ${counted(files, "file")} in all`);
	return lines;
}

function forTerminal(lines: readonly string[]) {
	return lines.map((line) => shorten(visible(line), maxLineLength));
}

/** Unpacked: a pack of kilobytes may have gigabytes as deltas. */
const maxBytes = 64 << 20;
const maxCommitBytes = 1 << 20;
const maxTotalBytes = 4 * 2 ** 30;
const maxObjects = 2_000_000;

/** Git reads the sizes without unpacking. */
async function findTooLarge(repository: string, quarantine: string) {
	const format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
	const args = ["cat-file", "--batch-all-objects", "--unordered", format];
	// Without the objects of the repository itself.
	const environment = { GIT_OBJECT_DIRECTORY: quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: "" };
	let objects = 0;
	let total = 0;
	for await (const line of readRecords(repository, args, "\n", { environment })) {
		const [id, type, size] = line.split(" ");
		const bytes = Number(size);
		const limit = type === "commit" || type === "tag" ? maxCommitBytes : maxBytes;
		if (!(bytes <= limit)) return `${type} ${id} must have at most ${limit} bytes, not ${bytes}`;
		total += bytes;
		objects += 1;
		if (objects > maxObjects || total > maxTotalBytes)
			return `a push may bring at most ${maxObjects} objects and ${maxTotalBytes} bytes, unpacked: push it in parts`;
	}
	return null;
}
