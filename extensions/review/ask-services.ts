import pMap from "p-map";
import type { Configuration } from "../../api/service/settings.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import {
	isVersion2,
	type LangRegistration1,
	type Registration,
	serviceTypeOf,
} from "../../registry/registration.ts";
import { type Lang, langs, layerPath } from "../../registry/smallkey.ts";
import { clientsWith } from "../harvest/ask.ts";
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
	const { ask } = clientsWith(network);
	// Also ends requests that several layers share: they would keep the process running.
	const clients = createClients((address, _signal, take) => ask(address, end, take), mapWkid);
	return ({ registration }) => checkLayer(registration, clients);
}

/** Layers of one change whose services are asked. A larger change is a batch; the weekly check asks its services. */
const maxAsked = 200;

/** Layers. `clientsWith` limits the number of requests. */
const maxConcurrent = 16;

/**
 * Asks the services whose addresses, kinds or layers a change touches. `wrong`: the registration contradicts its service.
 * `down`: the server is down or odd. `unasked`: the number of further layers.
 */
export async function askServices(layers: readonly ChangedLayer[], check: CheckServices) {
	const touched = layers
		.map((layer) => ({ ...layer, services: touchedServices(layer) }))
		.filter(({ services }) => services.length > 0);
	const checked = touched.slice(0, maxAsked);
	const task = async ({ smallkey, text, services }: (typeof touched)[number]) => {
		const file = layerPath(smallkey);
		const lineAt = linesOf(text);
		const findings = await Promise.all(services.map((service) => findingsOf(service, check)));
		return findings.flat().map(({ state, pointer, text }) => {
			return { state, file, line: lineAt(pointer), text: `${pointer}: ${text}` };
		});
	};
	const findings = (await pMap(checked, task, { concurrency: maxConcurrent })).flat();
	const findingsIn = (state: Finding["state"]) => findings.filter((finding) => finding.state === state);
	return { wrong: findingsIn("wrong"), down: findingsIn("down"), unasked: touched.length - checked.length };
}

interface TouchedService {
	layer: CheckedLayer;
	langs: Lang[];
	/** The target whose viewers read this service in place of the registered one. */
	target?: string;
}

function touchedServices({ before, after }: ChangedLayer): TouchedService[] {
	if (!after) return [];
	const { registration } = after;
	const isNew = (current: Registration, earlier: Registration | null, lang: Lang) =>
		!earlier || requestOf(earlier, lang) !== requestOf(current, lang);
	const old = before?.registration ?? null;
	const services: TouchedService[] = [
		{ layer: after, langs: langs.filter((lang) => isNew(registration, old, lang)) },
	];
	for (const target of Object.keys(overridesOf(registration))) {
		const current = withOverrides(registration, target);
		const earlier = old && withOverrides(old, target);
		const touched = langs.filter(
			(lang) => isNew(current, registration, lang) && isNew(current, earlier, lang),
		);
		services.push({ layer: { ...after, registration: current }, langs: touched, target });
	}
	return services.filter(({ langs }) => langs.length > 0);
}

function requestOf(registration: Registration, lang: Lang): string {
	const { service_url, layer }: LangRegistration1 = registration[lang];
	return JSON.stringify([serviceTypeOf(registration, lang), service_url, layer]);
}

type Overrides = Record<string, Partial<Record<Lang, Partial<LangRegistration1>>>>;

/** By target. */
function overridesOf(registration: Registration): Overrides {
	return isVersion2(registration) ? {} : ((registration.targets ?? {}) as Overrides);
}

function withOverrides(registration: Registration, target: string): Registration {
	const { en, fr } = overridesOf(registration)[target] ?? {};
	return {
		...registration,
		en: { ...registration.en, ...en },
		fr: { ...registration.fr, ...fr },
	} as Registration;
}

async function findingsOf(
	{ layer, langs, target }: TouchedService,
	check: CheckServices,
): Promise<Finding[]> {
	const findings = (await check(layer)).filter(({ lang }) => langs.includes(lang));
	const overrides = overridesOf(layer.registration)[target ?? ""];
	return findings.map((finding) => {
		const isOverridden = Object.keys(overrides?.[finding.lang] ?? {}).some(
			(member) => finding.pointer === `/${finding.lang}/${member}`,
		);
		return isOverridden ? { ...finding, pointer: `/targets/${target}${finding.pointer}` } : finding;
	});
}
