// Renders a large commit range in a process of its own, and streams the fragments.
import { GitFailure } from "../git/run.ts";
import type { PathChange } from "../git/tree.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { changesOf, commitLayers, emptyNotes, type RangeNotes } from "./changes.ts";
import { type Entry, pack, type Row, renderEntry } from "./entry.ts";

/** The order for the process. The paths that differ are sent before it, in portions. */
export interface RangeOrder {
	repository: string;
	isFirst: boolean;
	to: string;
	settings: FragmentSettings;
}

/** A portion of the fragments; as the last message the notes, or the reason why the process failed. */
export type RangeReport =
	| { layers: Row[]; bytes: Uint8Array }
	| { notes: RangeNotes }
	| { failure: string; isGit: boolean };

/** Bytes of fragments in one portion. The service answers no readers while it receives a portion. */
const portionBytes = 200_000;

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
	const read = commitLayers(repository, to, isFirst ? changed : null);
	const notes = emptyNotes();
	let portion: [string, Entry][] = [];
	let size = 0;
	for await (const layers of changesOf(changed, read, notes)) {
		for (const layer of layers) {
			const entry = renderEntry(layer, settings);
			portion.push([layer.smallkey, entry]);
			size += entry.bytes.length;
			if (size < portionBytes) continue;
			await send(pack(portion));
			[portion, size] = [[], 0];
		}
	}
	await send(pack(portion));
	await send({ notes });
}

async function send(report: RangeReport): Promise<void> {
	await new Promise<void>((resolve, reject) => {
		process.send?.(report, undefined, {}, (error: Error | null) => (error ? reject(error) : resolve()));
	});
}
