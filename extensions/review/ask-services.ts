import pMap from "p-map";
import { createFetch } from "../../api/service/net/fetch.ts";
import type { Configuration } from "../../api/service/settings.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import {
	isVersion2,
	type LangRegistration1,
	type Registration,
	serviceTypeOf,
} from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { createAsk } from "../harvest/ask.ts";
import { checkLayer } from "../harvest/check-layer.ts";
import { createClients } from "../harvest/clients.ts";
import type { Finding } from "../harvest/finding.ts";
import type { ChangedLayer } from "./layer-changes.ts";
import { linesOf } from "./pointer-lines.ts";

/** Never rejects. */
export type CheckServices = (layer: CheckedLayer) => Promise<Finding[]>;

const maxAskingMs = 8 * 60_000;

/** Services without an answer in time are reported as down. */
export function createCheckServices({ network, mapWkid }: Configuration): CheckServices {
	const end = AbortSignal.timeout(maxAskingMs);
	const ask = createAsk({ fetch: createFetch(network) });
	// Also ends requests that several layers share: they would keep the process running.
	const clients = createClients((address, options) => ask(address, { ...options, signal: end }), mapWkid);
	return ({ registration }) => checkLayer(registration, clients);
}

/** Layers of one change whose services are asked. A larger change is a batch; the weekly check asks its services. */
const maxAsked = 200;

/** Layers. `createAsk` limits the number of requests. */
const maxConcurrent = 16;

/**
 * Asks the services whose addresses, kinds or layers a change touches. `wrong`: the registration contradicts its service.
 * `down`: the server is down or odd. `unasked`: the number of further layers.
 */
export async function askServices(layers: readonly ChangedLayer[], check: CheckServices) {
	const touched = layers.filter((layer) => touchedServices(layer).length > 0);
	const checked = touched.slice(0, maxAsked);
	const task = async (layer: ChangedLayer) => {
		const { file, text } = layer;
		const lineAt = linesOf(text);
		const findings = await Promise.all(touchedServices(layer).map((service) => findingsOf(service, check)));
		return findings.flat().map(({ state, pointer, text }) => {
			return { state, file, line: lineAt(pointer), text: `${pointer}: ${text}` };
		});
	};
	const findings = (await pMap(checked, task, { concurrency: maxConcurrent })).flat();
	const findingsIn = (state: Finding["state"]) => findings.filter((finding) => finding.state === state);
	return { wrong: findingsIn("wrong"), down: findingsIn("down"), unasked: touched.length - checked.length };
}

interface LayerService {
	layer: CheckedLayer;
	/** The target whose viewers read this service in place of the registered one. */
	target?: string;
}

/** With the languages in which it was not registered before. */
function touchedServices({ before, after }: ChangedLayer) {
	const requests = servicesOf(before).flatMap((service) => langs.map((lang) => requestOf(service, lang)));
	const known = new Set(requests);
	return servicesOf(after).flatMap((service) => {
		const touched = langs.filter((lang) => !known.has(requestOf(service, lang)));
		for (const lang of touched) known.add(requestOf(service, lang));
		return touched.length > 0 ? [{ ...service, langs: touched }] : [];
	});
}

/** Of all viewers, then of each target with other addresses. */
function servicesOf(layer: CheckedLayer | null): LayerService[] {
	if (!layer) return [];
	const { registration } = layer;
	const targets = Object.entries(overridesOf(registration)).map(([target, { en, fr }]): LayerService => {
		const entries = { en: { ...registration.en, ...en }, fr: { ...registration.fr, ...fr } };
		return { target, layer: { ...layer, registration: { ...registration, ...entries } as Registration } };
	});
	return [{ layer }, ...targets];
}

function requestOf({ layer: { registration } }: LayerService, lang: Lang): string {
	const { service_url, layer }: LangRegistration1 = registration[lang];
	return JSON.stringify([lang, serviceTypeOf(registration, lang), service_url, layer]);
}

type Overrides = Partial<Record<Lang, Partial<LangRegistration1>>>;

/** By target. */
function overridesOf(registration: Registration): Record<string, Overrides> {
	return isVersion2(registration) ? {} : ({ ...registration.targets } as Record<string, Overrides>);
}

async function findingsOf(
	{ layer, target, langs }: ReturnType<typeof touchedServices>[number],
	check: CheckServices,
): Promise<Finding[]> {
	const findings = (await check(layer)).filter(({ lang }) => langs.includes(lang));
	const overrides = overridesOf(layer.registration)[target ?? ""];
	return findings.map((finding) => {
		const { lang, pointer } = finding;
		const isOverridden = pointer.replace(`/${lang}/`, "") in (overrides?.[lang] ?? {});
		return isOverridden ? { ...finding, pointer: `/targets/${target}${pointer}` } : finding;
	});
}
