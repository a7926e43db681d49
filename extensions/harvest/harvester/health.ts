import {
	type CheckResult,
	type Health,
	healthPath,
	healthText,
	parseHealth,
	type Sickness,
	type SickState,
	updateHealth,
	weekOf,
} from "../../../registry/health.ts";
import { textsOf } from "../../../registry/problems.ts";
import type { Log } from "../../../store/store.ts";
import { isRefusal, type Meta, type Store } from "../../../store/store.ts";
import { type FindingLine, findingLine, seenOf } from "../finding.ts";
import type { WatchLayer } from "../layer.ts";
import type { Notice } from "../notify.ts";
import { descriptionOf, registrationOf, serviceMeta } from "./commit.ts";
import type { Schedule } from "./schedule.ts";

export interface HealthOptions extends Pick<Schedule, "timers" | "now"> {
	store: Store;
	readHealth: () => Promise<string | null>;
	log: Log;
	notify?: ((notice: Notice) => unknown) | undefined;
}

/** Changes the stored health with a commit; no change, no commit. @throws {Error} if it cannot be read or stored */
export async function commitHealth(
	{ store, readHealth, now }: HealthOptions,
	change: (before: Health) => { after: Health } & Pick<Meta, "subject" | "trailers">,
): Promise<void> {
	const before = await readHealth();
	const { after, ...words } = change(parseHealth(before));
	const text = healthText(after);
	if (text === before) return;
	const meta = { ...serviceMeta(now), ...words, smallkey: null };
	const outcome = await store.change(async () => [{ path: healthPath, text }], meta);
	if (isRefusal(outcome)) throw new Error(`${healthPath}: ${textsOf(outcome.errors).join("; ")}`);
}

interface WatcherOptions extends HealthOptions, Pick<Schedule, "allKeys"> {
	watch: WatchLayer;
}

interface LastCheck {
	/** null: healthy. */
	state: SickState | null;
	at: number;
	findings: FindingLine[];
}

/** How long results are collected for one commit. */
const collectMs = 600_000;

/** Checks whether a viewer can show the layers of a running service, and stores which layers are sick. */
export function createWatcher(options: WatcherOptions) {
	const { store, watch, now, allKeys, timers, log } = options;
	const lastChecks = new Map<string, LastCheck>();
	let seen = new Map<string, CheckResult | null>();
	let timer: unknown = null;
	let storing: Promise<void> = Promise.resolve();

	async function check(smallkey: string, signal: AbortSignal): Promise<void> {
		try {
			const layer = await store.read(smallkey);
			const registration = layer && registrationOf(layer);
			if (!registration || signal.aborted) return;
			const watched = await watch(registration, signal, descriptionOf(layer));
			const findings = watched.findings.map((finding) => findingLine(registration, finding));
			lastChecks.set(smallkey, { state: watched.state, at: now().getTime(), findings });
			seen.set(smallkey, seenOf(watched));
			timer ??= timers.set(storeLater, collectMs);
		} catch (error) {
			if (!signal.aborted) log.error(error);
		}
	}

	function storeLater(): void {
		timers.clear(timer);
		timer = null;
		storing = storing.then(storeSeen);
	}

	/** Stores the new results in one commit, if they change anything. After a failure they are kept for the next call. */
	async function storeSeen(): Promise<void> {
		const found = seen;
		if (found.size === 0) return;
		seen = new Map();
		try {
			let newly: [string, Sickness][] = [];
			await commitHealth(options, (before) => {
				const registered = new Set(allKeys());
				const after = updateHealth(before, found, weekOf(now()), (smallkey) => registered.has(smallkey));
				const subject = `health: ${after.size} ${after.size === 1 ? "layer is" : "layers are"} sick`;
				newly = [...after].filter(([smallkey]) => !before.has(smallkey));
				return { after, subject, trailers: [] };
			});
			const layers = newly.map(([smallkey, { repair: _, ...sickness }]) => ({ smallkey, ...sickness }));
			options.notify?.({ event: "sick", layers });
		} catch (error) {
			seen = new Map([...found, ...seen]);
			log.error(error);
		}
	}

	return {
		check,
		/** The last result for a layer; null if it was not checked since the start. */
		lastCheckOf: (smallkey: string): LastCheck | null => lastChecks.get(smallkey) ?? null,
		close: async () => {
			storeLater();
			await storing;
		},
	};
}
