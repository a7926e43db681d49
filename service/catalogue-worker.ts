// Brings the catalogue in step with a commit, in a process of its own: it gets nothing but names, and reads from git.
import type { CatalogueOptions } from "../catalogue/options.ts";
import { bringCatalogue, type CatalogueOutcome } from "../catalogue/update.ts";

/** What the process is told, one order after the other. */
export interface CatalogueOrder {
	repository: string;
	/** Full id. */
	commit: string;
	out: string;
	options: CatalogueOptions;
}

/** What it answers to each: what it did and how much memory it has now, or why it could not. */
export type CatalogueReport = { outcome: CatalogueOutcome; residentBytes: number } | { reason: string };

/** The order that is carried out now, and all before it. */
let turn: Promise<void> = Promise.resolve();

process.on("message", (order: CatalogueOrder) => {
	turn = turn.then(async () => {
		const report = await carryOut(order);
		// The service may have ended meanwhile: nobody is left to be told.
		process.send?.(report, undefined, undefined, () => undefined);
	});
});
// What is under way is written to its end: a catalogue that is left half-way has to be made anew.
process.on("disconnect", () => void turn.finally(() => process.exit(0)));

async function carryOut({ repository, commit, out, options }: CatalogueOrder): Promise<CatalogueReport> {
	try {
		const source = { id: null, layers: { repository, commit } };
		const outcome = await bringCatalogue(source, out, options);
		return { outcome, residentBytes: process.memoryUsage.rss() };
	} catch (error) {
		return { reason: (error as Error).message };
	}
}
