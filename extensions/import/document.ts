import { readFile, stat } from "node:fs/promises";
import {
	type Description,
	descriptionText,
	type LangDescription,
	parseDescription,
} from "../../registry/description.ts";
import {
	isVersion2,
	parseRegistration,
	type Registration,
	serviceTypeOf,
	storedSizeProblem,
	takesAllLayers,
} from "../../registry/registration.ts";
import { type Lang, langs, parseSmallkey, smallkeyRule } from "../../registry/smallkey.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { textIn, textsOf } from "../../registry/texts.ts";
import { escapeMarkup } from "../../registry/untrusted-text.ts";
import { utf8Of } from "../../store/files/files.ts";
import { entryNames, isObject, type Json, listOf, nodeIn, objectOf, textOf } from "./compare/differences.ts";
import {
	describeNode,
	entryOfNode,
	entryOfRequest,
	entryOfRequest2,
	isCountedMode,
	type PayloadType,
} from "./description.ts";

/** Bytes of a dump: Node can have that many in one text. */
const maxDumpBytes = 500_000_000;

/**
 * Reads a dump of CouchDB: `{"docs":[…]}`, or `{"rows":[{"doc":…},…]}` as from `_all_docs?include_docs=true`. It skips the
 * database's own documents (`_design/…`) and deleted ones.
 * @returns documents by their place in the dump, from 1
 * @throws {Error} if the file is too large or not such a dump: nothing of it is imported
 */
export async function readDump(path: string, maxBytes = maxDumpBytes): Promise<ReadonlyMap<number, Json>> {
	const wrong = (reason: string) => new Error(`${path}: ${reason}; nothing was written`);
	if ((await stat(path)).size > maxBytes) throw wrong(`has over ${maxBytes} bytes: import it in parts`);
	const text = utf8Of(await readFile(path)).toString("utf8");
	let dump: Json;
	try {
		dump = objectOf(JSON.parse(text.replace(/^\ufeff/, "")));
	} catch (error) {
		throw wrong(`is not JSON: is it whole? ${(error as Error).message}`);
	}
	const { docs, rows } = dump;
	if (Array.isArray(docs) === Array.isArray(rows))
		throw wrong('must have one array of documents: {"docs":[…]} or {"rows":[…]}');
	const documents = new Map<number, Json>();
	for (const [index, element] of listOf(docs ?? rows).entries()) {
		if (!isObject(element)) throw wrong(`holds something else than documents, at number ${index + 1}`);
		const isRow = !("_id" in element) && ("doc" in element || "value" in element);
		if (isRow && !("doc" in element))
			throw wrong("has rows without documents: ask for _all_docs?include_docs=true");
		const document = isRow ? element.doc : element;
		if (isObject(document) && document._deleted !== true && !textOf(document._id).startsWith("_design/"))
			documents.set(index + 1, document);
	}
	return documents;
}

/** The node that the older service served at v0.9 and v1, by language. */
type Nodes = Record<Lang, Json | undefined>;

export interface Moved {
	smallkey: string;
	registration: Registration;
	description: Description | null;
}

/** Converts a document of any release from 1.0 to 3.0, by the rules for stored registrations. @returns a reason why not */
export function moveDocument(document: Json, settings: FragmentSettings): Moved | string {
	const smallkey = parseSmallkey(keyOf(document));
	if (!smallkey) return `its key ${smallkeyRule}`;
	const isOfVersion2 = document.version === "2.0" || isObject(document.layer_config);
	const stored = objectOf(isOfVersion2 ? document.v1_config : document.data);
	const nodes = { en: nodeOf(stored.en), fr: nodeOf(stored.fr) };
	const payload = (isOfVersion2 ? payload2 : payload1)(document, nodes, settings);
	if (!payload) return "is neither a wms nor a feature layer";
	const { registration, problems } = parseRegistration(Buffer.from(JSON.stringify(payload)), "stored");
	if (!registration) return textsOf(problems).join("; ");
	const tooLarge = storedSizeProblem(registration);
	if (tooLarge !== null) return textIn("en", tooLarge);
	const description: Description = {};
	for (const lang of langs) {
		const node = nodes[lang];
		const described =
			serviceTypeOf(registration, lang) !== "esriFeature"
				? describeLayers(servedIn(document, lang), registration, lang)
				: node && describeNode(node, registration[lang], settings);
		if (described) description[lang] = described;
	}
	// As it will be read: null without a language, or where it is too large.
	return { smallkey, registration, description: parseDescription(descriptionText(description)) };
}

/** Release 1.0 stored the smallkey in the member `key`. */
export function keyOf(document: Json): string {
	return textOf(document._id) || textOf(document.key) || textOf(objectOf(document.data).key);
}

function payload1({ data, type: kind }: Json, nodes: Nodes, settings: FragmentSettings) {
	const { request } = objectOf(data);
	const isRequested = isObject(request);
	const type = (isRequested && request.payload_type) || kind;
	if (type !== "wms" && type !== "feature") return null;
	const entryOf = (lang: Lang) => {
		const node = nodes[lang] ?? {};
		if (!isRequested) return entryOfNode(type, node);
		const entry = entryOfRequest(type, objectOf(request[lang]));
		followNode(entry, node, type);
		metadataOf(entry, node, settings);
		return entry;
	};
	const version = isRequested ? textOf(request.version) : "";
	return {
		version: /^1\.(?:\d+\.\d+|[12])$/.test(version) ? version : "1.0.0",
		payload_type: type,
		en: entryOf("en"),
		fr: entryOf("fr"),
	};
}

/** A stored node, which may be alone or within a fragment. */
function nodeOf(value: unknown): Json | undefined {
	return isObject(value) ? (nodeIn(value) ?? value) : undefined;
}

/** Changes an entry to agree with the node, which is what was served. */
function followNode(entry: Json, node: Json, type: PayloadType): void {
	const name = escapeMarkup(textOf(node.displayName));
	const isOwnName = type === "feature" && entry.service_name === undefined;
	if (name && !isOwnName && name !== (entry.service_name ?? entry.layer)) {
		if (name === entry.layer) delete entry.service_name;
		else entry.service_name = name;
	}
	if (type === "wms") return;
	if (entry.display_field !== undefined && textOf(node.nameField)) entry.display_field = node.nameField;
	const isRegisteredMode = entry.loading_mode !== undefined;
	if (textOf(node.mode) && (isRegisteredMode || !isCountedMode(node))) entry.loading_mode = node.mode;
	if (Number.isInteger(node.maxAllowableOffset)) entry.max_allowable_offset = node.maxAllowableOffset;
}

function payload2(document: Json, nodes: Nodes, settings: FragmentSettings) {
	const request = objectOf(document.request);
	const entryOf = (lang: Lang) => {
		if (!isObject(request[lang])) return request[lang];
		const entry = entryOfRequest2(request[lang], document.service_type);
		const node = nodes[lang];
		if (node && entry.service_type === "esriFeature") followNode(entry, node, "feature");
		metadataOf(entry, node ?? servedIn(document, lang), settings);
		return entry;
	};
	return { version: "2.0", en: entryOf("en"), fr: entryOf("fr") };
}

function servedIn(document: Json, lang: Lang): Json {
	return nodeOf(objectOf(document.layer_config)[lang]) ?? {};
}

/** The layers that the older service found in a service that is registered as a whole. Null for any other. */
function describeLayers(served: Json, registration: Registration, lang: Lang): LangDescription | null {
	if (!isVersion2(registration) || !takesAllLayers(registration[lang])) return null;
	const entries = entryNames(served.layerEntries);
	const areNames = entries.every((entry) => textOf(entry) !== "" || Number.isInteger(entry));
	if (entries.length === 0 || !areNames) return null;
	const { service_url } = registration[lang];
	return { service_url, from: "import", entries: entries as (string | number)[] };
}

/**
 * Replaces a metadata uuid by the addresses that the older service served, unless this configuration's templates give
 * the same addresses.
 */
function metadataOf(entry: Json, node: Json, settings: FragmentSettings): void {
	const uuid = textOf(objectOf(entry.metadata).uuid);
	const served = { metadata_url: textOf(node.metadataUrl), catalogue_url: textOf(node.catalogueUrl) };
	if (!uuid || !served.metadata_url || !served.catalogue_url) return;
	const fill = (template: string) => template.replaceAll("{0}", encodeURIComponent(uuid));
	const isSame =
		fill(settings.metadataUrl) === served.metadata_url &&
		fill(settings.catalogueUrl) === served.catalogue_url;
	if (!isSame) entry.metadata = served;
}
