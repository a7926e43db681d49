import type { Entry } from "../registry/entries.ts";
import {
	type HealthGroup,
	healthReportPath,
	healthReportText,
	parseHealthReport,
	type SickLayer,
} from "../registry/health.ts";
import { IndexBroken } from "./chunks.ts";

/** The owners of a layer, who can correct it, by its smallkey. */
export type OwnersOf = (smallkey: string) => readonly string[];

/** Longest title in the report, in characters. */
const maxTitleLength = 200;

/**
 * Renders the health report after some layers have changed.
 * @param text the earlier report; null if there were no layers
 * @param before the changed layers as they were, by smallkey
 * @param after the same layers as they are now; null for a removed layer
 * @throws {IndexBroken} if the earlier report is incomplete
 */
export function updateHealth(
	text: string | null,
	before: ReadonlyMap<string, Entry>,
	after: ReadonlyMap<string, Entry | null>,
	ownersOf: OwnersOf,
): string {
	const report = text === null ? { checked: 0, unchecked: 0, groups: [] } : parseHealthReport(text);
	if (!report) throw new IndexBroken(`${healthReportPath}: not whole or of another version`);
	const now = [...after.values()].filter((entry) => entry !== null);
	const groups = new Map<string, HealthGroup>();
	const add = (host: string, layer: SickLayer) => {
		const owner = ownersOf(layer.smallkey).join(", ");
		const name = JSON.stringify([owner, host]);
		const group = groups.get(name) ?? { owner, host, layers: [] };
		groups.set(name, group);
		group.layers.push(layer);
	};
	for (const { host, layers } of report.groups)
		for (const layer of layers) if (!after.has(layer.smallkey)) add(host, layer);
	for (const { smallkey, title, health, address } of now) {
		const cut = { en: title.en.slice(0, maxTitleLength), fr: title.fr.slice(0, maxTitleLength) };
		if (health) add(hostOf(address.en), { smallkey, title: cut, ...health });
	}
	for (const { layers } of groups.values()) layers.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
	const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
	const unchecked = report.unchecked - countUnchecked([...before.values()]) + countUnchecked(now);
	const all = report.checked + report.unchecked - before.size + now.length;
	return healthReportText(all - unchecked, unchecked, sorted);
}

function countUnchecked(entries: readonly Entry[]): number {
	return entries.filter(({ health }) => health === null).length;
}

/** Host of an address, with its port if it has one; empty if the address is not a URL. */
function hostOf(address: string): string {
	return URL.canParse(address) ? new URL(address).host : "";
}
