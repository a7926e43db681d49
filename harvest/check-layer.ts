import {
	isVersion2,
	type LangEntry,
	type LangNode,
	type Registration,
	serviceTypeOf,
} from "../registry/registration.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import { isObject, listOf, textOf } from "./answer.ts";
import { askDocument } from "./arcgis/answers.ts";
import { askLayer } from "./arcgis/feature-layer.ts";
import { type Fault, type Finding, quote } from "./finding.ts";
import type { Ask } from "./net/ask.ts";
import { type Capabilities, type CapabilitiesLayer, legendFormatsOf } from "./wms/capabilities.ts";
import { createReadCapabilities, type ReadCapabilities } from "./wms/read-capabilities.ts";

export interface WmsFacts {
	title: string;
	queryable: boolean;
	legendFormats: string[];
	featureInfoFormats: string[];
}

/** What a service says of one language of a layer: its title, and for wms its formats. */
export type LayerFacts = { title: string } | WmsFacts;

export interface CheckedServices {
	facts: Partial<Record<Lang, LayerFacts>>;
	findings: Finding[];
}

/**
 * Asks the services behind one layer whether its registration is right: for wms GetCapabilities, for feature the
 * layer's own document, for version 2.0 the service's, in both languages. It never rejects: a service that fails is a finding of kind `server`.
 */
export type CheckLayer = (registration: Registration) => Promise<CheckedServices>;

/** The result of checking one language: facts where the service gave any, and what is wrong, each at a member. */
interface Checked {
	facts: LayerFacts | null;
	wrong: Wrong[];
}

type Wrong = [kind: Fault, member: string, text: string];

const maxMissing = 10;

/**
 * Makes the check that a run shares, so that a service is asked once for all of its layers.
 * @param ask as `createAsk({ fetch: createFetch(…) })` makes it
 * @param read reads capabilities; handed in where other work reads the same ones
 */
export function createCheckLayer(ask: Ask, read = createReadCapabilities(ask)): CheckLayer {
	const checkService = (registration: Registration, lang: Lang): Promise<Checked> => {
		if (serviceTypeOf(registration, lang) === "esriFeature") return checkFeature(registration[lang], ask);
		if (isVersion2(registration)) return checkNode(registration[lang], read, ask);
		return checkWms(registration[lang], read);
	};
	return async (registration) => {
		const checked: CheckedServices = { facts: {}, findings: [] };
		for (const lang of langs) {
			const { facts, wrong } = await checkService(registration, lang);
			if (facts) checked.facts[lang] = facts;
			const { service_url: address } = registration[lang];
			for (const [kind, member, text] of wrong) {
				checked.findings.push({ kind, lang, pointer: `/${lang}/${member}`, text: `${address} ${text}` });
			}
		}
		return checked;
	};
}

function notChecked({ kind, text }: { kind: Fault; text: string }): Checked {
	return { facts: null, wrong: [[kind, "service_url", text]] };
}

async function checkFeature(entry: LangEntry, ask: Ask): Promise<Checked> {
	const answer = await askLayer(entry.service_url, ask);
	if (!answer.layer) return notChecked(answer.trouble);
	const { display_field: field } = entry;
	const names = listOf(answer.layer.fields)
		.filter(isObject)
		.map(({ name }) => textOf(name));
	const isMissing = field && names.length > 0 && !names.includes(field);
	const wrong: Wrong[] = isMissing ? [["registration", "display_field", `has no field ${quote(field)}`]] : [];
	return { facts: { title: textOf(answer.layer.name) }, wrong };
}

async function checkWms(entry: LangEntry, read: ReadCapabilities): Promise<Checked> {
	const name = entry.layer ?? "";
	const outcome = await read("WMS", entry.service_url, name);
	if (!outcome.capabilities) return notChecked(outcome);
	const { capabilities } = outcome;
	const layer = capabilities.layers.get(name);
	if (!layer) {
		const text = `has no layer ${quote(name)} among its ${capabilities.layers.size}`;
		return { facts: null, wrong: [["registration", "layer", text]] };
	}
	const legendFormats = [...new Set([...legendFormatsOf(layer), ...capabilities.legendFormats])];
	const { title, queryable } = layer;
	const { featureInfoFormats } = capabilities;
	const facts = { title, queryable, legendFormats: legendFormats.toSorted(), featureInfoFormats };
	return {
		facts,
		wrong: [...wrongFeatureInfo(entry, layer, capabilities), ...wrongLegend(entry, legendFormats)],
	};
}

function wrongFeatureInfo(
	{ feature_info_type: type, layer: name = "" }: LangEntry,
	{ queryable }: CapabilitiesLayer,
	{ featureInfoFormats: formats }: Capabilities,
): Wrong[] {
	if (!type || (queryable && offers(formats, type))) return [];
	const text = queryable
		? `does not offer ${type} for queries, only: ${quote(formats.join(", "))}`
		: `cannot be queried for ${quote(name)}`;
	return [["registration", "feature_info_type", text]];
}

/** A service that names no legend at all may still have one. */
function wrongLegend({ legend_format: type }: LangEntry, formats: readonly string[]): Wrong[] {
	if (!type || formats.length === 0 || offers(formats, type)) return [];
	const text = `does not offer ${type} for legends, only: ${quote(formats.join(", "))}`;
	return [["registration", "legend_format", text]];
}

/** Whether a media type is offered; its parameters and its case do not matter. */
function offers(formats: readonly string[], type: string): boolean {
	const essence = (text: string) => text.split(";")[0]?.trim().toLowerCase();
	return formats.some((format) => essence(format) === essence(type));
}

/** Checks a node of version 2.0 that is no feature layer: whether the service exists, and has the named layers. */
async function checkNode(node: LangNode, read: ReadCapabilities, ask: Ask): Promise<Checked> {
	const named: readonly (string | number)[] = "scrape_only" in node ? (node.scrape_only ?? []) : [];
	const contents = await contentsOf(node, String(named[0] ?? ""), read, ask);
	if ("kind" in contents) return notChecked(contents);
	const { title, layers } = contents;
	const missing = [...named.entries()].filter(([, name]) => !layers.has(name));
	const wrong = missing.slice(0, maxMissing).map(([index, name]): Wrong => {
		const text = `has no layer ${quote(String(name))} among its ${layers.size}`;
		return ["registration", `scrape_only/${index}`, text];
	});
	const more = missing.length - wrong.length;
	if (more > 0) wrong.push(["registration", "scrape_only", `does not have ${more} more of its layers`]);
	return { facts: { title }, wrong };
}

/** The title of a service and its layers by name or number, or why they are not known. */
type Contents = { title: string; layers: ReadonlySet<unknown> } | { kind: Fault; text: string };

async function contentsOf(node: LangNode, name: string, read: ReadCapabilities, ask: Ask): Promise<Contents> {
	const { service_type: type, service_url: address } = node;
	if (type !== "ogcWms" && type !== "ogcWmts") {
		const answer = await askDocument(address, "service", ask);
		if (!answer.document) return answer.trouble;
		const { mapName, name, layers, tables } = answer.document;
		const ids = [...listOf(layers), ...listOf(tables)].filter(isObject).map(({ id }) => id);
		return { title: textOf(mapName) || textOf(name), layers: new Set(ids) };
	}
	const outcome = await read(type === "ogcWms" ? "WMS" : "WMTS", address, name || null);
	if (!outcome.capabilities) return outcome;
	const { layers } = outcome.capabilities;
	return { title: layers.get(name)?.title ?? "", layers: new Set(layers.keys()) };
}
