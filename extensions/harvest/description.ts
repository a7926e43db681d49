import { currentDescription, type Description, type LangDescription } from "../../registry/description.ts";
import type { Registration } from "../../registry/registration.ts";
import { formats } from "../../registry/schemas/definitions.ts";
import type { Trouble } from "./ask.ts";
import type { Finding } from "./finding.ts";
import { harvestedLangs } from "./langs.ts";

export interface DescriptionResult {
	description: LangDescription;
	/** Why an earlier, complete description is better; null if everything was read. */
	missing: Trouble | null;
}

export function isImage(text: unknown): text is string {
	return typeof text === "string" && formats.image(text);
}

export function descriptionText({ en, fr }: Description): string {
	return `${JSON.stringify({ en, fr }, null, 2)}\n`;
}

/** Whether all languages were harvested, and not imported from an older service. */
export function isDescribed(registration: Registration, description: Description | null): boolean {
	return harvestedLangs(registration).every((lang) => {
		const current = currentDescription(registration, description, lang);
		return current !== null && current.from !== "import";
	});
}

export interface Harvest {
	description: Description;
	/** A language with a finding has an incomplete description, or none. */
	findings: Finding[];
}

/**
 * The description to store. A language whose service did not answer keeps its stored one, if that is of the same service.
 * @returns null if neither language has a description
 */
export function mergeDescription(
	registration: Registration,
	harvested: Harvest,
	previous: Description | null,
): Description | null {
	const merged: Description = {};
	for (const lang of harvestedLangs(registration)) {
		const before = currentDescription(registration, previous, lang);
		const current = currentDescription(registration, harvested.description, lang);
		const isPartial = harvested.findings.some((finding) => finding.lang === lang);
		const best = isPartial ? (before ?? current) : (current ?? before);
		if (best) merged[lang] = keepNeighbours(before, keepOrder(before, best));
	}
	return Object.keys(merged).length > 0 ? merged : null;
}

/** Earlier neighbours stay if none are listed now, or the layer has lost its features. */
function keepNeighbours(before: LangDescription | null, current: LangDescription): LangDescription {
	const isEmpty = "count" in current && current.count === 0;
	const all = isEmpty ? { ...current, ...neighboursOf(before) } : { ...neighboursOf(before), ...current };
	const { siblings: _, services: __, folders: ___, ...rest } = all;
	// The members have one order.
	return { ...rest, ...neighboursOf(all) } as LangDescription;
}

function neighboursOf(description: Partial<LangDescription> | null) {
	const { siblings, services, folders } = description ?? {};
	return { ...(siblings && { siblings }), ...(services && { services }), ...(folders && { folders }) };
}

/** Some services change the order with each request. */
function keepOrder(before: LangDescription | null, now: LangDescription): LangDescription {
	if (!before || !("entries" in before) || !("entries" in now)) return now;
	const present = new Set(now.entries);
	const entries = new Set([...before.entries.filter((entry) => present.has(entry)), ...now.entries]);
	return { ...now, entries: [...entries] };
}
