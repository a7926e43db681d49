import { parseStored } from "../../../api/register.ts";
import { type Description, parseDescription } from "../../../registry/description.ts";
import { harvestedLangs, type Registration } from "../../../registry/registration.ts";
import { descriptionPath, type Lang, langs } from "../../../registry/smallkey.ts";
import { textsOf } from "../../../registry/texts.ts";
import { isRefusal } from "../../../store/decide.ts";
import { serviceAuthor } from "../../../store/naming.ts";
import type { Edit, Layer, Reader, Store } from "../../../store/store.ts";
import { descriptionText, type Harvest, mergeDescription } from "../description.ts";

export function descriptionOf({ description }: Layer): Description | null {
	return description === null ? null : parseDescription(description);
}

/** Null if the layer is not harvested, or its registration is invalid. */
export function harvestedOf(layer: Layer | null): Registration | null {
	const registration = parseStored(layer);
	return registration && harvestedLangs(registration).length > 0 ? registration : null;
}

/** Of commits that the service makes. */
export function serviceMeta(now: () => Date) {
	return { author: serviceAuthor, time: now().getTime(), trailers: [], request: null, review: false };
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
	store: Store,
	now: () => Date,
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
	const outcome = await store.change(editsOf, { ...serviceMeta(now), smallkey, subject });
	if (isRefusal(outcome)) throw new Error(`${subject}: ${textsOf(outcome.errors).join("; ")}`);
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
