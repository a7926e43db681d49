// Renders a large commit range in a process of its own, and streams the fragments.
import { GitFailure } from "../git/run.ts";
import { diffTree, listTree } from "../git/tree.ts";
import type { Problem } from "../registry/catalogue.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { changesOf, nothingNoted } from "./changes.ts";
import { commitLayers, streamLayers } from "./commit-layers.ts";
import { renderSlots } from "./slots.ts";

/** What the process is asked for. */
export interface RangeOrder {
	repository: string;
	from: string | null;
	to: string;
	settings: FragmentSettings;
}

/** A portion of what it found. */
export interface RangeReport {
	/** Smallkeys in the order of `bytes`, each with the length of every fragment. */
	layers: [smallkey: string, lengths: number[]][];
	bytes: Uint8Array;
	gone: string[];
	problems: Problem[];
	wrong: string[];
	registered: string[];
	isLast: boolean;
}

/** Why it could not continue. */
export interface RangeFailure {
	failure: string;
	/** Whether git could not read the layers. */
	isGit: boolean;
}

/**
 * Bytes of fragments in one portion, and most names in each of its lists: the process that takes it answers no reader
 * meanwhile.
 */
const portionBytes = 200_000;
const maxNames = 500;

process.once("message", async (order: RangeOrder) => {
	process.once("disconnect", () => process.exit(1));
	await render(order).catch((error: Error) => {
		const failure: RangeFailure = { failure: error.message, isGit: error instanceof GitFailure };
		process.send?.(failure);
	});
	process.disconnect();
});

async function render({ repository, from, to, settings }: RangeOrder): Promise<void> {
	const changed = await (from === null
		? listTree(repository, to, "layers/")
		: diffTree(repository, from, to, "layers"));
	const read = from === null ? () => streamLayers(repository, changed) : commitLayers(repository, to);
	const noted = nothingNoted();
	let portion = new Portion();
	for await (const layers of changesOf(changed, read, noted)) {
		for (const { smallkey, ...layer } of layers) {
			portion.add(smallkey, renderSlots({ smallkey, ...layer }, settings));
			if (portion.size < portionBytes) continue;
			await send(portion.report());
			portion = new Portion();
		}
	}
	const { problems, wrong, registered } = noted;
	const lists = { gone: [...noted.gone], problems, wrong, registered };
	for (let start = 0; Object.values(lists).some((list) => list.length > start); start += maxNames) {
		const end = start + maxNames;
		await send({
			...portion.report(),
			gone: lists.gone.slice(start, end),
			problems: problems.slice(start, end),
			wrong: wrong.slice(start, end),
			registered: registered.slice(start, end),
		});
		portion = new Portion();
	}
	await send({ ...portion.report(), isLast: true });
}

/** Fragments that are sent together. */
class Portion {
	readonly #layers: [string, number[]][] = [];
	readonly #fragments: Uint8Array[] = [];
	size = 0;

	add(smallkey: string, fragments: readonly (Uint8Array | null)[]): void {
		this.#layers.push([smallkey, fragments.map((fragment) => fragment?.length ?? 0)]);
		for (const fragment of fragments) {
			if (fragment) this.#fragments.push(fragment);
			this.size += fragment?.length ?? 0;
		}
	}

	report(): RangeReport {
		const nothing = { gone: [], problems: [], wrong: [], registered: [] };
		return { layers: this.#layers, bytes: Buffer.concat(this.#fragments), ...nothing, isLast: false };
	}
}

/** Sends a report; resolves once it is taken. */
async function send(report: RangeReport): Promise<void> {
	await new Promise<void>((resolve, reject) => {
		process.send?.(report, undefined, {}, (error: Error | null) => (error ? reject(error) : resolve()));
	});
}
