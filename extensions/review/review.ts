import { structuredPatch } from "diff";
import { mapWithProgress } from "../../publish/build.ts";
import { draftAddress } from "../../registry/draft.ts";
import { linesOf } from "../../registry/json.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { groupByOwners, parseOwners } from "../../registry/owners.ts";
import { type LangEntry, type Registration, serviceTypeOf } from "../../registry/registration.ts";
import { type Lang, langs, layerPath } from "../../registry/smallkey.ts";
import { type FragmentSettings, layerFacts } from "../../registry/targets/facts.ts";
import { renderAt, targetNames } from "../../registry/targets/table.ts";
import { type Ask, clientsWith } from "../harvest/ask.ts";
import { checkLayer } from "../harvest/check-layer.ts";
import type { Finding } from "../harvest/finding.ts";
import { createReadCapabilities } from "../harvest/wms/read-capabilities.ts";
import { type ChangedLayer, type Located, readChanges } from "./layer-changes.ts";

interface ReviewOptions {
	repository: string;
	/** The commit that the change would be merged into. The owners are read from it. */
	base: string;
	head: string;
	settings: FragmentSettings & { publicUrl?: string };
	check: CheckServices;
}

export type LayerChange = Awaited<ReturnType<typeof layerChange>>;

export function servicesOf({ after }: ChangedLayer): { lang: Lang; address: string }[] {
	return after ? langs.map((lang) => ({ lang, address: after.registration[lang].service_url })) : [];
}

export type Review = Awaited<ReturnType<typeof review>>;

const maxDraftLength = 4_000;

/** Layers with a draft: a comment has no room for more. */
const maxDrafts = 100;

export function isWrong({ problems, services, obstacle }: Review): boolean {
	return obstacle !== null || problems.length > 0 || services.wrong.length > 0;
}

/** Also asks the services of the layers whose addresses a change touches. */
export async function review({ repository, base, head, settings, check }: ReviewOptions) {
	const { layers, paths, outside, ...changes } = await readChanges(repository, base, head);
	const { owners } = parseOwners(changes.owners);
	const { problems, warnings } = changes;
	const services = await askServices(layers, check);
	const rows = layerRows({ layers, problems, services, warnings }).filter(({ verb }) => verb !== "removed");
	const drafted = new Set(rows.slice(0, maxDrafts).map(({ layer }) => layer));
	return {
		/** Why it cannot be merged; null if it can. */
		obstacle: changes.obstacle,
		problems,
		warnings,
		services,
		/** Sorted by smallkey. */
		layers: await Promise.all(
			layers.map((layer) => layerChange(layer, settings, drafted.has(layer) ? settings.publicUrl : "")),
		),
		/** Who has to approve what; null if the owners file of the base is missing or invalid. */
		approvals: owners && groupByOwners(owners, [...outside, ...paths]),
		outside,
	};
}

async function layerChange(layer: ChangedLayer, settings: FragmentSettings, publicUrl = "") {
	const address = await draftAddress(publicUrl, layer);
	return {
		...layer,
		fragments: () => (layer.verb === "wrong" ? [] : fragmentChanges(layer, settings)),
		/** Address of the page that shows the layer as a draft; null without such a page. */
		draft: address !== null && address.length <= maxDraftLength ? address : null,
	};
}

/** Never rejects. */
export type CheckServices = (layer: CheckedLayer) => Promise<{ findings: Finding[] }>;

const maxAskingMs = 8 * 60_000;

/** Services without an answer in time are reported as down. */
export function createCheckServices(settings: Parameters<typeof clientsWith>[0]): CheckServices {
	const end = AbortSignal.timeout(maxAskingMs);
	const client = clientsWith(settings);
	const ask: Ask = (address) => client.ask(address, end);
	const read = createReadCapabilities(ask);
	return ({ registration }) => checkLayer(registration, { ask, read });
}

/** Layers of one change whose services are asked. A larger change is a batch; the weekly check asks its services. */
const maxAsked = 200;

/** Layers. `clientsWith` limits the number of requests. */
const maxConcurrent = 16;

async function askServices(layers: readonly ChangedLayer[], check: CheckServices) {
	const touched = layers.flatMap((layer) => {
		const langs = touchedLangs(layer);
		return layer.after && langs.length > 0 ? [{ ...layer, after: layer.after, langs }] : [];
	});
	const checks = await mapWithProgress(
		touched.slice(0, maxAsked),
		"asking services",
		maxConcurrent,
		async ({ after, langs, ...layer }) => {
			const { findings } = await check(after);
			return { ...layer, findings: findings.filter(({ lang }) => langs.includes(lang)) };
		},
	);
	const findingsOf = (state: Finding["state"]): Located[] =>
		checks.flatMap(({ smallkey, text: content, findings }) => {
			const lineAt = linesOf(content);
			return findings
				.filter((finding) => finding.state === state)
				.map(({ pointer, text }) => {
					return { file: layerPath(smallkey), line: lineAt(pointer), text: `${pointer}: ${text}` };
				});
		});
	return {
		/** The registration is wrong: these fail the check. */
		wrong: findingsOf("wrong"),
		/** Their server is down or odd: these never block. */
		down: findingsOf("down"),
		unasked: touched.slice(maxAsked).map(({ smallkey }) => smallkey),
	};
}

function touchedLangs({ before, after }: ChangedLayer): Lang[] {
	if (!after) return [];
	const requestOf = (registration: Registration, lang: Lang) => {
		const { service_url, layer }: LangEntry = registration[lang];
		return JSON.stringify([serviceTypeOf(registration, lang), service_url, layer]);
	};
	const [old, fresh] = [before?.registration, after.registration];
	return langs.filter((lang) => !old || requestOf(old, lang) !== requestOf(fresh, lang));
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
		const target = fresh.findIndex((text, index) => text !== null || old[index] != null);
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
	const options = { context: 3, maxEditLength: maxEdits };
	const [old, fresh] = [before, after].map((lines) => `${lines.join("\n")}\n`) as [string, string];
	const patch = structuredPatch("", "", old, fresh, "", "", options);
	if (!patch) return [`-${before.length} lines`, `+${after.length} other lines`];
	return patch.hunks.flatMap((hunk, index) => [...(index > 0 ? [" …"] : []), ...hunk.lines]);
}

/** Layers of a change up to which each is shown with its fragments; of a larger one a table shows all layers. */
export const maxDetailed = 20;

const verbs: readonly LayerChange["verb"][] = ["wrong", "changed", "removed", "added"];

interface Remarks extends Pick<Awaited<ReturnType<typeof readChanges>>, "problems" | "warnings"> {
	services: Awaited<ReturnType<typeof askServices>>;
}

/** What is wrong (an `error` fails the check) or odd, in the order in which it is shown. `state` is for a table of layers. */
export function remarksOf({ problems, services, warnings }: Remarks) {
	const down = "Their server is down or odd. This blocks nothing.";
	const wrong = "The services say that this change is wrong";
	return [
		{ level: "error", state: "to correct", title: "To correct", located: problems },
		{ level: "error", state: "wrong service", title: wrong, located: services.wrong },
		{ level: "warning", state: "service down", title: down, located: services.down },
		{ level: "warning", state: "odd", title: "Accepted, but probably not meant", located: warnings },
	] as const;
}

/**
 * First the layers with something wrong, then the changed, the removed and the added ones. `state` is empty if nothing is
 * wrong or odd.
 */
export function layerRows<Layer extends ChangedLayer>({
	layers,
	...review
}: Remarks & { layers: readonly Layer[] }) {
	const remarks = remarksOf(review);
	const paths = remarks.map(({ located }) => new Set(located.map(({ file }) => file)));
	const rows = layers.map((layer) => {
		const { smallkey, verb, before, after } = layer;
		const index = verb === "wrong" ? 0 : paths.findIndex((files) => files.has(layerPath(smallkey)));
		const rank = (index < 0 ? remarks.length : index) * verbs.length + verbs.indexOf(verb);
		const en: Partial<LangEntry> = (after ?? before)?.registration.en ?? {};
		const name = en.service_name || (en.layer ?? "");
		return { smallkey, verb, state: remarks[index]?.state ?? "", name, layer, rank };
	});
	return rows.sort((a, b) => a.rank - b.rank);
}
