import type { Extension, RunningService, Started } from "../api/service/extensions.ts";
import { type Catalogue, catalogueRoute } from "./http/catalogue-requests.ts";
import { folderPages } from "./http/folder-pages.ts";
import { ServiceCatalogue } from "./process/catalogue-process.ts";
import { catalogueOptions, readSite, type SiteSettings, senderNamesOf } from "./process/site-settings.ts";

export interface SiteService extends RunningService<SiteSettings> {
	/** Absent without a catalogue. */
	catalogue?: Catalogue;
}

export function createSite({ worker, limits }: Pick<ServiceCatalogue["settings"], "worker" | "limits">) {
	async function start(service: RunningService<SiteSettings>): Promise<Started> {
		const { configuration, repository, tip, out, log, senders } = service;
		if (!configuration.site) {
			if (repository !== null) (await import("./data/output.ts")).removeCatalogue(out);
			return {};
		}
		const catalogue = folderPages(out, { isSecure: configuration.publicUrl.startsWith("https:") });
		const routes = [catalogueRoute(catalogue)];
		if (repository === null) return { provides: { catalogue }, routes };
		const writer = new ServiceCatalogue({
			repository,
			out,
			worker,
			log,
			limits,
			options: () => catalogueOptions(configuration, { senderNames: senderNamesOf(senders), canSend: true }),
		});
		const commit = tip();
		if (commit !== null) writer.changed(commit);
		return {
			provides: { catalogue, writer },
			changed: (commit) => writer.changed(commit),
			routes,
			close: () => writer.close(),
		};
	}
	return { name: "site", settings: readSite, start } satisfies Extension;
}
