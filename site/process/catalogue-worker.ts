import type { Extension } from "../../api/service/extensions.ts";
import type { CatalogueOptions } from "../data/options.ts";
import { updateCatalogue } from "../data/update.ts";

/** An order of the service. */
export interface CatalogueOrder {
	repository: string;
	/** Full id. */
	commit: string;
	out: string;
	options: CatalogueOptions;
}

/** Why an update failed; null if it did not. */
export type CatalogueReport = string | null;

/** Carries out one order of the service in this process, which reads the layers from git, and ends after its answer. */
export function serveOrder(extensions: readonly Extension[]): void {
	process.once("message", async ({ repository, commit, out, options }: CatalogueOrder) => {
		const report = await updateCatalogue({ repository, commit }, out, options, { extensions }).then(
			() => null,
			({ message }: Error): CatalogueReport => message,
		);
		// The callback ignores the error of `send` if the service has ended meanwhile.
		process.send?.({ report }, undefined, undefined, () => process.exit(0));
	});
}
