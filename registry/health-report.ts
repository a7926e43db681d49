import type { Sickness } from "./health.ts";
import type { Lang } from "./smallkey.ts";
import { tryJson } from "./try-json.ts";

/** The file that lists the sick layers for people. */
export const healthReportPath = "index/health.json";

const reportVersion = 3;

export interface HealthReport {
	version: typeof reportVersion;
	sick: number;
	/** Numbers of layers that were checked, and that were not yet. */
	checked: number;
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

export interface SickLayer extends Sickness {
	smallkey: string;
	title: Record<Lang, string>;
}

/** The text of a report without anything in it that changes from build to build. */
export function healthReportText(checked: number, unchecked: number, groups: HealthGroup[]): string {
	const sick = groups.reduce((sum, { layers }) => sum + layers.length, 0);
	const report: HealthReport = { version: reportVersion, sick, checked, unchecked, groups };
	return `${JSON.stringify(report)}\n`;
}

/** Reads it; null where it is of another version, or no such file. */
export function parseHealthReport(text: string): HealthReport | null {
	const value = tryJson(text) as HealthReport | null;
	const isWhole = typeof value?.checked === "number" && Array.isArray(value.groups);
	return isWhole && value.version === reportVersion ? value : null;
}
