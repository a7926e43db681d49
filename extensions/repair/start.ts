import type { RunningService, Started } from "../../api/service/extensions.ts";
import { readHealth } from "../../api/service/repository.ts";
import type { SiteService } from "../../site/extension.ts";
import type { HarvestService } from "../harvest/harvester/open.ts";
import { systemTimers } from "../harvest/harvester/schedule.ts";
import type { HarvestSettings } from "../harvest/settings.ts";
import { repairRoutes } from "./routes.ts";
import { searchProcess, startRepairs } from "./search.ts";
import { createReadRepairs } from "./waiting-repairs.ts";

export type RepairingService = RunningService<HarvestSettings & SiteService["configuration"]> &
	Pick<SiteService, "catalogue"> &
	HarvestService;

/** Looks for new addresses of sick layers once a day, and shows the repairs that wait. */
export function startRepair(service: RepairingService): Started {
	const { configuration, repository, catalogue, store, log, notify } = service;
	if (repository === null) return { close: () => undefined };
	const { harvest, pictures } = configuration;
	const repairs = createReadRepairs(repository, pictures);
	const search = searchProcess(configuration);
	const end =
		harvest.on && harvest.repair
			? startRepairs({
					...{ store, log, notify, repository, search, timers: systemTimers, now: () => new Date() },
					readHealth: () => readHealth(repository),
				})
			: () => undefined;
	return {
		routes: catalogue ? repairRoutes(catalogue, repairs) : [],
		layer: async (smallkey, layer) => {
			// A layer that works may be redirected for good, so that a repair waits for it, too.
			const waiting = layer && (await repairs.of(smallkey));
			return waiting ? () => ({ health: { repair: waiting.repair } }) : null;
		},
		close: end,
	};
}
