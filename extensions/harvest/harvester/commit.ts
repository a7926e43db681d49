import { type Description, descriptionText, parseDescription } from "../../../registry/description.ts";
import { textsOf } from "../../../registry/problems.ts";
import { harvestedLangs, parseRegistration, type Registration } from "../../../registry/registration.ts";
import { descriptionPath, langs } from "../../../registry/smallkey.ts";
import { isRefusal, type Layer, type Store, serviceAuthor } from "../../../store/store.ts";
import { type FindingLine, findingLine, mergeDescription } from "../finding.ts";
import type { HarvestLayer } from "../layer.ts";

/** A layer's service description; null if it has no valid one. */
export function descriptionOf({ description }: Layer): Description | null {
	return description === null ? null : parseDescription(description);
}

/** The registration of a layer; null if it is invalid. */
export function registrationOf({ registration }: Layer): Registration | null {
	return parseRegistration(new TextEncoder().encode(registration), "stored").registration;
}

/** The registration of a layer that is harvested; null if it is not harvested, or its registration is invalid. */
export function harvestedOf(layer: Layer): Registration | null {
	const registration = registrationOf(layer);
	return registration && harvestedLangs(registration).length > 0 ? registration : null;
}

/** The metadata of a commit by the service itself, without its subject. */
export function serviceMeta(now: () => Date) {
	return { author: serviceAuthor, time: now().getTime(), trailers: [], request: null, review: false };
}

/** The result of one harvest, as a line of the log. */
export interface HarvestLine {
	harvest: string;
	/** `dropped`: the layer was changed or removed during the harvest. `failed`: no service answered. */
	outcome: "changed" | "unchanged" | "dropped" | "failed";
	/** What is wrong with the layer or its services, in English; absent if nothing is. */
	findings?: string[];
}

/** What became of one harvest. */
export interface HarvestEnd {
	line: HarvestLine;
	findings: FindingLine[];
	/** Whether a retry is useful because a service was down. */
	again: boolean;
}

export interface CommitOptions {
	store: Store;
	/** Harvests one layer. Rejects only if its signal aborts. */
	harvest: HarvestLayer;
	now: () => Date;
}

/**
 * Harvests one layer and commits its new description.
 * @returns null if the layer is not harvested
 */
export async function harvestOne(
	smallkey: string,
	{ store, harvest, now }: CommitOptions,
	signal: AbortSignal,
): Promise<HarvestEnd | null> {
	const layer = await store.read(smallkey);
	const registration = layer && harvestedOf(layer);
	if (!registration || signal.aborted) return null;
	const harvested = await harvest(registration, signal, descriptionOf(layer));
	if (signal.aborted) return null;
	const findings = harvested.findings.map((finding) => findingLine(registration, finding));
	const inEnglish = findings.map(({ en }) => en);
	const done = (outcome: HarvestLine["outcome"]) => ({
		line: { harvest: smallkey, outcome, ...(findings.length > 0 && { findings: inEnglish }) },
		findings,
		again: harvested.findings.some(({ state }) => state === "down"),
	});
	if (Object.keys(harvested.found).length === 0) return done("failed");
	let isDropped = false;
	const outcome = await store.change(
		async (fresh) => {
			const layer = await fresh.read(smallkey);
			const current = layer && harvestedOf(layer);
			isDropped =
				!current || langs.some((lang) => current[lang].service_url !== registration[lang].service_url);
			if (!current || isDropped) return [];
			const merged = mergeDescription(current, harvested, layer.description);
			const text = merged && descriptionText(merged);
			return text === null || text === layer.description ? [] : [{ path: descriptionPath(smallkey), text }];
		},
		{ ...serviceMeta(now), smallkey, subject: `harvest ${smallkey}` },
	);
	if (isRefusal(outcome)) throw new Error(`harvest ${smallkey}: ${textsOf(outcome.errors).join("; ")}`);
	return done(isDropped ? "dropped" : outcome.changed ? "changed" : "unchanged");
}
