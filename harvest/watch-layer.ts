import { currentDescription, type Description, type LangDescription } from "../registry/description.ts";
import { sickStates } from "../registry/health.ts";
import { namedLayers, type Registration, serviceTypeOf } from "../registry/registration.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import { otherLayerText } from "./alike.ts";
import { numberOf, objectOf, parseAnswer } from "./answer.ts";
import { serviceAddress } from "./arcgis/answers.ts";
import { askLayer, sketchLayer } from "./arcgis/feature-layer.ts";
import { createCheckLayer } from "./check-layer.ts";
import { type Clients, within } from "./clients.ts";
import { type Look, orNull, seen, unseen, type Watched } from "./finding.ts";
import type { Ask } from "./net/ask.ts";
import { describeLayers } from "./wms/describe-layers.ts";
import { lookAtWms } from "./wms/look.ts";
import { createReadCapabilities } from "./wms/read-capabilities.ts";

/**
 * Checks a layer as a viewer sees it: asks for its service's capabilities or its own document, then for one picture or one
 * feature. Never rejects.
 */
export type WatchLayer = (
	registration: Registration,
	signal?: AbortSignal,
	known?: Description | null,
) => Promise<Watched>;

/** Creates the check for a run, which shares capabilities between layers. @param ask from `createAsk` */
export function createWatchLayer(ask: Ask, read = createReadCapabilities(ask)): WatchLayer {
	const clients: Clients = { ask, read, mapWkid: 4326 };
	const check = createCheckLayer(ask, read);

	return async (registration, signal, known = null) => {
		const checked = await check(registration);
		const findings: Watched["findings"] = checked.findings.map(({ kind, ...finding }) => ({
			state: kind === "registration" ? "wrong" : "down",
			...finding,
		}));
		const own = within(clients, signal);
		const looks = new Map<string, Look>();
		for (const lang of langs.filter((one) => findings.every((finding) => finding.lang !== one))) {
			const { service_url: address } = registration[lang];
			const name = `${serviceTypeOf(registration, lang)} ${namedLayers(registration, lang)[0]} ${address}`;
			const found =
				looks.get(name) ??
				(await otherLayer(address, currentDescription(registration, known, lang), own)) ??
				(await look(registration, lang, own));
			looks.set(name, found);
			if (found.state === null) continue;
			const { state, text } = found;
			findings.push({ state, lang, pointer: `/${lang}/service_url`, text: `${address} ${text}` });
		}
		const state = sickStates.find((one) => findings.some((finding) => finding.state === one)) ?? null;
		return { state, findings };
	};
}

/** The finding that another layer now has the known layer's address; null if that is not so. */
async function otherLayer(
	address: string,
	before: LangDescription | null,
	clients: Clients,
): Promise<Look | null> {
	if (!before || "entries" in before) return null;
	const { ask, read } = clients;
	const sketch = async () => sketchLayer(address, await askLayer(address, ask));
	const named = async (names: readonly string[]) =>
		(await describeLayers("WMS", address, names, read)).description;
	const now = await orNull<LangDescription>("renderer" in before ? sketch() : named(before.layers));
	const text = now && (await otherLayerText(before, now, clients));
	return text === null ? null : unseen("registration", text);
}

/** Asks for a picture or a feature in one language, after the check has found nothing wrong. */
async function look(registration: Registration, lang: Lang, { ask, read }: Clients): Promise<Look> {
	const { service_url: address } = registration[lang];
	const type = serviceTypeOf(registration, lang);
	if (type === "esriFeature") return lookAtFeatures(address, ask);
	const [name] = type === "ogcWms" ? namedLayers(registration, lang) : [];
	if (name === undefined) return seen;
	const capabilities = await orNull(read("WMS", address, name));
	const layer = capabilities?.layers.get(name);
	return layer ? lookAtWms(address, name, layer, ask) : seen;
}

/**
 * Asks a feature layer for one feature, as a viewer does. Never throws. If the service refuses the query, that is not a
 * fault of the layer.
 */
async function lookAtFeatures(address: string, ask: Ask): Promise<Look> {
	const query = { where: "1=1", outFields: "*", returnGeometry: "true", resultRecordCount: "1", f: "json" };
	const answer = await ask(serviceAddress(address, "/query", query));
	// An older server ignores `resultRecordCount` and sends all features, so a large answer is no fault.
	if (!answer.ok && (answer.tooLarge || (answer.status !== null && answer.status < 500))) return seen;
	if (!answer.ok) return unseen(answer.kind, answer.text);
	const { features, error } = objectOf(parseAnswer(answer.bytes));
	const code = numberOf(objectOf(error).code);
	if (code !== null && code >= 500)
		return unseen("server", `answers with ArcGIS error ${code} when it is asked for a feature`);
	const isEmpty = Array.isArray(features) && features.length === 0;
	return isEmpty ? { state: "empty", text: "has no features" } : seen;
}
