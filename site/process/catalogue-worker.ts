import type { Extension } from "../../api/service/extensions.ts";
import type { CatalogueOptions } from "../data/options.ts";
import { type CatalogueOutcome, updateCatalogue } from "../data/update.ts";

/** An order of the service. The next one comes after its answer. */
export interface CatalogueOrder {
	repository: string;
	/** Full id. */
	commit: string;
	out: string;
	options: CatalogueOptions;
}

/** The answer: the outcome and the memory of the process, or why it failed. */
export type CatalogueReport = { outcome: CatalogueOutcome; residentBytes: number } | { reason: string };

/** Updates the catalogue to a commit at each order of the service, in a process of its own, which reads the layers from git. */
export function serveOrders(extensions: readonly Extension[]): void {
	let running: Promise<void> = Promise.resolve();
	process.on("message", ({ repository, commit, out, options }: CatalogueOrder) => {
		running = updateCatalogue({ repository, commit }, out, options, { extensions })
			.then((outcome): CatalogueReport => ({ outcome, residentBytes: process.memoryUsage.rss() }))
			.catch(({ message }: Error): CatalogueReport => ({ reason: message }))
			// The callback ignores the error of `send` if the service has ended meanwhile.
			.then((report) => void process.send?.(report, undefined, undefined, () => undefined));
	});
	// A running update ends first: an incomplete catalogue would have to be built from nothing.
	process.on("disconnect", () => void running.finally(() => process.exit(0)));
}
