import { type SickState, sickStates } from "../registry/health.ts";
import { isVersion2, type Registration, serviceTypeOf } from "../registry/registration.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import { lookAtFeatures } from "./arcgis/look.ts";
import { type CheckedServices, createCheckLayer } from "./check-layer.ts";
import { type Look, seen } from "./look.ts";
import type { Ask } from "./net/ask.ts";
import { lookAtWms } from "./wms/look.ts";
import { createReadCapabilities } from "./wms/read-capabilities.ts";

/** What is to be seen of a layer. */
export interface Watched {
	/** The worst of both languages; null: it is well. */
	state: SickState | null;
	/** What is wrong, each with its language; plain text that may quote a service. */
	findings: { state: SickState; lang: Lang; pointer: string; text: string }[];
	/** What its services say of it. */
	checked: CheckedServices;
}

/**
 * Looks at a layer as a viewer would: its service's capabilities or its own document, then one picture or one feature.
 * Never rejects.
 */
export type WatchLayer = (registration: Registration, signal?: AbortSignal) => Promise<Watched>;

/** Makes the watch that all layers looked at together share. @param ask as `createAsk` makes it */
export function createWatchLayer(ask: Ask): WatchLayer {
	const read = createReadCapabilities(ask);
	const check = createCheckLayer(ask, read);

	/** A language whose service says what is registered. */
	async function look(registration: Registration, lang: Lang, signal?: AbortSignal): Promise<Look> {
		const { service_url: address } = registration[lang];
		const type = serviceTypeOf(registration, lang);
		if (type === "esriFeature") return lookAtFeatures(address, ask, signal);
		const name = type === "ogcWms" ? firstLayer(registration, lang) : undefined;
		if (name === undefined) return seen;
		const { capabilities } = await read(address, name);
		const layer = capabilities?.layers.get(name);
		return layer ? lookAtWms(address, name, layer, ask, signal) : seen;
	}

	return async (registration, signal) => {
		const checked = await check("", registration);
		const findings: Watched["findings"] = checked.findings.map(({ kind, ...finding }) => ({
			state: kind === "registration" ? "wrong" : "down",
			...finding,
		}));
		const looks = new Map<string, Look>();
		for (const lang of langs.filter((one) => findings.every((finding) => finding.lang !== one))) {
			const { service_url: address } = registration[lang];
			const name = `${serviceTypeOf(registration, lang)} ${firstLayer(registration, lang)} ${address}`;
			const found = looks.get(name) ?? (await look(registration, lang, signal));
			looks.set(name, found);
			if (found.state === null) continue;
			const { state, text } = found;
			findings.push({ state, lang, pointer: `/${lang}/service_url`, text: `${address} ${text}` });
		}
		const state = sickStates.find((one) => findings.some((finding) => finding.state === one)) ?? null;
		return { state, findings, checked };
	};
}

/** The name of the layer of a WMS that is looked at. */
function firstLayer(registration: Registration, lang: Lang): string | undefined {
	if (!isVersion2(registration)) return registration[lang].layer;
	const node = registration[lang];
	const [first] = "scrape_only" in node ? (node.scrape_only ?? []) : [];
	return typeof first === "string" ? first : undefined;
}
