import { fieldNamed } from "../../registry/description.ts";
import { type Cause, type CauseCode, causeOf } from "../../registry/health.ts";
import {
	isVersion2,
	type LangEntry,
	type LangNode,
	type Registration,
	serviceTypeOf,
	takesAllLayers,
} from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { isGroup, leavesOf, serviceTitle } from "../../site/service/arcgis.ts";
import { findLayer, isUnreadable, legendFormatsOf, textFor } from "../../site/service/capabilities.ts";
import { isObject, listOf, textOf } from "../../site/service/decode.ts";
import { askLayer, askService } from "./arcgis/answers.ts";
import { readField } from "./arcgis/feature-layer.ts";
import { type Ask, Trouble } from "./ask.ts";
import { checkEntries, type Finding, findingOf, orTrouble, quote } from "./finding.ts";
import type { Clients, ReadCapabilities } from "./wms/read-capabilities.ts";

interface CheckedServices {
	/** Absent if the layer was not found. */
	titles: Partial<Record<Lang, string>>;
	findings: Finding[];
}

interface Checked {
	title: string | null;
	wrong: Wrong[];
}

/** @param state `well`: only to be known */
type Wrong = [member: string, what: Cause, state?: "well"];

const maxMissing = 10;

/** Checks a registration against the services of both languages. Never rejects: a service that fails is a finding. */
export async function checkLayer(
	registration: Registration,
	clients: Pick<Clients, "ask" | "read">,
): Promise<CheckedServices> {
	const checkService = (lang: Lang): Promise<Checked> => {
		if (serviceTypeOf(registration, lang) === "esriFeature")
			return checkFeature(registration[lang], clients.ask);
		if (isVersion2(registration)) return checkNode(registration[lang], lang, clients);
		return checkWms(registration[lang], lang, clients.read);
	};
	const checked: CheckedServices = { titles: {}, findings: [] };
	for (const lang of langs) {
		const result = await orTrouble(checkService(lang));
		if (result instanceof Trouble) {
			checked.findings.push(findingOf(registration, lang, result));
			continue;
		}
		if (result.title !== null) checked.titles[lang] = result.title;
		for (const [member, what, state = "wrong"] of result.wrong)
			checked.findings.push(findingOf(registration, lang, { state, what }, member));
	}
	return checked;
}

async function checkFeature(entry: LangEntry, ask: Ask): Promise<Checked> {
	const layer = await askLayer(entry.service_url, ask);
	const { display_field: field } = entry;
	const fields = listOf(layer.fields).filter(isObject).map(readField);
	const isMissing = field && fields.length > 0 && !fieldNamed(field, fields);
	const wrong: Wrong[] = isMissing ? [["display_field", causeOf("no-field", quote(field))]] : [];
	return { title: textOf(layer.name), wrong };
}

async function checkWms(entry: LangEntry, lang: Lang, read: ReadCapabilities): Promise<Checked> {
	const name = entry.layer ?? "";
	const capabilities = await read("WMS", entry.service_url, [name]);
	const match = findLayer(capabilities, name);
	if (!match) {
		const what = causeOf("no-layer", quote(name), capabilities.count);
		return { title: null, wrong: [["layer", what]] };
	}
	const { layer, listed } = match;
	const { featureInfoFormats } = capabilities;
	const legendFormats = [...new Set([...legendFormatsOf(layer), ...capabilities.legendFormats])];
	const wrong: Wrong[] = nameNotes(name, listed).map((what) => ["layer", what, "well"]);
	const { feature_info_type: infoType, legend_format: legendType } = entry;
	if (infoType && !layer.queryable) wrong.push(["feature_info_type", causeOf("no-query", quote(name))]);
	else if (infoType && !offers(featureInfoFormats, infoType))
		wrong.push(["feature_info_type", notOffered("no-query-format", infoType, featureInfoFormats)]);
	// A service whose capabilities name no legend may still have one, so that is not wrong.
	if (legendType && legendFormats.length > 0 && !offers(legendFormats, legendType))
		wrong.push(["legend_format", notOffered("no-legend-format", legendType, legendFormats)]);
	return { title: textFor(layer.title, lang), wrong };
}

function nameNotes(name: string, listed: string): Cause[] {
	const unreadable = [name, listed].find(isUnreadable);
	if (unreadable !== undefined) return [causeOf("name-unreadable", quote(unreadable))];
	return listed === name ? [] : [causeOf("listed-as", quote(name), quote(listed))];
}

function notOffered(code: CauseCode, type: string, formats: readonly string[]): Cause {
	return causeOf(code, type, quote(formats.join(", ")));
}

function offers(formats: readonly string[], type: string): boolean {
	const essence = (text: string) => text.split(";")[0]?.trim().toLowerCase();
	return formats.some((format) => essence(format) === essence(type));
}

async function checkNode(
	node: LangNode,
	lang: Lang,
	{ read, ask }: Pick<Clients, "ask" | "read">,
): Promise<Checked> {
	const names: readonly (string | number)[] = "scrape_only" in node ? (node.scrape_only ?? []) : [];
	const isOgc = node.service_type === "ogcWms" || node.service_type === "ogcWmts";
	const contents = isOgc
		? ogcContents(node, names.map(String), lang, read)
		: arcgisContents(node, names, ask);
	const { title, count, entries, has, notes } = await contents;
	if (takesAllLayers(node)) checkEntries(entries);
	const missing = [...names.entries()].filter(([, name]) => !has(name));
	const wrong = missing.slice(0, maxMissing).map(([index, name]): Wrong => {
		return [`scrape_only/${index}`, causeOf("no-layer", quote(String(name)), count)];
	});
	return { title, wrong: [...wrong, ...notes] };
}

interface Contents {
	title: string;
	count: number;
	/** Of the whole service. */
	entries: readonly unknown[];
	has: (name: unknown) => boolean;
	notes: Wrong[];
}

async function ogcContents(
	{ service_type: type, service_url: address }: LangNode,
	names: readonly string[],
	lang: Lang,
	read: ReadCapabilities,
): Promise<Contents> {
	const capabilities = await read(type === "ogcWms" ? "WMS" : "WMTS", address, names);
	const { layers, others, count } = capabilities;
	const matches = names.map((name) => findLayer(capabilities, name));
	const title = matches[0] ? textFor(matches[0].layer.title, lang) : "";
	const has = (name: unknown) => matches[names.indexOf(String(name))] !== null;
	const notes = matches.flatMap((match, at) =>
		nameNotes(names[at] ?? "", match?.listed ?? names[at] ?? "").map(
			(what): Wrong => [`scrape_only/${at}`, what, "well"],
		),
	);
	const entries = [...layers.keys(), ...others.keys()];
	return { title, count, entries, has, notes: notes.slice(0, maxMissing) };
}

async function arcgisContents(
	{ service_type: type, service_url: address }: LangNode,
	names: readonly unknown[],
	ask: Ask,
): Promise<Contents> {
	const document = await askService(address, type, ask);
	const layers = listOf(document.layers).filter(isObject);
	const tables = listOf(document.tables).filter(isObject);
	const ids = new Set([...layers, ...tables].map(({ id }) => id));
	// A MapServer draws a whole group as one picture.
	const groups = type === "esriFeatureServer" ? layers.filter(isGroup) : [];
	const odd = new Map<unknown, CauseCode>([
		...tables.map(({ id }) => [id, "table"] as const),
		...groups.map(({ id }) => [id, "group-entry"] as const),
	]);
	const notes = names.flatMap((name, index): Wrong[] => {
		const code = odd.get(name);
		return code ? [[`scrape_only/${index}`, causeOf(code, String(name))]] : [];
	});
	const title = serviceTitle(document, address);
	return { title, count: ids.size, entries: leavesOf(document), has: (name) => ids.has(name), notes };
}
