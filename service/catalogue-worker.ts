// Updates the catalogue to a commit, in a process of its own, which gets only names and reads from git.
import type { CatalogueOptions } from "../catalogue/options.ts";
import { type CatalogueOutcome, updateCatalogue } from "../catalogue/update.ts";

/** An order of the service. The process carries out one after the other. */
export interface CatalogueOrder {
	repository: string;
	/** Full id. */
	commit: string;
	out: string;
	options: CatalogueOptions;
}

/** The answer: the outcome and the memory of the process, or why it failed. */
export type CatalogueReport = { outcome: CatalogueOutcome; residentBytes: number } | { reason: string };

/** The end of all orders so far. */
let last: Promise<void> = Promise.resolve();

process.on("message", (order: CatalogueOrder) => {
	last = last.then(async () => {
		const report = await carryOut(order);
		// The service may have ended meanwhile.
		process.send?.(report, undefined, undefined, () => undefined);
	});
});
// A running update ends first: a catalogue that is not whole has to be made from nothing.
process.on("disconnect", () => void last.finally(() => process.exit(0)));

async function carryOut({ repository, commit, out, options }: CatalogueOrder): Promise<CatalogueReport> {
	try {
		const outcome = await updateCatalogue({ repository, commit }, out, options);
		return { outcome, residentBytes: process.memoryUsage.rss() };
	} catch (error) {
		return { reason: (error as Error).message };
	}
}
