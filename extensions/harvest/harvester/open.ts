import { join } from "node:path";
import { repositoryPath } from "../../../api/service/data-dir.ts";
import type { LayerPart, RunningService, Started } from "../../../api/service/extensions.ts";
import { isoTime } from "../../../api/service/layer-status.ts";
import { readHealth } from "../../../api/service/repository.ts";
import { eachInSlices } from "../../../publish/file-writer.ts";
import { isDescribed } from "../../../registry/description.ts";
import { parseHealth } from "../../../registry/health.ts";
import type { LayerStatus } from "../../../registry/schemas/answers.ts";
import type { Lang } from "../../../registry/smallkey.ts";
import { tryJson } from "../../../registry/try-json.ts";
import { objectOf } from "../../../site/service/decode.ts";
import { readTextIfThere, replaceFile } from "../../../store/files/files.ts";
import type { Layer, Log } from "../../../store/store.ts";
import type { FindingLine } from "../finding.ts";
import { childEnvironment, type HarvestSettings } from "../settings.ts";
import { descriptionOf, harvestedOf } from "./commit.ts";
import { createHarvester } from "./harvester.ts";
import { createNotifier, createWatcher, type Notice } from "./health-checks.ts";
import { createHarvestProcess } from "./process.ts";
import { systemTimers } from "./schedule.ts";

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

/** Version of the rules by which services are read. A change of what is read of the same answers increases it. */
const rulesVersion = 2;

/** The time over which all layers are harvested again after such a change. */
const spreadMs = 86_400_000;

/**
 * When the layers that were harvested under earlier rules have been harvested again, in milliseconds since 1970: a day
 * after the first start with these rules, which `DATA_DIR/harvest-rules.json` notes.
 */
async function againUntil(dataDir: string, nowMs: number, log: Log): Promise<number> {
	const path = join(dataDir, "harvest-rules.json");
	const { version, until } = objectOf(tryJson((await readTextIfThere(path)) ?? ""));
	const noted = typeof until === "string" ? Date.parse(until) : Number.NaN;
	if (version === rulesVersion && Number.isFinite(noted)) return noted;
	const untilMs = nowMs + spreadMs;
	const text = JSON.stringify({ version: rulesVersion, until: new Date(untilMs).toISOString() });
	await replaceFile(path, `${text}\n`).catch((error: Error) => log.warn(`${path}: ${error.message}`));
	return untilMs;
}

export type ServiceHarvester = ReturnType<typeof openHarvester>;

export function openHarvester(
	{
		configuration,
		store,
		smallkeys,
		log,
		observe,
	}: Pick<RunningService<HarvestSettings>, "configuration" | "store" | "smallkeys" | "log" | "observe">,
	againUntilMs = 0,
) {
	const { harvest, dataDir, notify: target } = configuration;
	const notifier =
		target && createNotifier({ target, now: () => new Date(), warn: (line) => log.warn(line) });
	const child = createHarvestProcess({
		module: new URL("./child.ts", import.meta.url),
		environment: childEnvironment(configuration),
	});
	const repository = repositoryPath(dataDir);
	const common = {
		store,
		everyMs: harvest.every,
		now: () => new Date(),
		allKeys: smallkeys,
		log,
		timers: systemTimers,
		readHealth: () => readHealth(repository),
		notify: notifier?.notify,
	};
	const watcher = createWatcher({ ...common, watch: child.watch });
	const harvester = createHarvester({
		...common,
		harvest: child.harvest,
		againUntilMs,
		quietMs: 200,
		count: (outcome) => observe({ kind: "harvest", outcome }),
		check: watcher.check,
	});
	harvester.start();
	return {
		...harvester,
		lastCheckOf: watcher.lastCheckOf,
		notify: notifier?.notify,
		close: async () => {
			const closed = harvester.close();
			child.close();
			await closed;
			await watcher.close();
			notifier?.close();
		},
	};
}

export interface HarvestService {
	notify?: ((notice: Notice) => unknown) | undefined;
}

/** Starts the harvest of a service whose layers are on this machine; with `HARVEST=off` only the status of layers has it. */
export async function startHarvest(service: RunningService<HarvestSettings>): Promise<Started> {
	if (service.repository === null) return { close: () => undefined };
	if (!service.configuration.harvest.on)
		return { layer: createLayerParts(service, null), close: () => undefined };
	const againUntilMs = await againUntil(service.configuration.dataDir, Date.now(), service.log);
	const harvester = openHarvester(service, againUntilMs);
	return {
		provides: { notify: harvester.notify },
		changed: (_commit, smallkeys) => void eachInSlices(smallkeys, harvester.follow),
		layer: createLayerParts(service, harvester),
		lastLook: (smallkey) => harvester.lastCheckOf(smallkey)?.at ?? null,
		refresh: harvester.refresh,
		gauges: () => ({ harvestsWaiting: harvester.waiting() }),
		close: harvester.close,
	};
}
