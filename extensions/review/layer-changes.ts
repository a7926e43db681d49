import { findWaiting, type Review, servedRef } from "../../api/service/repository.ts";
import { resolveCommit } from "../../publish/collect.ts";
import { lineAt, linesOf } from "../../registry/json.ts";
import { type CheckedLayer, type EditedFile, type FileProblem, judgeChange } from "../../registry/judge.ts";
import { type LayerFile, maxBytesOf, namesOf } from "../../registry/layer-file.ts";
import { ownersPath } from "../../registry/owners.ts";
import { warningsOf } from "../../registry/registration.ts";
import { descriptionPath, layerPath, parseLayerPath } from "../../registry/smallkey.ts";
import { textIn } from "../../registry/texts.ts";
import { importCommit } from "../../store/git/commands/commits.ts";
import { gitText, runGit } from "../../store/git/commands/run.ts";
import { listTree, type PathChange, readEntries, sizesOf } from "../../store/git/commands/tree.ts";
import { messageOf, type OpenRepair, readOpen, subjectOf } from "../../store/git/repair-branches.ts";
import { repairBranch } from "../../store/store.ts";
import { type Merge, withMerge } from "./decide.ts";

/** Path → file. */
type Files = ReadonlyMap<string, LayerFile>;

/** The changes of merging a head into a base. */
export type Changes = Awaited<ReturnType<typeof readChanges>>;

/**
 * Reads what merging a head changes on a base. Nothing is checked out.
 * @param base a commit in any form that git accepts, like `head`
 * @throws {Error} if there is no such commit, or the two have no commit in common
 */
export async function readChanges(repository: string, base: string, head: string) {
	const [baseId, headId] = [await resolveCommit(repository, base), await resolveCommit(repository, head)];
	return withMerge(repository, baseId, headId, (merge) => changesOf(merge, baseId));
}

async function changesOf({ repository, changed, obstacle }: Merge, baseId: string) {
	const isLayers = ({ path }: PathChange) => path === "layers" || path.startsWith("layers/");
	const layers = changed.filter(isLayers);
	const wanted = new Set([ownersPath, ...layers.flatMap(({ path }) => [path, ...pathsBeside(path)])]);
	const listed = await listTree(repository, baseId, "layers/");
	const inBase = listed.filter(({ path }) => wanted.has(path));
	const before = await readFiles(repository, inBase);
	const after = new Map(before);
	for (const { path } of layers) after.delete(path);
	const written = layers.filter(({ mode }) => mode !== null);
	for (const [path, file] of await readFiles(repository, written)) after.set(path, file);
	return {
		/** Why it cannot be merged; null if it can. */
		obstacle,
		/** Paths under `layers/`, in git's order. */
		layers: layers.map(({ path }) => path),
		/** Paths of all other files, in git's order. */
		outside: changed.filter((one) => !isLayers(one)).map(({ path }) => path),
		/** The names of all layers' files on the base. */
		names: namesOf(listed),
		/** The owners file and the files of the changed layers: `before` on the base, `after` with the head merged. */
		before,
		after: after as Files,
	};
}

function pathsBeside(path: string): string[] {
	const name = parseLayerPath(path);
	return name ? [layerPath(name.smallkey), descriptionPath(name.smallkey)] : [];
}

/** Reads files of a commit. The content of a file over its size limit is not read. */
async function readFiles(repository: string, listed: readonly PathChange[]): Promise<Files> {
	const sizes = await sizesOf(repository, listed);
	const files = await readEntries(repository, listed, ({ path, id }) => {
		const max = maxBytesOf(path);
		return (sizes.get(id ?? "") ?? 0) > max ? max + 1 : null;
	});
	return new Map(files.map((file) => [file.path, file]));
}

/** A problem, or what a service said, with its line in a file. */
export interface Located {
	/** Path from the repository's root. */
	file: string;
	/** From 1. */
	line: number;
	/** In English, with its place. */
	text: string;
}

/** Finds the lines of problems of one file. @param content of the file; empty if they are not about it */
export function locate(problems: readonly FileProblem[], content = ""): Located[] {
	const lines = linesOf(problems.length > 0 ? content : "");
	return problems.map(({ file, ...problem }) => {
		const { code, place, values } = problem;
		const line = code === "json" ? Number(values[0]) : lineAt(lines, place.startsWith("/") ? place : "");
		return { file, line, text: textIn("en", problem) };
	});
}

/** A layer that a head changes, on the base and after the merge; null if it does not exist there or is wrong. */
export interface ChangedLayer {
	smallkey: string;
	verb: "added" | "removed" | "changed" | "wrong";
	before: CheckedLayer | null;
	after: CheckedLayer | null;
	/** Text of the registration on the head, in which the lines of problems are found. */
	text: string;
}

/**
 * Checks the files that a head changes under `layers/`, and no others: each file by itself, and its name against all names
 * of the catalogue after the merge.
 * @returns the layers, sorted by smallkey; the problems, and the warnings (accepted, but probably not meant), by path
 */
export function checkChanges({ layers: paths, names, before, after }: Changes) {
	const textOf = (path: string) => new TextDecoder().decode(after.get(path)?.bytes);
	const locateAll = (found: readonly FileProblem[]) =>
		found
			.flatMap((problem) => locate([problem], textOf(problem.file)))
			.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
	const edits = paths.map((path): EditedFile => after.get(path) ?? { path, kind: "removed" });
	const { problems } = judgeChange(names, edits, "anyone");
	const changed = new Set(paths);
	const stored = judgeStored(before);
	// A file that the head does not change is its layer's, too.
	const merged = judgeStored(after);
	const wrong = new Set(problems.map(({ file }) => parseLayerPath(file)?.smallkey));
	const smallkeys = new Set(paths.flatMap((path) => parseLayerPath(path)?.smallkey ?? []));
	const layers = [...smallkeys].sort().map((smallkey): ChangedLayer => {
		const file = layerPath(smallkey);
		const old = stored.get(smallkey) ?? null;
		const layer = wrong.has(smallkey) ? null : (merged.get(smallkey) ?? null);
		const isRemoved = before.has(file) && !after.has(file);
		const verb = isRemoved ? "removed" : !layer ? "wrong" : old ? "changed" : "added";
		return { smallkey, verb, before: old, after: layer, text: textOf(file) };
	});
	const warnings = layers.flatMap(({ smallkey, after: layer }) => {
		const file = layerPath(smallkey);
		if (!layer || !changed.has(file)) return [];
		return warningsOf(layer.registration).map((warning) => ({ ...warning, file }));
	});
	return { layers, problems: locateAll(problems), warnings: locateAll(warnings) };
}

function judgeStored(files: Files): ReadonlyMap<string, CheckedLayer> {
	return judgeChange(namesOf(files.values()), [...files.values()], "stored").layers;
}

/**
 * Splits a repair that waits, so that a decision can be about some of its layers: they get a branch of their own, and the others
 * keep theirs, or get one if it had the name of a chosen layer. Both happen, or neither.
 * @param only the chosen smallkeys
 * @returns the repair of the chosen layers
 * @throws {Error} if a smallkey is not of this repair
 */
export async function splitRepair(
	repository: string,
	review: Review,
	only: readonly string[],
): Promise<Review> {
	const { branch, commit } = review;
	const open = (await readOpen(repository, servedRef)).find((one) => one.branch === branch);
	if (!open) throw new Error(`--only: ${branch} is no repair`);
	const strange = only.filter((smallkey) => !open.smallkeys.includes(smallkey));
	if (strange.length > 0)
		throw new Error(`--only: ${strange.join(" ")}: not in ${branch}, which has ${open.smallkeys.join(" ")}`);
	const isChosen = (smallkey: string) => only.includes(smallkey);
	if (open.smallkeys.every(isChosen)) return review;
	const chosen = await partOf(repository, open, isChosen);
	const others = await partOf(repository, open, (smallkey) => !isChosen(smallkey));
	const updates = [`delete refs/heads/${branch} ${commit}`, `create ${others.ref} ${others.commit}`];
	if (others.ref === `refs/heads/${branch}`)
		updates.splice(0, 2, `update ${others.ref} ${others.commit} ${commit}`);
	if (chosen.ref === `refs/heads/${branch}`)
		updates.splice(0, 1, `update ${chosen.ref} ${chosen.commit} ${commit}`);
	else updates.push(`create ${chosen.ref} ${chosen.commit}`);
	await runGit(repository, ["update-ref", "--stdin"], { input: updates.map((line) => `${line}\n`).join("") });
	return findWaiting(repository, chosen.ref.slice("refs/heads/".length));
}

/** Writes the commit of some layers of a repair, on the same commit, with the evidence for them. */
async function partOf(repository: string, open: OpenRepair, isOwn: (smallkey: string) => boolean) {
	const base = `${open.commit}^`;
	const smallkeys = open.smallkeys.filter(isOwn);
	const evidence = open.evidence.filter((_, at) => isOwn(open.smallkeys[at] as string));
	const paths = (await text(repository, ["diff", "--name-only", "-z", base, open.commit])).split("\0");
	const isOwnPath = (path: string) => isOwn(path.slice(path.lastIndexOf("/") + 1).split(".", 1)[0] as string);
	const edits = [];
	for (const path of paths.filter(Boolean).filter(isOwnPath))
		edits.push({ path, text: await text(repository, ["cat-file", "blob", `${open.commit}:${path}`]) });
	const body = await text(repository, ["show", "-s", "--format=%B", open.commit]);
	// The evidence of each layer begins with a line that names it.
	const sections = body.split(/^(?=Layer \S+$)/m).slice(1);
	const own = sections.filter((section) => isOwn(section.split("\n", 1)[0]?.slice("Layer ".length) ?? ""));
	const lines = own.map((section) => section.replace(/^(?:Repairs|Evidence|Certainty|Choice): .*\n?/gm, ""));
	const subject = subjectOf(smallkeys, open.sure);
	const message = messageOf({ ...open, subject, smallkeys, evidence }, lines.join(""));
	const person = await gitText(repository, ["show", "-s", "--format=%an <%ae> %at +0000", open.commit]);
	const from = await gitText(repository, ["rev-parse", base]);
	const commit = await importCommit(repository, from, { author: person, committer: person, message, edits });
	return { commit, ref: `refs/heads/${repairBranch(smallkeys[0] as string)}` };
}

async function text(repository: string, words: string[]): Promise<string> {
	return (await runGit(repository, words)).toString("utf8");
}
