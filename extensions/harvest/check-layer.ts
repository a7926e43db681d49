import { fieldNamed } from "../../registry/description.ts";
import type { LangPart1, Registration } from "../../registry/registration.ts";
import { langs } from "../../registry/smallkey.ts";
import { type Cause, causeOf } from "../../site/data/health.ts";
import { isGroup } from "../../site/service/arcgis.ts";
import {
	type Capabilities,
	type CapabilitiesLayer,
	findLayer,
	isUnreadable,
	withParents,
} from "../../site/service/capabilities.ts";
import { quote } from "../../site/service/decode.ts";
import { askLayer, askService, leavesOf, objectsIn } from "./arcgis/answers.ts";
import { fieldsOf } from "./arcgis/feature-layer.ts";
import { orTrouble, Trouble } from "./ask.ts";
import type { Clients } from "./clients.ts";
import { type Finding, findingOf } from "./finding.ts";
import { checkEntries, type Service, serviceOf } from "./service.ts";

type Fault = Parameters<typeof findingOf>[1];

function wrong(member: string, what: Cause): Fault {
	return { state: "wrong", member, what };
}

const maxMissing = 10;

/** Checks a registration against the services of both languages. Never rejects: a service that fails is a finding. */
export async function checkLayer(registration: Registration, clients: Clients): Promise<Finding[]> {
	const findings: Finding[] = [];
	for (const lang of langs) {
		const service = serviceOf(registration, lang);
		const result = await orTrouble(checkService(service, clients));
		const faults = result instanceof Trouble ? [result] : result;
		findings.push(...faults.map((fault) => findingOf(service, fault)));
	}
	return findings;
}

function checkService(service: Service, clients: Clients): Promise<Fault[]> {
	if (service.type === "esriFeature") return checkFeature(service, clients);
	return service.ogc ? checkOgc(service, clients) : checkArcgis(service, clients);
}

async function checkFeature({ entry, address }: Service, { ask }: Clients): Promise<Fault[]> {
	const fields = fieldsOf(await askLayer(address, ask));
	const field = "display_field" in entry ? entry.display_field : undefined;
	const isMissing = field && fields.length > 0 && !fieldNamed(field, fields);
	return isMissing ? [wrong("display_field", causeOf("no-field", quote(field)))] : [];
}

async function checkOgc(service: Service, { read }: Clients): Promise<Fault[]> {
	const { entry, ogc, address, names, isWhole } = service;
	const capabilities = await read(ogc ?? "WMS", address, names);
	const { layers, others, count } = capabilities;
	if (isWhole) checkEntries([...layers.keys(), ...others.keys()]);
	const isNode = "service_type" in entry;
	const matches = names.map((name) => findLayer(capabilities, name));
	const memberOf = (at: number) => (isNode ? memberInList(at) : "layer");
	const missing = findMissing(names, (at) => matches[at] !== null, count, memberOf);
	const notes = names.flatMap((name, at) =>
		checkName(name, matches[at]?.listed ?? name).map((what): Fault => {
			return { state: "well", member: memberOf(at), what };
		}),
	);
	const layer = matches[0]?.layer;
	const types = layer && !isNode ? checkTypes(entry, layer, capabilities) : [];
	return [...missing, ...notes.slice(0, maxMissing), ...types];
}

function memberInList(at: number) {
	return `scrape_only/${at}`;
}

function findMissing(
	names: readonly (string | number)[],
	isThere: (at: number) => boolean,
	count: number,
	memberOf = memberInList,
): Fault[] {
	const missing = names.flatMap((name, at) =>
		isThere(at) ? [] : [wrong(memberOf(at), causeOf("no-layer", quote(String(name)), count))],
	);
	return missing.slice(0, maxMissing);
}

function checkName(name: string, listed: string): Cause[] {
	const unreadable = [name, listed].find(isUnreadable);
	if (unreadable !== undefined) return [causeOf("name-unreadable", quote(unreadable))];
	return listed === name ? [] : [causeOf("listed-as", quote(name), quote(listed))];
}

function checkTypes(
	{ layer: name = "", feature_info_type: infoType, legend_format: legendType }: LangPart1,
	layer: CapabilitiesLayer,
	{ featureInfoFormats, legendFormats }: Capabilities,
): Fault[] {
	// Styles are inherited (06-042, table 6).
	const styleFormats = [...withParents(layer)].flatMap(({ ownLegendFormats }) => ownLegendFormats);
	const allLegends = [...new Set([...styleFormats, ...legendFormats])];
	const faults: Fault[] = [];
	if (infoType && !layer.queryable) faults.push(wrong("feature_info_type", causeOf("no-query", quote(name))));
	else faults.push(...checkOffered("feature_info_type", infoType, featureInfoFormats));
	// A service may have legends that its capabilities do not name.
	if (allLegends.length > 0) faults.push(...checkOffered("legend_format", legendType, allLegends));
	return faults;
}

function checkOffered(member: string, type: string | undefined, formats: readonly string[]): Fault[] {
	const essence = (text: string) => text.split(";")[0]?.trim().toLowerCase();
	const isOffered = !type || formats.some((format) => essence(format) === essence(type));
	return isOffered ? [] : [wrong(member, causeOf("no-format", type, quote(formats.join(", "))))];
}

async function checkArcgis({ type, address, listed, isWhole }: Service, { ask }: Clients): Promise<Fault[]> {
	const document = await askService(address, type, ask);
	if (isWhole) checkEntries(leavesOf(document));
	const [layers, tables] = [objectsIn(document.layers), objectsIn(document.tables)];
	const ids = new Set<unknown>([...layers, ...tables].map(({ id }) => id));
	// A MapServer draws a whole group as one picture.
	const groups = type === "esriFeatureServer" ? layers.filter(isGroup) : [];
	const odd = new Set<unknown>([...tables, ...groups].map(({ id }) => id));
	const notLayers = listed.flatMap((id, at) =>
		odd.has(id) ? [wrong(memberInList(at), causeOf("table", String(id)))] : [],
	);
	const missing = findMissing(listed, (at) => ids.has(listed[at]), ids.size);
	return [...missing, ...notLayers];
}
