// Renders a large commit range in a process of its own, and streams the fragments.
import { GitFailure } from "../git/run.ts";
import type { PathChange } from "../git/tree.ts";
import { drawingRank } from "../registry/drawing-order.ts";
import type { CheckedLayer, Remark } from "../registry/judge.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { changesOf, nothingNoted } from "./changes.ts";
import { commitLayers, streamLayers } from "./commit-layers.ts";
import type { Row } from "./entry.ts";
import { renderSlots } from "./slots.ts";

/** What the process is asked for, after it got the paths that differ, in portions. */
export interface RangeOrder {
	repository: string;
	/** Whether the range is from nothing. */
	isFirst: boolean;
	to: string;
	settings: FragmentSettings;
}

/** Fragments of some layers. */
export interface FragmentsReport {
	/** In the order of `bytes`. */
	layers: Row[];
	bytes: Uint8Array;
}

/** What was found, in portions; `isDone` ends it, and `failure` says why it could not continue. */
export type RangeReport =
	| FragmentsReport
	| { problems: Remark[] }
	| { names: "gone" | "wrong" | "registered"; smallkeys: string[] }
	| { failure: string; isGit: boolean }
	| { isDone: true };

/** Bytes of fragments, and names, in one portion: the process that receives it answers no reader meanwhile. */
const portionBytes = 200_000;
const maxNames = 500;

const changed: PathChange[] = [];

process.once("disconnect", () => process.exit(1));
process.on("message", async (order: RangeOrder | PathChange[]) => {
	if (Array.isArray(order)) return void changed.push(...order);
	await render(order).catch((error: Error) => {
		return send({ failure: error.message, isGit: error instanceof GitFailure });
	});
	process.disconnect();
});

async function render({ repository, isFirst, to, settings }: RangeOrder): Promise<void> {
	const read = isFirst ? () => streamLayers(repository, changed) : commitLayers(repository, to);
	const noted = nothingNoted();
	let portion = new Portion();
	for await (const layers of changesOf(changed, read, noted)) {
		for (const layer of layers) {
			portion.add(layer, renderSlots(layer, settings));
			if (portion.size < portionBytes) continue;
			await send(portion.report());
			portion = new Portion();
		}
	}
	await send(portion.report());
	for (const problems of portionsOf(noted.problems)) await send({ problems });
	for (const names of ["gone", "wrong", "registered"] as const) {
		for (const smallkeys of portionsOf([...noted[names]])) await send({ names, smallkeys });
	}
	await send({ isDone: true });
}

function portionsOf<T>(list: readonly T[]): T[][] {
	const count = Math.ceil(list.length / maxNames);
	return Array.from({ length: count }, (_, index) => list.slice(index * maxNames, (index + 1) * maxNames));
}

/** Fragments that are sent together. */
class Portion {
	readonly #layers: Row[] = [];
	readonly #fragments: Uint8Array[] = [];
	size = 0;

	add({ smallkey, description }: CheckedLayer, fragments: readonly (Uint8Array | null)[]): void {
		const lengths = fragments.map((fragment) => fragment?.length ?? 0);
		this.#layers.push([smallkey, lengths, drawingRank(description)]);
		for (const fragment of fragments) {
			if (fragment) this.#fragments.push(fragment);
			this.size += fragment?.length ?? 0;
		}
	}

	report(): FragmentsReport {
		return { layers: this.#layers, bytes: Buffer.concat(this.#fragments) };
	}
}

/** Sends a report; resolves once it is taken. */
async function send(report: RangeReport): Promise<void> {
	await new Promise<void>((resolve, reject) => {
		process.send?.(report, undefined, {}, (error: Error | null) => (error ? reject(error) : resolve()));
	});
}
