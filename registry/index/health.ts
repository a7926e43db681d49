import type { Sickness } from "../health.ts";
import type { Lang } from "../smallkey.ts";
import type { Entry } from "./entry.ts";
import { indexVersion, parseObject } from "./set.ts";

/** The file that lists the sick layers for people: the first ones where there are very many. */
export const healthReportPath = "index/health.json";

/** Most layers that it lists. */
const mostListed = 400;

/** The content of that file. */
export interface HealthReport {
	version: number;
	/** Number of all sick layers. */
	sick: number;
	layers: { smallkey: string; title: Record<Lang, string>; health: Sickness; owners: string[] }[];
}

/** The report. @param owners who can mend a layer, by smallkey */
export function healthReport(entries: Iterable<Entry>, owners: (smallkey: string) => string[]): string {
	const sick = [...entries].filter(({ health }) => health).sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
	const layers = sick.slice(0, mostListed).map(({ smallkey, title, health }) => ({
		smallkey,
		title: { en: title.en.slice(0, 200), fr: title.fr.slice(0, 200) },
		health: health as Sickness,
		owners: owners(smallkey),
	}));
	const report: HealthReport = { version: indexVersion, sick: sick.length, layers };
	return `${JSON.stringify(report)}\n`;
}

/** Reads it; null where it is of another version, or no such file. */
export function readHealthReport(text: string): HealthReport | null {
	const value = parseObject(text);
	return value?.version === indexVersion && Array.isArray(value.layers)
		? (value as unknown as HealthReport)
		: null;
}
