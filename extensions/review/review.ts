import { structuredPatch } from "diff";
import pMap from "p-map";
import type { Configuration } from "../../api/service/settings.ts";
import { draftAddress } from "../../registry/draft.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { parseOwners } from "../../registry/owners.ts";
import { type LangEntry, type Registration, serviceTypeOf } from "../../registry/registration.ts";
import { type Lang, langs, layerPath } from "../../registry/smallkey.ts";
import { type FragmentSettings, layerFacts } from "../../registry/targets/facts.ts";
import { renderAt, targetNames } from "../../registry/targets/table.ts";
import { clientsWith } from "../harvest/ask.ts";
import { checkLayer } from "../harvest/check-layer.ts";
import type { Finding } from "../harvest/finding.ts";
import { createClients } from "../harvest/wms/read-capabilities.ts";
import { type ChangedLayer, type Located, readChanges } from "./layer-changes.ts";
import { linesOf } from "./lines.ts";
import { groupByOwners } from "./owners.ts";

interface ReviewOptions {
	repository: string;
	/** The commit that the change would be merged into. The owners are read from it. */
	base: string;
	head: string;
	settings: FragmentSettings & { publicUrl?: string };
	check: CheckServices;
}

/** In the order in which they are shown. An `error` fails the check; `state` is for a table of layers. */
const kinds = [
	{ level: "error", state: "to correct", title: "To correct" },
	{ level: "error", state: "wrong service", title: "The services say that this change is wrong" },
	{ level: "warning", state: "service down", title: "Their server is down or odd. This blocks nothing." },
	{ level: "warning", state: "odd", title: "Accepted, but probably not meant" },
] as const;

type Kind = (typeof kinds)[number];

export type Remark = Kind & Located;

export type Review = Awaited<ReturnType<typeof review>>;

export type LayerRow = Review["layers"][number];

const maxDraftLength = 4_000;

/** Layers that are shown with draft and fragments; of a larger change a table shows all layers. */
export const maxDetailed = 20;

export function isWrong({ obstacle, errors }: Review): boolean {
	return obstacle !== null || errors > 0;
}

/** Also asks the services of the layers whose addresses a change touches. */
export async function review({ repository, base, head, settings, check }: ReviewOptions) {
	const { layers, paths, outside, obstacle, ...changes } = await readChanges(repository, base, head);
	const { owners } = parseOwners(changes.owners);
	const { wrong, down, unasked } = await askServices(layers, check);
	const located: Located[][] = [changes.problems, wrong, down, changes.warnings];
	const remarks = kinds.flatMap((kind, index) =>
		(located[index] ?? []).map((place): Remark => ({ ...place, ...kind })),
	);
	const withTexts = rowsOf(layers, remarks).map(async (row, index) => {
		const isDetailed = index < maxDetailed;
		const isDrafted = isDetailed && row.verb !== "removed";
		const address = isDrafted ? await draftAddress(settings.publicUrl ?? "", row) : null;
		return {
			...row,
			/** Address of the page that shows the layer as a draft; null without such a page. */
			draft: address !== null && address.length <= maxDraftLength ? address : null,
			/** Of those of the first `maxDetailed` layers that are not wrong. */
			fragments: isDetailed && row.verb !== "wrong" ? fragmentChanges(row, settings) : [],
		};
	});
	return {
		/** Why it cannot be merged; null if it can. */
		obstacle,
		remarks,
		/** The number of remarks that fail the check. */
		errors: remarks.filter(({ level }) => level === "error").length,
		/** The number of layers whose services were not asked, because there are too many at once. */
		unasked,
		/** First those with something wrong, then the changed, the removed and the added ones. */
		layers: await Promise.all(withTexts),
		/** Who has to approve what; null if the owners file of the base is missing or invalid. */
		approvals: owners && groupByOwners(owners, [...outside, ...paths]),
		outside,
	};
}

const verbs: readonly ChangedLayer["verb"][] = ["wrong", "changed", "removed", "added"];

function rowsOf(layers: readonly ChangedLayer[], remarks: readonly Remark[]) {
	const states = new Map(remarks.toReversed().map(({ file, state }) => [file, state]));
	const order: string[] = [...kinds.map(({ state }) => state), ""];
	const rows = layers.map((layer) => {
		const { smallkey, verb, before, after } = layer;
		const en: Partial<LangEntry> = (after ?? before)?.registration.en ?? {};
		return {
			...layer,
			/** Empty if nothing is wrong or odd. */
			state: verb === "wrong" ? "to correct" : (states.get(layerPath(smallkey)) ?? ""),
			name: en.service_name || (en.layer ?? ""),
		} as const;
	});
	const rankOf = ({ state, verb }: (typeof rows)[number]) =>
		order.indexOf(state) * verbs.length + verbs.indexOf(verb);
	return rows.sort((a, b) => rankOf(a) - rankOf(b));
}

/** Never rejects. */
export type CheckServices = (layer: CheckedLayer) => Promise<Finding[]>;

const maxAskingMs = 8 * 60_000;

/** Services without an answer in time are reported as down. */
export function createCheckServices({ network, mapWkid }: Configuration): CheckServices {
	const end = AbortSignal.timeout(maxAskingMs);
	const { ask } = clientsWith(network);
	// Also ends requests that several layers share: they would keep the process running.
	const clients = createClients((address, _signal, take) => ask(address, end, take), mapWkid);
	return ({ registration }) => checkLayer(registration, clients);
}

/** Layers of one change whose services are asked. A larger change is a batch; the weekly check asks its services. */
const maxAsked = 200;

/** Layers. `clientsWith` limits the number of requests. */
const maxConcurrent = 16;

/** `wrong`: the registration contradicts its service. `down`: the server is down or odd. */
async function askServices(layers: readonly ChangedLayer[], check: CheckServices) {
	const touched = layers.filter((layer) => touchedLangs(layer).length > 0);
	const task = async (layer: ChangedLayer) => {
		const langs = touchedLangs(layer);
		const findings = await check(layer.after as CheckedLayer);
		const lineAt = linesOf(layer.text);
		return findings
			.filter(({ lang }) => langs.includes(lang))
			.map(({ state, pointer, text }) => {
				const file = layerPath(layer.smallkey);
				return { state, file, line: lineAt(pointer), text: `${pointer}: ${text}` };
			});
	};
	const checked = touched.slice(0, maxAsked);
	const findings = (await pMap(checked, task, { concurrency: maxConcurrent })).flat();
	const [wrong = [], down = []] = ["wrong", "down"].map((kind) =>
		findings.filter(({ state }) => state === kind),
	);
	return { wrong, down, unasked: touched.length - checked.length };
}

function touchedLangs({ before, after }: ChangedLayer): Lang[] {
	const requestOf = (registration: Registration, lang: Lang) => {
		const { service_url, layer }: LangEntry = registration[lang];
		return JSON.stringify([serviceTypeOf(registration, lang), service_url, layer]);
	};
	const [old, fresh] = [before?.registration, after?.registration];
	return langs.filter((lang) => fresh && (!old || requestOf(old, lang) !== requestOf(fresh, lang)));
}

/** In one language; no lines if the fragments are equal. */
export type FragmentChange = ReturnType<typeof fragmentChanges>[number];

const maxLines = 80;

/** Characters of a line: an image can have a hundred thousand. */
const maxLineLength = 300;

/** Lines that may differ before the diff is given up: its time grows with the square of their number. */
const maxEdits = 2_000;

/** In the first target that can express the layer. */
function fragmentChanges({ smallkey, before, after }: ChangedLayer, settings: FragmentSettings) {
	const { targets = targetNames } = settings;
	return langs.map((lang) => {
		const render = (layer: CheckedLayer | null) => {
			const facts = layer && layerFacts(lang, smallkey, layer.registration, layer.description, settings);
			return targets.map((name) => facts && renderAt(name, facts));
		};
		const [old, fresh] = [render(before), render(after)];
		const target = targets.findIndex((_, index) => fresh[index] != null || old[index] != null);
		const all = differences(linesIn(old[target]), linesIn(fresh[target]));
		/** Lines of a unified diff: each starts with a space, `+` or `-`. */
		const lines = all.slice(0, maxLines).map(cut);
		return { lang, lines, hidden: all.length - lines.length };
	});
}

function linesIn(fragment: string | null | undefined): string[] {
	return fragment == null ? [] : JSON.stringify(JSON.parse(fragment), null, 2).split("\n");
}

function cut(line: string): string {
	return line.length > maxLineLength ? `${line.slice(0, maxLineLength).toWellFormed()}…` : line;
}

function differences(before: string[], after: string[]): string[] {
	if (before.length === 0) return after.map((line) => `+${line}`);
	if (after.length === 0) return before.map((line) => `-${line}`);
	const [old, fresh] = [before, after].map((lines) => `${lines.join("\n")}\n`) as [string, string];
	const patch = structuredPatch("", "", old, fresh, "", "", { context: 3, maxEditLength: maxEdits });
	if (!patch) return [`-${before.length} lines`, `+${after.length} other lines`];
	return patch.hunks.flatMap((hunk, index) => [...(index > 0 ? [" …"] : []), ...hunk.lines]);
}
