import { readFileSync, writeFileSync } from "node:fs";
import type { ReadLayers } from "../../publish/build.ts";
import { readServed, spellingsIn } from "../../publish/changed-layers.ts";
import type { LayersAt } from "../../publish/collect.ts";
import { type Health, healthPath, parseHealth } from "../../registry/health.ts";
import {
	type CheckedLayer,
	judgeChange,
	type LayerFile,
	namesOf,
	problemLine,
} from "../../registry/judge.ts";
import { nameOf, ownersOf, ownersPath, parseOwners } from "../../registry/owners.ts";
import { layerPath, parseLayerPath } from "../../registry/smallkey.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { tryJson } from "../../registry/untrusted-text.ts";
import { ifThereSync } from "../../store/files/files.ts";
import { listCommits } from "../../store/git/commands/commits.ts";
import { listTree, type PathChange, readEntries } from "../../store/git/commands/tree.ts";
import type { CatalogueOptions } from "../process/site-settings.ts";
import { type Entry, type Manifest, parseChunk } from "./entries.ts";
import { contentOf, entryOf, type KnownOfLayer, type LayerContent } from "./entry.ts";
import { type CatalogueContent, hashOf, type OwnersOf } from "./files.ts";
import { addLastChanges, readHistory, recentChanges, withDetails } from "./history.ts";
import { madePath } from "./output.ts";
import type { Thumbnails } from "./proofs.ts";
import type { RecentChange } from "./recent.ts";

/**
 * What the catalogue of a commit was made from beside its chunks, so that the next one reads and renders only what differs:
 * row `build-commit` of `npm run bench`. It is saved as `<out>.made`, and never served.
 */
export interface Made {
	/** The stamp and the commit of the catalogue: where it has others, nothing of this is used. */
	stamp: string;
	commit: string;
	/** The believed date of the commit. */
	dateMs: number;
	changes: readonly RecentChange[];
	known: readonly (readonly [smallkey: string, known: KnownOfLayer])[];
	/** Of each layer without a wrong file: modes, ids and paths of its files, its smallkey, and whether it is checked. */
	layers: readonly (readonly [files: string, smallkey: string, isChecked: boolean])[];
	/** Path of a derived file → its key. */
	keys: Readonly<Record<string, string>>;
}

export function readMade(out: string, { stamp, commit }: Pick<Made, "stamp" | "commit">): Made | null {
	const text = ifThereSync(out, () => readFileSync(madePath(out), "utf8"));
	const made = tryJson(text ?? "") as Made | null;
	return made?.stamp === stamp && made.commit === commit ? made : null;
}

export function saveMade(out: string, made: Made): void {
	writeFileSync(madePath(out), `${JSON.stringify(made)}\n`);
}

/** Reads the chunks of an index, by path. A chunk that is missing or whose content has changed is left out. */
export function readChunks({ chunks }: Manifest, read: (path: string) => string | null) {
	const entries = new Map<string, readonly Entry[]>();
	for (const path of chunks) {
		const text = path === null ? null : read(path);
		const chunk = text !== null && path?.includes(hashOf(text)) && parseChunk(text);
		if (path !== null && chunk) entries.set(path, chunk.entries);
	}
	return entries;
}

interface ReadOptions {
	options: CatalogueOptions;
	thumbnails: Thumbnails;
	/** What the last catalogue was made from, and its entries; null if all layers have to be read. */
	before: { made: Made; entries: readonly Entry[] } | null;
	read: ReadLayers | null;
}

type Content = CatalogueContent & { owners: OwnersOf; made: Pick<Made, "dateMs" | "known" | "layers"> };

/**
 * Reads all layers, their history and the owners.
 * @throws {Error} if a file of a folder is wrong
 */
export async function readContent(layers: LayersAt, given: ReadOptions): Promise<Content> {
	return "files" in layers ? contentOfFiles(layers.files, given) : contentAt(layers, given);
}

function contentOfFiles(files: readonly LayerFile[], { options, thumbnails, read }: ReadOptions): Content {
	const { health, owners } = parseReviewers(files);
	const judged = read?.layers.size ? { ...read, problems: [] } : judgeChange(namesOf(files), files, "stored");
	const [problem] = judged.problems;
	if (problem) throw new Error(problemLine(problem));
	const entries = [...judged.layers.values()].flatMap((layer) => {
		const known = { thumbnail: thumbnails.get(layer?.smallkey ?? "")?.path };
		return layer ? entryOf(contentOf(layer, options.fragments), known, health) : [];
	});
	return { entries, changes: [], owners, made: { dateMs: 0, known: [], layers: [] } };
}

async function contentAt(
	{ repository, commit }: Extract<LayersAt, { commit: string }>,
	{ options, thumbnails, before, read }: ReadOptions,
): Promise<Content> {
	const listed = await listTree(repository, commit, "layers/");
	const kept = listed.filter(({ path }) => path === healthPath || path === ownersPath);
	const { health, owners } = parseReviewers(await readEntries(repository, kept));
	const history = await historyAt(repository, commit, options.senderNames, before?.made ?? null);
	const { known, changes, dateMs } = history;
	const contents = new Map<string, LayerContent>();
	const layers: [string, string, boolean][] = [];
	const earlier = before ? contentsOf(before) : new Map<string, LayerContent>();
	const groups = spellingsIn(listed);
	const missing: PathChange[][] = [];
	const add = (content: LayerContent, files: string | null) => {
		const { smallkey } = content.entry;
		contents.set(smallkey, content);
		if (files !== null) layers.push([files, smallkey, content.isChecked]);
	};
	for (const group of groups.values()) {
		const files = filesText(group);
		const content = earlier.get(files);
		if (content) add(content, files);
		else missing.push(group);
	}
	const range = await readMissing({ repository, commit }, missing, listed, options.fragments, read);
	const wrong = new Set(range.wrong.map((smallkey) => smallkey.toLowerCase()));
	for (const [smallkey, content] of range.layers) {
		const lower = smallkey.toLowerCase();
		if (content) add(content, wrong.has(lower) ? null : filesText(groups.get(lower) ?? []));
	}
	const entries = [...contents].map(([smallkey, content]) =>
		entryOf(content, { ...known.get(smallkey), thumbnail: thumbnails.get(smallkey)?.path }, health),
	);
	return { entries, changes, owners, made: { dateMs, known: [...known], layers } };
}

function filesText(group: readonly PathChange[]): string {
	return group.map(({ mode, id, path }) => `${mode} ${id} ${path}`).join("\n");
}

function contentsOf({ made, entries }: NonNullable<ReadOptions["before"]>): Map<string, LayerContent> {
	const bySmallkey = new Map(entries.map((entry) => [entry.smallkey, entry]));
	const contents = new Map<string, LayerContent>();
	for (const [files, smallkey, isChecked] of made.layers) {
		const { sender: _, changed: __, health: ___, thumbnail: ____, ...entry } = bySmallkey.get(smallkey) ?? {};
		if ("smallkey" in entry) contents.set(files, { entry: entry as LayerContent["entry"], isChecked });
	}
	return contents;
}

/** Reads layers, unless they are read already. */
async function readMissing(
	{ repository, commit }: Extract<LayersAt, { commit: string }>,
	groups: readonly PathChange[][],
	listed: readonly PathChange[],
	settings: FragmentSettings,
	read: ReadLayers | null,
) {
	const layers = new Map<string, LayerContent | null>();
	const unread: PathChange[] = [];
	for (const group of groups) {
		const smallkeys = group.flatMap(({ path }) => registeredAt(path) ?? []);
		if (!smallkeys.every((smallkey) => read?.layers.has(smallkey))) unread.push(...group);
		else
			for (const smallkey of smallkeys) {
				const layer = read?.layers.get(smallkey);
				if (layer) layers.set(smallkey, contentOf(layer, settings));
			}
	}
	const make = (layer: CheckedLayer) => contentOf(layer, settings);
	const range = await readServed(repository, commit, unread, make, listed);
	return {
		layers: new Map([...layers, ...range.layers]),
		wrong: [...range.wrong, ...(read?.wrong ?? [])],
	};
}

function registeredAt(path: string): string | null {
	const name = parseLayerPath(path);
	return name?.kind === "registration" ? name.smallkey : null;
}

/** The history of the last catalogue, and what has been committed since. */
async function historyAt(
	repository: string,
	commit: string,
	names: CatalogueOptions["senderNames"],
	before: Made | null,
) {
	const made = before && (await isOnBranch(repository, before.commit, commit)) ? before : null;
	const range = made ? `${made.commit}..${commit}` : commit;
	const history = await readHistory(repository, range, made?.dateMs);
	const known = new Map(made?.known);
	if (!history) return { known, changes: [], dateMs: 0 };
	addLastChanges(known, history.commits, names);
	const detailed = await withDetails(repository, history.commits, names);
	return { known, changes: recentChanges(detailed, made?.changes), dateMs: history.dateMs };
}

/** Whether a commit is among the first parents of a later one. */
async function isOnBranch(repository: string, earlier: string, later: string): Promise<boolean> {
	const words = ["--first-parent", "--parents", "--reverse", `${earlier}..${later}`];
	const [oldest = ""] = await listCommits(repository, words).catch(() => []);
	return oldest.split(" ")[1] === earlier;
}

/**
 * Parses the health and the owners, which reviewers keep in files under `layers/`.
 * @param files some of the layers' files; only plain files have bytes
 */
function parseReviewers(files: readonly LayerFile[]): { health: Health; owners: OwnersOf } {
	const bytesOf = (path: string) => files.find((file) => file.path === path)?.bytes;
	const { owners } = parseOwners(bytesOf(ownersPath));
	return {
		health: parseHealth(new TextDecoder().decode(bytesOf(healthPath))),
		owners: (smallkey) => (owners ? ownersOf(owners, layerPath(smallkey)) : []).map(nameOf),
	};
}
