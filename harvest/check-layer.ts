import { isVersion2, type LangEntry, type Registration, serviceTypeOf } from "../registry/registration.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import { isObject, listOf, textOf } from "./answer.ts";
import { askLayer } from "./arcgis/feature-layer.ts";
import { checkNode } from "./check-node.ts";
import { type Finding, quote } from "./finding.ts";
import type { Ask } from "./net/ask.ts";
import { checkWms, type WmsFacts } from "./wms/check-wms.ts";
import { createReadCapabilities } from "./wms/read-capabilities.ts";

export type { Fault, Finding } from "./finding.ts";

/** What a service says of one language of a layer: its title, and for wms its formats. */
export type LayerFacts = { title: string } | WmsFacts;

/** The result of checking a layer. Without findings, nothing is wrong. */
export interface CheckedServices {
	facts: Partial<Record<Lang, LayerFacts>>;
	/** In the order en, fr. */
	findings: Finding[];
}

/**
 * Asks the services behind one layer whether its registration is right: for wms GetCapabilities, for feature the
 * layer's own document, for version 2.0 the service's, in both languages. It never rejects: a service that fails is a finding of kind `server`.
 */
export type CheckLayer = (smallkey: string, registration: Registration) => Promise<CheckedServices>;

/**
 * Makes the check that a run shares, so that a service is asked once for all of its layers.
 * @param ask as `createAsk({ fetch: createFetch(…) })` makes it
 * @param read reads capabilities; handed in where other work reads the same ones
 */
export function createCheckLayer(ask: Ask, read = createReadCapabilities(ask)): CheckLayer {
	const checkService = (registration: Registration, lang: Lang) => {
		if (serviceTypeOf(registration, lang) === "esriFeature")
			return checkFeature(lang, registration[lang], ask);
		if (isVersion2(registration)) return checkNode(lang, registration[lang], read, ask);
		return checkWms(lang, registration[lang], read);
	};
	return async (_smallkey, registration) => {
		const checked: CheckedServices = { facts: {}, findings: [] };
		for (const lang of langs) {
			const one = await checkService(registration, lang);
			if (one.facts) checked.facts[lang] = one.facts;
			checked.findings.push(...one.findings);
		}
		return checked;
	};
}

async function checkFeature(
	lang: Lang,
	entry: LangEntry,
	ask: Ask,
): Promise<{ facts: LayerFacts | null; findings: Finding[] }> {
	const answer = await askLayer(entry.service_url, ask);
	if (!answer.layer) {
		const { kind, text } = answer.trouble;
		const pointer = `/${lang}/service_url`;
		return { facts: null, findings: [{ kind, lang, pointer, text: `${entry.service_url} ${text}` }] };
	}
	const names = listOf(answer.layer.fields)
		.filter(isObject)
		.map((field) => textOf(field.name));
	const findings: Finding[] = [];
	if (entry.display_field && names.length > 0 && !names.includes(entry.display_field)) {
		const text = `${entry.service_url} has no field ${quote(entry.display_field)}`;
		findings.push({ kind: "registration", lang, pointer: `/${lang}/display_field`, text });
	}
	return { facts: { title: textOf(answer.layer.name) }, findings };
}
