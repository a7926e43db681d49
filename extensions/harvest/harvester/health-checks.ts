import { type Health, parseHealth, type Sickness } from "../../../registry/health.ts";
import { healthPath } from "../../../registry/smallkey.ts";
import { textsOf } from "../../../registry/texts.ts";
import { isRefusal } from "../../../store/decide.ts";
import type { Log, Store } from "../../../store/store.ts";
import { type CheckResult, healthText, updateHealth, weekOf } from "../health.ts";
import { serviceMeta } from "./commit.ts";
import type { Notice } from "./notifier.ts";
import { createGroups, type Schedule } from "./schedule.ts";

export interface HealthOptions extends Pick<Schedule, "timers" | "now"> {
	store: Store;
	readHealth: () => Promise<string | null>;
	log: Log;
	notify?: ((notice: Notice) => unknown) | undefined;
}

/** No change, no commit. @throws {Error} if the health cannot be read or stored */
export async function commitHealth(
	{ store, readHealth, now }: HealthOptions,
	change: (before: Health) => { after: Health; subject: string },
): Promise<void> {
	const before = await readHealth();
	const { after, subject } = change(parseHealth(before));
	const text = healthText(after);
	if (text === before) return;
	const meta = { ...serviceMeta(now), subject, smallkey: null };
	const outcome = await store.change(async () => [{ path: healthPath, text }], meta);
	if (isRefusal(outcome)) throw new Error(`${healthPath}: ${textsOf(outcome.errors).join("; ")}`);
}

/** Results of this time share a commit. */
const collectMs = 600_000;

/** Stores which layers are sick. The result of a healthy layer is null. */
export function createHealthGroups(options: HealthOptions & Pick<Schedule, "allKeys">) {
	const { now, allKeys, timers, log } = options;
	const groups = createGroups<CheckResult | null>({ timers, ms: collectMs, max: Infinity }, store);

	async function store(group: ReadonlyMap<string, CheckResult | null>) {
		try {
			const layers: ({ smallkey: string } & Sickness)[] = [];
			await commitHealth(options, (before) => {
				const after = updateHealth(before, group, weekOf(now()), new Set(allKeys()));
				// A layer that has become sick has no repair yet.
				for (const [smallkey, sickness] of after)
					if (!before.has(smallkey)) layers.push({ smallkey, ...sickness });
				const subject = `health: ${after.size} ${after.size === 1 ? "layer is" : "layers are"} sick`;
				return { after, subject };
			});
			options.notify?.({ event: "sick", layers });
		} catch (error) {
			groups.addAgain(group);
			log.error(error);
		}
	}

	return groups;
}
