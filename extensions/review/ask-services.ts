import pMap from "p-map";
import { createFetch } from "../../api/service/net/fetch.ts";
import type { Configuration } from "../../api/service/settings.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { isVersion2, type LangPart1, type Registration, serviceTypeOf } from "../../registry/registration.ts";
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
	const task = async (changed: ChangedLayer) => {
		const { file, text } = changed;
		const lineAt = linesOf(text);
		const services = touchedServices(changed).map(async ({ layer, place, touchedLangs }) => {
			const findings = (await check(layer)).filter(({ lang }) => touchedLangs.includes(lang));
			return findings.map(({ state, pointer, text }) => {
				const path = `${place}${pointer}`;
				return { state, file, line: lineAt(path), text: `${path}: ${text}` };
			});
		});
		return (await Promise.all(services)).flat();
	};
	const findings = (await pMap(checked, task, { concurrency: maxConcurrent })).flat();
	const findingsIn = (state: Finding["state"]) => findings.filter((finding) => finding.state === state);
	return { wrong: findingsIn("wrong"), down: findingsIn("down"), unasked: touched.length - checked.length };
}

/** With the languages in which it was not registered before. */
function touchedServices({ before, after }: ChangedLayer) {
	const known = new Set(
		servicesOf(before).flatMap(({ layer }) => langs.map((lang) => requestOf(layer, lang))),
	);
	return servicesOf(after).flatMap((service) => {
		const touchedLangs = langs.filter((lang) => !known.has(requestOf(service.layer, lang)));
		for (const lang of touchedLangs) known.add(requestOf(service.layer, lang));
		return touchedLangs.length > 0 ? [{ ...service, touchedLangs }] : [];
	});
}

/** That of all viewers, then those of targets with other addresses. `place`: of its languages in the registration. */
function servicesOf(layer: CheckedLayer | null): { layer: CheckedLayer; place: string }[] {
	if (!layer) return [];
	const { registration } = layer;
	const targets = isVersion2(registration) ? {} : { ...registration.targets };
	const services = Object.entries(targets).map(([name, { en, fr }]) => {
		const entries = { en: { ...registration.en, ...en }, fr: { ...registration.fr, ...fr } };
		const changed = { ...registration, ...entries } as Registration;
		return { layer: { ...layer, registration: changed }, place: `/targets/${name}` };
	});
	return [{ layer, place: "" }, ...services];
}

function requestOf({ registration }: CheckedLayer, lang: Lang): string {
	const { service_url, layer }: LangPart1 = registration[lang];
	return JSON.stringify([lang, serviceTypeOf(registration, lang), service_url, layer]);
}
