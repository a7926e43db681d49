import type { LangEntry } from "../../registry/registration.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { type Fault, type Finding, quote } from "../finding.ts";
import type { Ask } from "../net/ask.ts";
import {
	type Capabilities,
	type CapabilitiesLayer,
	legendFormatsOf,
	parseCapabilities,
} from "./capabilities.ts";

/** What a WMS says about one registered layer. */
export interface WmsFacts {
	title: string;
	queryable: boolean;
	legendFormats: string[];
	featureInfoFormats: string[];
}

/** A layer's facts, null where the service does not have it or did not say, and what is wrong. */
export interface WmsChecked {
	facts: WmsFacts | null;
	findings: Finding[];
}

/** Reads the capabilities of services; an answer is kept for the layers that follow. */
export type ReadCapabilities = (address: string, layer: string) => Promise<CapabilitiesOutcome>;

type CapabilitiesOutcome = { capabilities: Capabilities } | { capabilities: null; kind: Fault; text: string };

/** Most services whose capabilities are kept at a time. */
const maxKept = 16;

/** Makes the reader of capabilities that all layers checked together share. */
export function createReadCapabilities(ask: Ask): ReadCapabilities {
	const kept = new Map<string, Promise<CapabilitiesOutcome & { tooLarge?: boolean }>>();

	function read(address: string) {
		const known = kept.get(address);
		if (known) return known;
		const outcome = askCapabilities(address, ask);
		kept.set(address, outcome);
		const oldest = kept.keys().next().value;
		if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
		return outcome;
	}

	return async (address, layer) => {
		const whole = await read(capabilitiesAddress(address, null));
		// GeoMet and others describe one layer alone where they are asked for it; the rest ignore the parameter.
		return whole.tooLarge ? read(capabilitiesAddress(address, layer)) : whole;
	};
}

/** The parameters of a WMS are known in any case (06-042, section 6.8.1): those of the address give way. */
function capabilitiesAddress(address: string, layer: string | null): string {
	const url = new URL(address);
	const query: Record<string, string> = { service: "WMS", request: "GetCapabilities", version: "1.3.0" };
	if (layer !== null) query.layer = layer;
	for (const name of [...url.searchParams.keys()]) {
		if (name.toLowerCase() in query) url.searchParams.delete(name);
	}
	for (const [name, text] of Object.entries(query)) url.searchParams.set(name.toUpperCase(), text);
	url.hash = "";
	return url.href;
}

async function askCapabilities(
	address: string,
	ask: Ask,
): Promise<CapabilitiesOutcome & { tooLarge?: boolean }> {
	const answer = await ask(address);
	if (!answer.ok)
		return { capabilities: null, kind: answer.kind, text: answer.text, tooLarge: answer.tooLarge };
	const parsed = parseCapabilities(answer.bytes, answer.type);
	if (parsed.capabilities) return parsed;
	if (parsed.exception !== null) {
		return {
			capabilities: null,
			kind: "server",
			text: `answers with an exception: ${quote(parsed.exception)}`,
		};
	}
	return { capabilities: null, kind: "registration", text: "does not answer as a WMS does" };
}

/** Checks one language of a wms layer. Never throws. */
export async function checkWms(lang: Lang, entry: LangEntry, read: ReadCapabilities): Promise<WmsChecked> {
	const name = entry.layer ?? "";
	const outcome = await read(entry.service_url, name);
	const finding = (kind: Fault, member: string, text: string): Finding => ({
		kind,
		lang,
		pointer: `/${lang}/${member}`,
		text: `${entry.service_url} ${text}`,
	});
	if (!outcome.capabilities) {
		return { facts: null, findings: [finding(outcome.kind, "service_url", outcome.text)] };
	}
	const { capabilities } = outcome;
	const layer = capabilities.layers.get(name);
	if (!layer) {
		const text = `has no layer ${quote(name)} among its ${capabilities.layers.size}`;
		return { facts: null, findings: [finding("registration", "layer", text)] };
	}
	const wrong = [
		...featureInfoTroubles(entry, layer, capabilities),
		...legendTroubles(entry, layer, capabilities),
	];
	const findings = wrong.map(([member, text]) => finding("registration", member, text));
	const legendFormats = [...new Set([...legendFormatsOf(layer), ...capabilities.legendFormats])].sort();
	const { title, queryable } = layer;
	const { featureInfoFormats } = capabilities;
	return { facts: { title, queryable, legendFormats, featureInfoFormats }, findings };
}

type Trouble = [member: string, text: string];

function featureInfoTroubles(
	entry: LangEntry,
	layer: CapabilitiesLayer,
	capabilities: Capabilities,
): Trouble[] {
	const type = entry.feature_info_type;
	if (!type) return [];
	const layerName = quote(entry.layer ?? "");
	if (!layer.queryable) return [["feature_info_type", `cannot be queried for ${layerName}`]];
	if (offers(capabilities.featureInfoFormats, type)) return [];
	const offered = quote(capabilities.featureInfoFormats.join(", "));
	return [["feature_info_type", `does not offer ${type} for queries, only: ${offered}`]];
}

/** A service that names no legend at all may still have one: nothing is said of it. */
function legendTroubles(entry: LangEntry, layer: CapabilitiesLayer, capabilities: Capabilities): Trouble[] {
	const type = entry.legend_format;
	const formats = [...legendFormatsOf(layer), ...capabilities.legendFormats];
	if (!type || formats.length === 0 || offers(formats, type)) return [];
	return [
		["legend_format", `does not offer ${type} for legends, only: ${quote([...new Set(formats)].join(", "))}`],
	];
}

/** Whether a media type is offered; its parameters and its case do not matter. */
function offers(formats: string[], type: string): boolean {
	const essence = (text: string) => text.split(";")[0]?.trim().toLowerCase();
	return formats.some((format) => essence(format) === essence(type));
}
