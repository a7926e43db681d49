import { parseStored } from "../../../api/register.ts";
import { type Description, parseDescription } from "../../../registry/description.ts";
import type { Registration } from "../../../registry/registration.ts";
import { descriptionPath, healthPath, type Lang, langs } from "../../../registry/smallkey.ts";
import { textsOf } from "../../../registry/texts.ts";
import { type Health, parseHealth, type Sickness } from "../../../site/data/health.ts";
import { isRefusal } from "../../../store/decide.ts";
import { serviceAuthor } from "../../../store/naming.ts";
import type { Decide, Edit, Layer, Log, Meta, Reader, Store } from "../../../store/store.ts";
import { descriptionText, type Harvest, mergeDescription } from "../description.ts";
import { type CheckResult, healthText, updateHealth, weekOf } from "../health.ts";
import { harvestedLangs } from "../langs.ts";
import type { Notice } from "./notifier.ts";
import { createGroups, type Schedule } from "./schedule.ts";

export function descriptionOf({ description }: Layer): Description | null {
	return description === null ? null : parseDescription(description);
}

/** Null if the layer is not harvested, or its registration is invalid. */
export function harvestedOf(layer: Layer | null): Registration | null {
	const registration = parseStored(layer);
	return registration && harvestedLangs(registration).length > 0 ? registration : null;
}

/** @throws {Error} if the store refuses the edits */
async function commit(
	{ store, now }: { store: Store; now: () => Date },
	decide: Decide,
	words: Pick<Meta, "smallkey" | "subject">,
) {
	const meta = { author: serviceAuthor, request: null, review: false, ...words };
	const outcome = await store.change(decide, { ...meta, time: now().getTime() });
	if (isRefusal(outcome)) throw new Error(`${words.subject}: ${textsOf(outcome.errors).join("; ")}`);
}

export interface HarvestResult {
	smallkey: string;
	registration: Registration;
	harvested: Harvest;
}

/** `dropped`: the layer was changed or removed during the harvest. `failed`: no service answered. */
export type Outcome = "changed" | "unchanged" | "dropped" | "failed";

export async function commitGroup(
	results: readonly HarvestResult[],
	options: { store: Store; now: () => Date },
): Promise<Map<HarvestResult, Outcome>> {
	const outcomes = new Map(results.map((result): [HarvestResult, Outcome] => [result, "failed"]));
	const answered = results.filter(({ harvested }) => Object.keys(harvested.description).length > 0);
	const [first, second] = answered;
	if (!first) return outcomes;
	const editsOf = async (reader: Reader) => {
		const edits: Edit[] = [];
		for (const result of answered) {
			const edit = await editOf(result, reader);
			outcomes.set(result, typeof edit === "string" ? edit : "changed");
			if (typeof edit !== "string") edits.push(edit);
		}
		return edits;
	};
	const smallkey = second ? null : first.smallkey;
	const subject = `harvest ${smallkey ?? `${answered.length} layers`}`;
	await commit(options, editsOf, { smallkey, subject });
	return outcomes;
}

async function editOf({ smallkey, registration, harvested }: HarvestResult, reader: Reader) {
	const layer = await reader.read(smallkey);
	const current = harvestedOf(layer);
	const isMoved = (lang: Lang) => current?.[lang].service_url !== registration[lang].service_url;
	if (!layer || !current || langs.some(isMoved)) return "dropped";
	const merged = mergeDescription(current, harvested, descriptionOf(layer));
	const text = merged && descriptionText(merged);
	if (text === null || text === layer.description) return "unchanged";
	return { path: descriptionPath(smallkey), text };
}

export interface HealthOptions extends Pick<Schedule, "timers" | "now"> {
	store: Store;
	readHealth: () => Promise<string | null>;
	log: Log;
	notify?: ((notice: Notice) => unknown) | undefined;
}

/** No change, no commit. @throws {Error} if the health cannot be read or stored */
export async function commitHealth(
	options: HealthOptions,
	change: (before: Health) => { after: Health; subject: string },
): Promise<void> {
	const before = await options.readHealth();
	const { after, subject } = change(parseHealth(before));
	const text = healthText(after);
	if (text !== before)
		await commit(options, async () => [{ path: healthPath, text }], { smallkey: null, subject });
}

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
