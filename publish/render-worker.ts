// One part of a large step, in a process of its own: reads, checks, renders, and hands over runs of fragments.
import { GitFailure } from "../git/run.ts";
import { diffTree, listTree, type PathChange } from "../git/tree.ts";
import { drawingRank } from "../registry/drawing-order.ts";
import { type CheckedLayer, judgePlace, type Remark } from "../registry/judge.ts";
import { parseLayerPath } from "../registry/smallkey.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import type { Row } from "./entry.ts";
import { pickServed } from "./served.ts";
import { renderSlots } from "./slots.ts";
import { groupSpellings, streamSpellings } from "./spellings.ts";

/** What a process is told: the step, and which part of the folders is its own. */
export interface RenderOrder {
	repository: string;
	from: string | null;
	to: string;
	settings: FragmentSettings;
	part: number;
	parts: number;
}

/** A portion of what a process found. */
export interface RenderReport {
	/** In the order of `bytes`. */
	layers: Row[];
	bytes: Uint8Array;
	gone: string[];
	problems: Remark[];
	wrong: string[];
	registered: string[];
	isLast: boolean;
}

/** What a process says that could not go on. */
export interface RenderFailure {
	failure: string;
	/** Whether git could not read the layers. */
	isGit: boolean;
}

/**
 * Bytes of fragments in one portion, and most names in each of its lists: whoever takes it holds up readers meanwhile, and
 * joins what has come of it again with each piece that the system hands over.
 */
const portionBytes = 200_000;
const namesAtOnce = 500;

process.once("message", async (order: RenderOrder) => {
	process.once("disconnect", () => process.exit(1));
	await render(order).catch((error: Error) => {
		const failure: RenderFailure = { failure: error.message, isGit: error instanceof GitFailure };
		process.send?.(failure);
	});
	process.disconnect();
});

async function render(order: RenderOrder): Promise<void> {
	const { repository, from, to, settings } = order;
	const listed = await listTree(repository, to, "layers/");
	const changed = from === null ? listed : await diffTree(repository, from, to, "layers");
	const isOwn = ownFolders(order, listed, changed);
	const portion = new Portions();
	const wanted = noteChanges(
		changed.filter(({ path }) => isOwn(path)),
		portion,
	);
	for await (const layers of streamSpellings(repository, groupSpellings(listed, wanted))) {
		for (const spellings of layers) {
			const layer = pickServed(spellings, portion);
			if (layer) portion.add(layer, renderSlots(layer, settings));
		}
		await portion.send(false);
	}
	await portion.send(true);
}

/** Whether a path lies in a folder of this part: the folders are dealt out in turn. */
function ownFolders({ part, parts }: RenderOrder, ...lists: PathChange[][]): (path: string) => boolean {
	const folders = new Set<string>();
	for (const list of lists) for (const { path } of list) folders.add(folderOfPath(path));
	const own = new Set([...folders].sort().filter((_, index) => index % parts === part));
	return (path) => own.has(folderOfPath(path));
}

function folderOfPath(path: string): string {
	return path.slice(0, path.indexOf("/", "layers/".length));
}

/** Notes what is gone and what was written; the smallkeys to render, in lower case. */
function noteChanges(changed: PathChange[], portion: Portions): Set<string> {
	const wanted = new Set<string>();
	for (const { path, mode } of changed) {
		const name = parseLayerPath(path);
		if (!name) {
			const problem = mode === null ? null : judgePlace({ path, isRemoved: false });
			if (problem) portion.problems.push(problem);
			continue;
		}
		wanted.add(name.smallkey.toLowerCase());
		if (name.kind !== "registration") continue;
		if (mode === null) portion.changes.set(name.smallkey, null);
		else portion.registered.push(name.smallkey);
	}
	return wanted;
}

/** Gathers what was found, and sends it in portions. */
class Portions {
	readonly changes = new Map<string, null>();
	readonly problems: Remark[] = [];
	readonly wrong: string[] = [];
	readonly registered: string[] = [];
	#layers: Row[] = [];
	#fragments: Uint8Array[] = [];
	#bytes = 0;

	add({ smallkey, description }: CheckedLayer, fragments: (Uint8Array | null)[]): void {
		this.changes.delete(smallkey);
		const lengths = fragments.map((fragment) => fragment?.length ?? 0);
		this.#layers.push([smallkey, lengths, drawingRank(description)]);
		for (const fragment of fragments) if (fragment) this.#fragments.push(fragment);
		this.#bytes += lengths.reduce((sum, length) => sum + length, 0);
	}

	/** Sends what is there where it is a portion, or all of it as the last one; goes on once it is taken. */
	async send(isLast: boolean): Promise<void> {
		if (!isLast && this.#bytes < portionBytes) return;
		const gone = isLast ? [...this.changes.keys()] : [];
		const lists = [gone, this.problems, this.wrong, this.registered];
		while (isLast && lists.some(({ length }) => length > namesAtOnce)) await this.#report(gone, false);
		await this.#report(gone, isLast);
	}

	/** Sends all fragments that are there, and the first names of each list. */
	async #report(gone: string[], isLast: boolean): Promise<void> {
		const report: RenderReport = {
			layers: this.#layers,
			bytes: Buffer.concat(this.#fragments),
			gone: gone.splice(0, namesAtOnce),
			problems: this.problems.splice(0, namesAtOnce),
			wrong: this.wrong.splice(0, namesAtOnce),
			registered: this.registered.splice(0, namesAtOnce),
			isLast,
		};
		this.#layers = [];
		this.#fragments = [];
		this.#bytes = 0;
		await new Promise<void>((resolve, reject) => {
			process.send?.(report, undefined, {}, (error: Error | null) => (error ? reject(error) : resolve()));
		});
	}
}
