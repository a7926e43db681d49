import { type Health, weeksSince } from "../../registry/health.ts";
import { nameOf, type Owners, ownersOf } from "../../registry/owners.ts";
import { type Lang, langs, layerPath } from "../../registry/smallkey.ts";
import { code, counted, linesWithin } from "../../registry/untrusted-text.ts";
import type { Watched } from "./finding.ts";

/** GitHub accepts 65,536 characters. */
const maxBodyLength = 60_000;

const minNamedWeeks = 3;

type Findings = Watched["findings"];

interface LayerHealth {
	smallkey: string;
	findings: Findings;
	changed: boolean;
}

interface Notable extends LayerHealth {
	owners: string;
	weeks: number;
	isLongDown: boolean;
}

/** The weekly pull request's text. */
export function refreshText(
	layers: readonly LayerHealth[],
	{ health, week }: { health: Health; week: string },
	owners: Owners | null,
): string {
	const all = layers.filter(({ changed, findings }) => changed || findings.length > 0);
	const notable = all.map((layer): Notable => {
		const sickness = health.get(layer.smallkey);
		const weeks = sickness ? weeksSince(sickness.since, week) : 0;
		const names = owners && ownersOf(owners, layerPath(layer.smallkey)).map(nameOf).map(code).join(" or ");
		const isLongDown = sickness?.state === "down" && weeks >= minNamedWeeks;
		return { ...layer, owners: names ?? "no known owner", weeks, isLongDown };
	});
	const changed = notable.filter((layer) => layer.changed).length;
	const sick = notable.filter(({ findings }) => findings.length > 0).length;
	const checked = `${counted(layers.length, "layer")} checked: ${changed} service descriptions changed`;
	const groups = [...new Set(notable.map((layer) => layer.owners))].sort();
	const isOf = (names: string) => (layer: Notable) => layer.owners === names;
	const lines = [
		`${checked}, ${counted(sick, "layer")} with findings.`,
		"",
		...longDown(notable.filter(({ isLongDown }) => isLongDown)),
		...groups.flatMap((names) => table(names, notable.filter(isOf(names)))),
	];
	// Each line is complete in itself, so the text is well formed wherever it ends.
	const closing = () => ["", "The rest has no room here: see the changed files."];
	return linesWithin(lines, maxBodyLength, closing).join("\n").trimEnd();
}

function longDown(layers: readonly Notable[]): string[] {
	if (layers.length === 0) return [];
	const items = layers.map(({ smallkey, findings, owners, weeks }) => {
		const reasons = findings.filter(({ state }) => state === "down").map(({ text }) => code(text));
		return `- ${code(smallkey)}, of ${owners}: ${weeks} weeks in a row: ${reasons.join(", ")}`;
	});
	return [`### Services that have been down for ${minNamedWeeks} weeks and more`, "", ...items, ""];
}

function table(names: string, layers: readonly Notable[]): string[] {
	const rows = layers.map(({ smallkey, findings, changed, weeks }) => {
		const cells = [
			code(smallkey),
			changed ? "changed" : "",
			...langs.map((lang) => statesOf(findings, lang)),
		];
		return `| ${[...cells, weeks || ""].join(" | ")} |`;
	});
	const head = ["| layer | description | en | fr | weeks sick |", "|---|---|---|---|---|"];
	return [`### ${names}`, "", ...head, ...rows, ""];
}

function statesOf(findings: Findings, lang: Lang): string {
	const ofLang = findings.filter((finding) => finding.lang === lang);
	return ofLang.length === 0 ? "well" : ofLang.map(({ state, text }) => `${state}: ${code(text)}`).join(", ");
}
