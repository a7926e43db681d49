import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type CheckedLayer, type FileProblem, judgeStored, problemLine } from "../registry/judge.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { tryJson } from "../registry/untrusted.ts";
import { ifThereSync } from "../store/files/files.ts";
import { diffTree, type PathChange } from "../store/git/commands/tree.ts";
import { readServed } from "./changed-layers.ts";
import { type LocatedCommit, type LocatedLayers, locate, type Source, versionOf } from "./collect.ts";
import { FragmentFolder, servedManifestPath } from "./place-file.ts";
import { fragmentSettings, rendererStamp, renderFragments } from "./rendered.ts";

export type Built = Awaited<ReturnType<typeof build>>;

/** Layers by smallkey, in the last valid form; null: no longer served. */
export type ReadLayers = ReadonlyMap<string, CheckedLayer | null>;

interface JudgedLayers {
	layers: Map<string, CheckedLayer | null>;
	problems: readonly FileProblem[];
	isWhole: boolean;
}

/** `<out>.manifest`, which is never served. */
interface Manifest {
	renderer: string;
	/** Or a folder's hash. */
	commit: string;
	/** The output has these files in an earlier form or not at all. */
	wrong: readonly string[];
}

/** If there are more, all layers are read. */
const maxChanges = 1_000;
const maxWrong = 200;

/**
 * Reads only what has changed since a commit's last build. A wrong file of a folder stops the build; of a
 * commit, its last valid form is built.
 * @returns `written`: numbers of files; null because of problems
 */
export async function build(source: Source, out: string, given: FragmentSettings) {
	const settings = fragmentSettings(given);
	const renderer = rendererStamp(settings);
	const manifest = readManifest(out);
	const earlier = manifest?.renderer === renderer ? manifest : null;
	const isUsable = ({ layers, problems }: JudgedLayers) => {
		const isValid = [...layers.values()].some((layer) => layer !== null);
		const areFew = isValid && wrongFiles(problems).length <= maxWrong;
		return problems.length === 0 || (areFew && !("folder" in source));
	};
	const located = await locate(source);
	const changed = earlier && "commit" in located ? await changesSince(earlier, located) : null;
	const part = changed && (await readLayers(located, changed));
	const judged = part && isUsable(part) ? part : await readLayers(located, null);
	const read: ReadLayers = judged.layers;
	const result = { problems: judged.problems.map(problemLine), layers: located, read };
	if (!isUsable(judged)) return { ...result, written: null };
	const commit = versionOf(located);
	if (earlier?.commit === commit) return { ...result, written: { same: 0, written: 0, removed: 0 } };
	// Only a complete output has a manifest.
	for (const path of [manifestPath(out), servedManifestPath(out)]) rmSync(path, { force: true });
	const written = await write(judged, out, settings);
	const shown: Manifest = { renderer, commit, wrong: wrongFiles(judged.problems) };
	writeFileSync(manifestPath(out), `${JSON.stringify(shown, null, "\t")}\n`);
	return { ...result, written };
}

async function readLayers(
	located: LocatedLayers,
	changed: readonly PathChange[] | null,
): Promise<JudgedLayers> {
	if ("files" in located) return { ...judgeStored(located.files), isWhole: true };
	return { ...(await readServed(located, changed, (layer) => layer)), isWhole: changed === null };
}

/**
 * With the files that were wrong: each build names them. Null if the earlier commit is missing, or too many
 * files differ.
 */
async function changesSince(
	{ commit: before, wrong }: Manifest,
	{ repository, commit }: LocatedCommit,
): Promise<PathChange[] | null> {
	const changes = await diffTree(repository, before, commit, "layers").catch(() => null);
	if (!changes || changes.length > maxChanges) return null;
	const paths = new Set(changes.map(({ path }) => path));
	const stillWrong = wrong.filter((path) => !paths.has(path));
	return [...changes, ...stillWrong.map((path) => ({ path, mode: "100644", id: null }))];
}

function wrongFiles(problems: readonly FileProblem[]): string[] {
	return [...new Set(problems.map(({ file }) => file))].sort();
}

async function write({ layers, isWhole }: JudgedLayers, out: string, settings: Required<FragmentSettings>) {
	const folder = new FragmentFolder(out, settings.targets);
	const count = { same: 0, written: 0, removed: 0 };
	const present = isWhole ? await folder.list() : new Set<string>();
	const isFresh = isWhole && present.size === 0;
	folder.makeFolders();
	for (const smallkey of present) if (!layers.has(smallkey)) layers.set(smallkey, null);
	for (const [smallkey, layer] of layers) {
		const rendered = layer && renderFragments(layer, settings);
		const placed = isFresh ? folder.write(smallkey, rendered) : folder.place(smallkey, rendered);
		for (const change of placed) count[change] += 1;
	}
	return count;
}

function manifestPath(out: string): string {
	return `${out}.manifest`;
}

/** @throws {Error} a build from nothing would hide the fault */
function readManifest(out: string): Manifest | null {
	const path = manifestPath(out);
	const text = existsSync(out) ? ifThereSync(path, () => readFileSync(path, "utf8")) : null;
	return tryJson(text ?? "") as Manifest | null;
}
