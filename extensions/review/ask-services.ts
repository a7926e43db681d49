import pMap from "p-map";
import type { Configuration } from "../../api/service/settings.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { isVersion2, type LangPart1, type Registration, serviceTypeOf } from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { createAsk } from "../harvest/ask.ts";
import { checkLayer } from "../harvest/check-layer.ts";
import { createClients } from "../harvest/clients.ts";
import type { Finding } from "../harvest/finding.ts";
import { createFetch } from "../harvest/net/fetch.ts";
import type { ChangedLayer } from "./layer-changes.ts";

/** Never rejects. */
export type CheckServices = (layer: CheckedLayer) => Promise<Finding[]>;

const maxAskingMs = 8 * 60_000;

/** Services without an answer in time are reported as down. */
export function createCheckServices({ network, mapWkid }: Configuration): CheckServices {
	const signal = AbortSignal.timeout(maxAskingMs);
	const ask = createAsk({ fetch: createFetch(network) });
	// Also ends requests that several layers share: they would keep the process running.
	const clients = createClients((address, options) => ask(address, { ...options, signal }), mapWkid);
	return ({ registration }) => checkLayer(registration, clients);
}

/** The weekly check asks the services of larger changes. */
const maxLayers = 200;

/** `createAsk` limits the number of requests. */
const maxConcurrentServices = 16;

/** Asks the services whose addresses, kinds or layers a change touches. `unasked`: the number of further layers. */
export async function askServices(layers: readonly ChangedLayer[], check: CheckServices) {
	const touched = layers.map(touchedServices).filter((services) => services.length > 0);
	const ask = async ({ file, lineAt, layer, place, touchedLangs }: TouchedService) => {
		const findings = (await check(layer)).filter(({ lang }) => touchedLangs.includes(lang));
		return findings.map(({ state, pointer, text }) => {
			const path = `${place}${pointer}`;
			return { state, file, line: lineAt(path), text: `${path}: ${text}` };
		});
	};
	const services = touched.slice(0, maxLayers).flat();
	const findings = (await pMap(services, ask, { concurrency: maxConcurrentServices })).flat();
	const findingsIn = (state: Finding["state"]) => findings.filter((finding) => finding.state === state);
	const unasked = Math.max(0, touched.length - maxLayers);
	return { wrong: findingsIn("wrong"), down: findingsIn("down"), unasked };
}

type TouchedService = ReturnType<typeof touchedServices>[number];

/** `touchedLangs`: languages whose service was not registered before. */
function touchedServices({ file, lineAt, before, after }: ChangedLayer) {
	const requests = new Set<string>();
	for (const { layer } of servicesOf(before)) for (const lang of langs) requests.add(requestOf(layer, lang));
	return servicesOf(after).flatMap(({ layer, place }) => {
		const touchedLangs = langs.filter((lang) => !requests.has(requestOf(layer, lang)));
		for (const lang of touchedLangs) requests.add(requestOf(layer, lang));
		return touchedLangs.length > 0 ? [{ file, lineAt, layer, place, touchedLangs }] : [];
	});
}

/** The service of all viewers, then those of targets with other addresses. `place`: a JSON pointer. */
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

function requestOf({ registration }: CheckedLayer, lang: Lang) {
	const { service_url, layer }: LangPart1 = registration[lang];
	return JSON.stringify([lang, serviceTypeOf(registration, lang), service_url, layer]);
}
