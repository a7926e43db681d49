import type { LayerPart, RunningService } from "../../api/service/extensions.ts";
import { isoTime } from "../../api/service/layer-status.ts";
import { readHealth } from "../../api/service/repository.ts";
import { isDescribed } from "../../registry/description.ts";
import { parseHealth } from "../../registry/health.ts";
import type { LayerStatus } from "../../registry/schemas/answers.ts";
import type { Lang } from "../../registry/smallkey.ts";
import type { Layer } from "../../store/store.ts";
import type { FindingLine } from "./finding.ts";
import { descriptionOf, harvestedOf } from "./harvester/commit.ts";
import type { createHarvester } from "./harvester/harvester.ts";
import type { createWatcher } from "./harvester/health.ts";

type HarvestStates = Pick<ReturnType<typeof createHarvester>, "stateOf"> &
	Pick<ReturnType<typeof createWatcher>, "lastCheckOf">;

/** A part of a status whose findings have no language yet. */
type Unwritten<Part> = Omit<Part, "findings"> & { findings?: readonly FindingLine[] };

function written<Part>(part: Unwritten<Part>, lang: Lang): Part {
	const { findings } = part;
	return (findings ? { ...part, findings: findings.map((line) => line[lang]) } : part) as Part;
}

/**
 * Returns a function that adds harvest and health to the status of a layer.
 * @param harvester null if this service does not harvest
 */
export function createLayerParts(
	{ repository }: Pick<RunningService, "repository">,
	harvester: HarvestStates | null,
) {
	function harvestOf(smallkey: string, layer: Layer): Unwritten<LayerStatus["harvest"]> {
		const registration = harvestedOf(layer);
		if (!registration) return { state: "none" };
		if (!harvester) return { state: "off" };
		const state = harvester.stateOf(smallkey);
		// While the service starts, the layer may not be queued yet.
		if (!state) return { state: isDescribed(registration, descriptionOf(layer)) ? "done" : "waiting" };
		if (state.state === "waiting") return { state: "waiting" };
		const { at, findings, nextTry } = state;
		return { state: state.state, at: isoTime(at), findings, next_try: isoTime(nextTry) };
	}

	async function healthOf(smallkey: string): Promise<Unwritten<LayerStatus["health"]>> {
		const sickness = repository === null ? null : parseHealth(await readHealth(repository)).get(smallkey);
		const last = harvester?.lastCheckOf(smallkey) ?? null;
		const since = sickness && last?.state !== null ? { since: sickness.since } : {};
		if (!last) return { state: sickness?.state ?? "unknown", ...since };
		return { state: last.state ?? "well", ...since, at: isoTime(last.at), findings: last.findings };
	}

	return async (smallkey: string, layer: Layer | null): Promise<LayerPart | null> => {
		if (!layer) return null;
		const harvest = harvestOf(smallkey, layer);
		const health = await healthOf(smallkey);
		return (lang) => ({ harvest: written(harvest, lang), health: written(health, lang) });
	};
}
