import type { HarvestStatus, HealthStatus, LayerStatus, ReadStatus } from "../api/status.ts";
import { CatFile } from "../git/cat-file.ts";
import { GitTimeout, runGit } from "../git/run.ts";
import { createPool } from "../harvest/net/pool.ts";
import { isDescribed, parseDescription } from "../registry/description.ts";
import { type Health, healthPath, parseHealth } from "../registry/health.ts";
import { harvestedLangs, parseRegistration } from "../registry/registration.ts";
import { layerPath } from "../registry/smallkey.ts";
import { type Layer, reviewBranch, type Store, StoreBusy } from "../store/store.ts";
import type { HarvestState } from "./harvester/states.ts";
import type { Sight } from "./harvester/watcher.ts";

/** What looking layers up needs. */
export interface LayerStatusOptions {
	/** The bare repository of the store. */
	repository: string;
	store: Pick<Store, "read" | "ids">;
	/** What the harvester knows; null where this service asks no services. */
	harvester: {
		stateOf: (smallkey: string) => HarvestState | null;
		sightOf: (smallkey: string) => Sight | null;
	} | null;
}

/** Looks layers up for their publishers. */
export interface LayerStatuses {
	read: ReadStatus;
	/** Registrations were written: what is known of their commits counts no more. */
	forget(smallkeys: readonly string[]): void;
	close(): Promise<void>;
}

/** Look-ups at once, and those that wait for them: each starts a process of git, and anybody may ask. */
const atOnce = 2;
const maxWaiting = 50;
/** Those of one address among them, so that there is room for others. */
const maxOfAddress = 5;

/** How long git may look for the commit of one layer, in milliseconds: a history may be long. */
const historyMs = 5_000;

/** Most layers whose commit is remembered: the newest. */
const maxRemembered = 20_000;

const mainRef = "refs/heads/main";

/** Which commit registered what is stored, and when. */
interface Registered {
	commit: string | null;
	at: string | null;
}

/** Makes what looks layers up in a repository, and asks the harvester. */
export function createLayerStatuses({ repository, store, harvester }: LayerStatusOptions): LayerStatuses {
	const pool = createPool(atOnce);
	const catFile = new CatFile(repository);
	/** Smallkey → by which text of a registration, and its commit. */
	const known = new Map<string, Registered & { id: string }>();
	let health: { id: string; sick: Health } | null = null;
	/** Address of each look-up under way. */
	const waiting: (string | null)[] = [];

	async function registeredOf(smallkey: string): Promise<Registered> {
		const id = (await store.ids(smallkey))?.registration;
		if (id === undefined) return { commit: null, at: null };
		const before = known.get(smallkey);
		if (before?.id === id) return before;
		const found = await lastCommit(repository, mainRef, layerPath(smallkey));
		known.delete(smallkey);
		// What took too long is looked for again.
		if (found.commit !== null) known.set(smallkey, { id, ...found });
		const [oldest] = known.keys();
		if (known.size > maxRemembered && oldest !== undefined) known.delete(oldest);
		return found;
	}

	async function sicknessOf(smallkey: string) {
		const file = await catFile.read(`${mainRef}:${healthPath}`);
		if (!file) return null;
		if (health?.id !== file.id) health = { id: file.id, sick: parseHealth(file.body.toString("utf8")) };
		return health.sick.get(smallkey) ?? null;
	}

	async function healthOf(smallkey: string): Promise<HealthStatus> {
		const [sickness, sight] = [await sicknessOf(smallkey), harvester?.sightOf(smallkey) ?? null];
		if (!sight) return sickness ?? { state: "unknown" };
		const since = sight.state !== null && sickness ? { since: sickness.since } : {};
		return { state: sight.state ?? "well", ...since, at: isoTime(sight.at), findings: sight.findings };
	}

	function harvestOf(smallkey: string, layer: Layer): HarvestStatus {
		const described = describedBy(layer);
		if (described === null) return { state: "none" };
		if (!harvester) return { state: "off" };
		const state = harvester.stateOf(smallkey);
		// Before its turn at a start a layer is not among those that wait.
		if (!state) return { state: described ? "done" : "waiting" };
		if (state.state === "waiting") return { state: "waiting" };
		const { at, findings, nextTry } = state;
		return { state: state.state, at: isoTime(at), findings, next_try: isoTime(nextTry) };
	}

	async function look(smallkey: string): Promise<LayerStatus | null> {
		const [layer, review] = [await store.read(smallkey), await reviewOf(repository, smallkey)];
		if (!layer && !review) return null;
		const { commit, at } = await registeredOf(smallkey);
		const harvest = layer ? harvestOf(smallkey, layer) : ({ state: "none" } as const);
		const seen = layer ? await healthOf(smallkey) : ({ state: "unknown" } as const);
		return { smallkey, registered: at, commit, review, harvest, health: seen };
	}

	return {
		async read(smallkey, address) {
			const own = waiting.filter((one) => one === address && one !== null);
			if (own.length >= maxOfAddress) return "too many";
			if (waiting.length >= maxWaiting) throw new StoreBusy("too many ask for the status of layers", 2);
			waiting.push(address);
			try {
				return await pool.withSlot(() => look(smallkey));
			} finally {
				waiting.splice(waiting.indexOf(address), 1);
			}
		},
		forget(smallkeys) {
			for (const smallkey of smallkeys) known.delete(smallkey);
		},
		close: () => catFile.close(),
	};
}

/** Whether everything that is harvested of a layer was; null where there is nothing to be asked for. */
function describedBy(layer: Layer): boolean | null {
	const { registration } = parseRegistration(new TextEncoder().encode(layer.registration), "stored");
	const asked = registration ? harvestedLangs(registration) : [];
	if (!registration || asked.length === 0) return null;
	const description = layer.description === null ? null : parseDescription(layer.description);
	return isDescribed(registration, description);
}

/** The last commit of a file on a branch; nulls where it takes too long to find. @throws where git fails otherwise */
async function lastCommit(repository: string, ref: string, path: string): Promise<Registered> {
	const words = [
		"log",
		"-1",
		"--first-parent",
		"--diff-merges=first-parent",
		// Without it git prints the patch of a merge behind the line.
		"--no-patch",
		"--format=%H %ct",
		ref,
		"--",
		path,
	];
	const output = await runGit(repository, words, { limitMs: historyMs }).catch((error: unknown) => {
		if (error instanceof GitTimeout) return null;
		throw error;
	});
	const [commit = "", seconds = ""] = output?.toString("latin1").trim().split(" ") ?? [];
	if (!/^[0-9a-f]{40,64}$/.test(commit)) return { commit: null, at: null };
	return { commit, at: isoTime(Number(seconds) * 1_000) };
}

/** The change of a layer that waits for a reviewer. */
async function reviewOf(repository: string, smallkey: string): Promise<LayerStatus["review"]> {
	const branch = reviewBranch(smallkey);
	const format = "--format=%(refname) %(objectname) %(committerdate:unix)";
	const words = ["for-each-ref", `--no-merged=${mainRef}`, format, `refs/heads/${branch}`];
	const lines = (await runGit(repository, words, { limitMs: historyMs })).toString("utf8").split("\n");
	for (const line of lines) {
		const [ref, commit = "", seconds = ""] = line.split(" ");
		if (ref === `refs/heads/${branch}`) return { branch, commit, since: isoTime(Number(seconds) * 1_000) };
	}
	return null;
}

/** `2026-03-04T12:00:00Z` */
function isoTime(ms: number): string {
	return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
