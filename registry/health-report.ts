import type { SickState } from "./health.ts";
import type { Lang } from "./smallkey.ts";

/** The file that lists the sick layers for people. */
export const healthReportPath = "index/health.json";

/** Version of that file. */
const reportVersion = 3;

/** The content of that file. */
export interface HealthReport {
	version: typeof reportVersion;
	/** Number of all sick layers. */
	sick: number;
	/** Number of layers that were not looked at yet. */
	unchecked: number;
	/** All sick layers, by who can correct them and by the host of their service. */
	groups: HealthGroup[];
}

/** The sick layers of the same owners at one host. */
export interface HealthGroup {
	/** With commas between them; empty where none is named. */
	owner: string;
	/** With its port where it has one; empty where the address has none. */
	host: string;
	/** Sorted by smallkey. */
	layers: SickLayer[];
}

/** A layer that was seen to be sick. */
export interface SickLayer {
	smallkey: string;
	title: Record<Lang, string>;
	state: SickState;
	/** The week in which it was first seen so, as ISO 8601 writes it: `2026-W10`. */
	since: string;
	/** Whether a repair is proposed. */
	repair?: true;
}

/** The text of a report without anything in it that changes from build to build. */
export function healthReportText(unchecked: number, groups: readonly HealthGroup[]): string {
	const sick = groups.reduce((sum, { layers }) => sum + layers.length, 0);
	const report: HealthReport = { version: reportVersion, sick, unchecked, groups: [...groups] };
	return `${JSON.stringify(report)}\n`;
}

/** Reads it; null where it is of another version, or no such file. */
export function parseHealthReport(text: string): HealthReport | null {
	try {
		const value = JSON.parse(text) as HealthReport | null;
		return value?.version === reportVersion && Array.isArray(value.groups) ? value : null;
	} catch {
		return null;
	}
}
