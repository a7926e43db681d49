import type { LangEntry } from "../../registry/registration.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { type Fault, type Finding, quote } from "../finding.ts";
import { type Capabilities, type CapabilitiesLayer, legendFormatsOf } from "./capabilities.ts";
import type { ReadCapabilities } from "./read-capabilities.ts";

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

/** Checks one language of a wms layer. Never throws. */
export async function checkWms(lang: Lang, entry: LangEntry, read: ReadCapabilities): Promise<WmsChecked> {
	const name = entry.layer ?? "";
	const outcome = await read("WMS", entry.service_url, name);
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

/** A service that names no legend at all may still have one. */
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
