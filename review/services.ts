import { createCheckLayer } from "../harvest/check-layer.ts";
import type { Finding } from "../harvest/finding.ts";
import { linesOf } from "../registry/json.ts";
import { type LangEntry, type Registration, serviceTypeOf } from "../registry/registration.ts";
import { type Lang, langs, layerPath } from "../registry/smallkey.ts";
import { askWith } from "../service/ask.ts";
import { mapWithProgress } from "../terminal/progress.ts";
import { type ChangedLayer, type Located, locate } from "./check.ts";

/** Asks the services behind a registration; never rejects. */
export type CheckServices = (
	smallkey: string,
	registration: Registration,
) => Promise<{ findings: Finding[] }>;

/** Longest time for asking all services of a change, in milliseconds, so that slow ones do not delay the review. */
const maxAskingMs = 8 * 60_000;

/** Asks through the guarded fetch; services without an answer in time are reported as down. */
export function createCheckServices(settings: Parameters<typeof askWith>[0]): CheckServices {
	const end = AbortSignal.timeout(maxAskingMs);
	const ask = askWith(settings);
	const check = createCheckLayer((address, signal) =>
		ask(address, signal ? AbortSignal.any([signal, end]) : end),
	);
	return (_smallkey, registration) => check(registration);
}

export interface ServiceFindings {
	/** The registration is wrong: these fail the check. */
	wrong: Located[];
	/** Their server is down or odd: these never block. */
	down: Located[];
	/** Smallkeys of the layers beyond `maxAsked`, whose services were not asked. */
	unasked: string[];
}

/** Layers of one change whose services are asked. A larger change is a batch; the weekly check asks its services. */
const maxAsked = 200;

/** Layers that are checked at the same time. The fetch (`askWith`) limits the number of requests. */
const maxConcurrent = 16;

/** Asks the services of the layers whose address, layer name or type a change touches, and no others. */
export async function askServices(
	layers: readonly ChangedLayer[],
	check: CheckServices,
): Promise<ServiceFindings> {
	const touched = layers.filter((layer) => touchedLangs(layer).length > 0);
	const asked = touched.slice(0, maxAsked);
	const found = await mapWithProgress(asked, "asking services", maxConcurrent, (layer) =>
		findingsOf(layer, check),
	);
	const all = found.flat();
	const of = (kind: Finding["kind"]) => all.filter((one) => one.kind === kind).map(({ located }) => located);
	return {
		wrong: of("registration"),
		down: of("server"),
		unasked: touched.slice(maxAsked).map(({ smallkey }) => smallkey),
	};
}

async function findingsOf(layer: ChangedLayer, check: CheckServices) {
	const { smallkey, after, text } = layer;
	if (!after) return [];
	const { findings } = await check(smallkey, after.registration);
	const langsTouched = touchedLangs(layer);
	const lines = linesOf(text);
	return findings
		.filter(({ lang }) => langsTouched.includes(lang))
		.map((finding) => {
			const problem = { file: layerPath(smallkey), text: `${finding.pointer}: ${finding.text}` };
			return { kind: finding.kind, located: locate(problem, lines) };
		});
}

function touchedLangs({ before, after }: ChangedLayer): Lang[] {
	if (!after) return [];
	const [old, fresh] = [before?.registration, after.registration];
	return langs.filter((lang) => {
		return (
			!old ||
			serviceTypeOf(old, lang) !== serviceTypeOf(fresh, lang) ||
			requestOf(old[lang]) !== requestOf(fresh[lang])
		);
	});
}

/** The members of an entry that the requests to its service depend on, as a comparable text. */
function requestOf({ service_url, layer }: LangEntry): string {
	return JSON.stringify([service_url, layer]);
}
