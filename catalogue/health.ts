import type { Entry } from "../registry/entries.ts";
import { type HealthGroup, healthReportText, parseHealthReport, type SickLayer } from "../registry/health.ts";

/** Who can correct a layer, by its smallkey. */
export type OwnersOf = (smallkey: string) => readonly string[];

/** Longest title in the report, in characters. */
const maxTitle = 200;

/**
 * The report of health after some layers have changed.
 * @param text the report before; null: there were no layers
 * @param before the changed layers as they were, by smallkey
 * @param after the same, as they are; null for one that is gone
 * @returns null where the report before is not whole
 */
export function updateHealth(
	text: string | null,
	before: ReadonlyMap<string, Entry>,
	after: ReadonlyMap<string, Entry | null>,
	ownersOf: OwnersOf,
): string | null {
	const report = text === null ? { checked: 0, unchecked: 0, groups: [] } : parseHealthReport(text);
	if (!report) return null;
	const now = [...after.values()].filter((entry) => entry !== null);
	const kept = report.groups.flatMap(({ host, layers }) =>
		layers
			.filter(({ smallkey }) => !after.has(smallkey))
			.map((layer) => ({ layer, host, owner: ownerOf(ownersOf, layer.smallkey) })),
	);
	const sick = [...kept, ...now.flatMap((entry) => sickLayer(entry, ownersOf) ?? [])];
	const unchecked = report.unchecked - countUnchecked([...before.values()]) + countUnchecked(now);
	const all = report.checked + report.unchecked - before.size + now.length;
	return healthReportText(all - unchecked, unchecked, groupsOf(sick));
}

interface PlacedLayer {
	layer: SickLayer;
	host: string;
	owner: string;
}

function ownerOf(ownersOf: OwnersOf, smallkey: string): string {
	return ownersOf(smallkey).join(", ");
}

function countUnchecked(entries: readonly Entry[]): number {
	return entries.filter(({ health }) => health === null).length;
}

function sickLayer(entry: Entry, ownersOf: OwnersOf): PlacedLayer | null {
	const { smallkey, title, health, address } = entry;
	if (!health) return null;
	const layer = {
		smallkey,
		title: { en: title.en.slice(0, maxTitle), fr: title.fr.slice(0, maxTitle) },
		...health,
	};
	return { layer, host: hostOf(address.en), owner: ownerOf(ownersOf, smallkey) };
}

function groupsOf(sick: readonly PlacedLayer[]): HealthGroup[] {
	const groups = new Map<string, HealthGroup>();
	for (const { layer, host, owner } of sick) {
		const name = JSON.stringify([owner, host]);
		const group = groups.get(name) ?? { owner, host, layers: [] };
		groups.set(name, group);
		group.layers.push(layer);
	}
	for (const { layers } of groups.values()) layers.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
	return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

/** Host of an address, with its port where it has one; empty where it has none. */
function hostOf(address: string): string {
	return URL.canParse(address) ? new URL(address).host : "";
}
