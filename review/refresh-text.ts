import type { Watched } from "../harvest/watch-layer.ts";
import { type Health, weeksSince } from "../registry/health.ts";
import { code, linesWithin } from "../registry/markdown.ts";
import { type Owners, ownersOf } from "../registry/owners.ts";
import { type Lang, langs, layerPath } from "../registry/smallkey.ts";
import { counted } from "../terminal/plain.ts";

/** Longest text of a pull request, in characters: GitHub takes 65,536. */
const longestBody = 60_000;

/** Weeks after which a service that is down is named. */
const namedAfter = 3;

type Findings = Watched["findings"];

export interface LayerHealth {
	smallkey: string;
	findings: Findings;
	changed: boolean;
}

/**
 * The text of the weekly pull request: services that have failed for long, then a table for each owner of the layers that
 * changed or fail. All that is well is only counted.
 */
export function refreshText(
	layers: readonly LayerHealth[],
	{ health, week }: { health: Health; week: string },
	owners: Owners | null,
): string {
	const weeksOf = (smallkey: string) => {
		const sick = health.get(smallkey);
		return sick ? weeksSince(sick.since, week) : 0;
	};
	const isLongDown = (smallkey: string) => {
		return health.get(smallkey)?.state === "down" && weeksOf(smallkey) >= namedAfter;
	};
	const notable = layers.filter(({ changed, findings }) => changed || findings.length > 0);
	const changed = notable.filter((layer) => layer.changed).length;
	const intro = [
		`${counted(layers.length, "layer")} checked: ${changed} service descriptions changed, `,
		`${counted(notable.filter(({ findings }) => findings.length > 0).length, "layer")} with findings.`,
	].join("");
	const groups = new Map<string, LayerHealth[]>();
	for (const layer of notable) {
		const names = ownerNames(owners, layer.smallkey);
		groups.set(names, [...(groups.get(names) ?? []), layer]);
	}
	const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
	const lines = [
		...[intro, ""],
		...longDown(
			notable.filter(({ smallkey }) => isLongDown(smallkey)),
			weeksOf,
			owners,
		),
		...sorted.flatMap(([names, group]) => table(names, group, weeksOf)),
	];
	return bounded(lines);
}

function ownerNames(owners: Owners | null, smallkey: string): string {
	return owners ? ownersOf(owners, layerPath(smallkey)).map(code).join(" or ") : "no known owner";
}

type WeeksOf = (smallkey: string) => number;

function longDown(layers: readonly LayerHealth[], weeksOf: WeeksOf, owners: Owners | null): string[] {
	if (layers.length === 0) return [];
	const items = layers.map(({ smallkey, findings }) => {
		const reasons = findings.filter(({ state }) => state === "down").map(({ text }) => code(text));
		const place = `${code(smallkey)}, of ${ownerNames(owners, smallkey)}`;
		return `- ${place}: ${weeksOf(smallkey)} weeks in a row: ${reasons.join(", ")}`;
	});
	return [`### Services that have been down for ${namedAfter} weeks and more`, "", ...items, ""];
}

function table(names: string, layers: readonly LayerHealth[], weeksOf: WeeksOf): string[] {
	const rows = layers.map(({ smallkey, findings, changed }) => {
		const weeks = weeksOf(smallkey) || "";
		const cells = [code(smallkey), changed ? "changed" : "", ...langs.map((lang) => seenOf(findings, lang))];
		return `| ${[...cells, weeks].join(" | ")} |`;
	});
	const head = ["| layer | description | en | fr | weeks sick |", "|---|---|---|---|---|"];
	return [`### ${names}`, "", ...head, ...rows, ""];
}

function seenOf(findings: Findings, lang: Lang): string {
	const own = findings.filter((finding) => finding.lang === lang);
	return own.length === 0 ? "well" : own.map(({ state, text }) => `${state}: ${code(text)}`).join(", ");
}

/** The lines as far as GitHub takes them: every line is complete in itself, so the text is well formed wherever it ends. */
function bounded(lines: string[]): string {
	const shown = linesWithin(lines, longestBody);
	if (shown.length === lines.length) return lines.join("\n").trimEnd();
	return [...shown, "", "The rest has no room here: see the changed files."].join("\n");
}
