import type { LayerPart, RunningService, Started } from "../../../api/service/extensions.ts";
import { isoTime } from "../../../api/service/layer-status.ts";
import { eachInSlices } from "../../../publish/file-writer.ts";
import type { LayerStatus } from "../../../registry/schemas/answers.ts";
import type { Lang } from "../../../registry/smallkey.ts";
import { parseHealth, type Sickness } from "../../../site/data/health.ts";
import type { Layer } from "../../../store/store.ts";
import { isDescribed } from "../description.ts";
import { readHealth } from "../repository.ts";
import { createHealthGroups, descriptionOf, harvestedOf } from "./commit.ts";
import { Harvester, type Refresh } from "./harvester.ts";
import { createNotifier, type Notice } from "./notifier.ts";
import { childEnvironment, createHarvestProcess } from "./process.ts";
import { systemTimers } from "./schedule.ts";
import type { LayerStates } from "./states.ts";

/** Adds harvest and health to the status of a layer. @param states null if this service does not harvest */
export function createLayerParts(
	repository: string | null,
	states: Pick<LayerStates, "stateOf" | "lastChecks"> | null,
) {
	function harvestOf(smallkey: string, layer: Layer, lang: Lang): LayerStatus["harvest"] {
		const registration = harvestedOf(layer);
		if (!registration) return { state: "none" };
		if (!states) return { state: "off" };
		const end = states.stateOf(smallkey);
		// While the service starts, the layer may not be queued yet.
		if (!end) return { state: isDescribed(registration, descriptionOf(layer)) ? "done" : "waiting" };
		if (end.state === "waiting") return { state: "waiting" };
		const findings = end.findings.map((line) => line[lang]);
		return { state: end.state, at: isoTime(end.at), findings, next_try: isoTime(end.nextTry) };
	}

	function healthOf(smallkey: string, sickness: Sickness | undefined, lang: Lang): LayerStatus["health"] {
		const last = states?.lastChecks.get(smallkey);
		const since = sickness && last?.state !== null ? { since: sickness.since } : {};
		if (!last) return { state: sickness?.state ?? "unknown", ...since };
		const findings = last.findings.map((line) => line[lang]);
		return { state: last.state ?? "well", ...since, at: isoTime(last.at), findings };
	}

	return async (smallkey: string, layer: Layer | null): Promise<LayerPart | null> => {
		if (!layer) return null;
		const health = parseHealth(repository === null ? null : await readHealth(repository));
		return (lang) => ({
			harvest: harvestOf(smallkey, layer, lang),
			health: healthOf(smallkey, health.get(smallkey), lang),
		});
	};
}

export interface HarvestSettings {
	/** `every`: in milliseconds. */
	harvest: { on: boolean; repair: boolean; every: number };
	notify: { url: string; secret: string } | null;
}

export interface HarvestService {
	notify?: ((notice: Notice) => unknown) | undefined;
}

/** Needs a repository on this machine. With `HARVEST=off` it adds only to the status of layers. */
export async function startHarvest(service: RunningService<HarvestSettings>): Promise<Started> {
	const { repository, configuration, store, smallkeys, now, log, observe } = service;
	const { harvest, notify: target } = configuration;
	if (repository === null) return {};
	if (!harvest.on) return { layer: createLayerParts(repository, null) };
	const notifier = target && createNotifier({ target, now, warn: (line) => log.warn(line) });
	const notify = notifier?.notify;
	const child = createHarvestProcess(new URL("./child.ts", import.meta.url), childEnvironment(configuration));
	const schedule = { now, timers: systemTimers, allKeys: smallkeys, everyMs: harvest.every, store, log };
	const health = createHealthGroups({ ...schedule, notify, readHealth: () => readHealth(repository) });
	const harvester = new Harvester({
		...schedule,
		lookAt: child.lookAt,
		checked: health.add,
		quietMs: 200,
		count: (outcome) => observe({ kind: "harvest", outcome }),
	});
	void harvester.start();
	return {
		provides: { notify, refresh: (selection: Refresh) => harvester.refresh(selection) },
		changed: (_commit, smallkeys) => void eachInSlices(smallkeys, (smallkey) => harvester.follow(smallkey)),
		layer: createLayerParts(repository, harvester.states),
		close: async () => {
			const closed = harvester.close();
			child.close();
			await closed;
			await health.close();
			notifier?.close();
		},
	};
}
