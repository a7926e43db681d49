import { type Description, descriptionText, parseDescription } from "../../registry/description.ts";
import { parseRegistration, type Registration } from "../../registry/registration.ts";
import { harmless } from "../../registry/shown.ts";
import { type Lang, langs, parseSmallkey, smallkeyRule } from "../../registry/smallkey.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { isObject, type Json, objectOf, textOf } from "../compare/json.ts";
import { describeNode, isCountedMode } from "./description.ts";
import { entryOfNode, entryOfRequest, type PayloadType } from "./entry.ts";
import { metadataOf } from "./metadata.ts";
import type { Notes } from "./notes.ts";

/** What a document of the older service's database becomes. */
export interface Moved {
	smallkey: string;
	registration: Registration;
	description: Description | null;
	/** The node that the older service served at v0.9 and v1, in each language. */
	nodes: Partial<Record<Lang, Json>>;
}

/** A document that cannot be moved, and why. */
export interface NotMoved {
	/** The key as it stands in the document. */
	key: string;
	reason: string;
}

export function isMoved(outcome: Moved | NotMoved): outcome is Moved {
	return "registration" in outcome;
}

/** Reads a document as any release from 1.0 to 3.0 wrote it. */
export function moveDocument(document: Json, settings: FragmentSettings, notes: Notes): Moved | NotMoved {
	const key = keyOf(document);
	const smallkey = parseSmallkey(key);
	if (!smallkey) return { key, reason: `its key ${smallkeyRule}` };
	const isOfVersion2 = document.version === "2.0" || isObject(document.layer_config);
	return isOfVersion2
		? move2(smallkey, document, settings, notes)
		: move1(smallkey, document, settings, notes);
}

/** The database's own id, or the key beside it: release 1.0 kept the key in a member. */
export function keyOf(document: Json): string {
	return textOf(document._id) || textOf(document.key) || textOf(objectOf(document.data).key);
}

function move1(smallkey: string, document: Json, settings: FragmentSettings, notes: Notes): Moved | NotMoved {
	const data = objectOf(document.data);
	const request = isObject(data.request) ? data.request : null;
	const type = payloadTypeOf(request?.payload_type ?? document.type);
	if (!type) return { key: smallkey, reason: "is neither a wms nor a feature layer" };
	const nodes = { en: nodeOf(data.en), fr: nodeOf(data.fr) };
	const entryOf = (lang: Lang) => {
		const node = nodes[lang];
		const requested = request && objectOf(request[lang]);
		if (!node) return requested ? entryOfRequest(type, requested, notes) : {};
		const entry = requested ? entryOfRequest(type, requested, notes) : entryOfNode(type, node, notes);
		if (requested) followNode(entry, node, type);
		metadataOf(entry, node, settings, notes);
		return entry;
	};
	const version = textOf(request?.version);
	const payload = {
		version: /^1\.(?:\d+\.\d+|[12])$/.test(version) ? version : "1.0.0",
		payload_type: type,
		en: entryOf("en"),
		fr: entryOf("fr"),
	};
	return finish(smallkey, payload, type === "feature" ? nodes : {}, nodes, settings, notes);
}

function payloadTypeOf(value: unknown): PayloadType | null {
	return value === "wms" || value === "feature" ? value : null;
}

/** A stored node, by itself or as it was served. */
function nodeOf(value: unknown): Json | undefined {
	if (!isObject(value)) return undefined;
	const { wms, feature } = objectOf(value.layers);
	const [wrapped] = [wms, feature].flatMap((nodes) => (Array.isArray(nodes) ? nodes : []));
	return isObject(wrapped) ? wrapped : value;
}

/** Where a request and its node differ, the node was served. */
function followNode(entry: Json, node: Json, type: PayloadType): void {
	const name = harmless(textOf(node.displayName));
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

function move2(smallkey: string, document: Json, settings: FragmentSettings, notes: Notes): Moved | NotMoved {
	const request = objectOf(document.request);
	const configuration = objectOf(document.v1_config);
	const nodes = { en: nodeOf(configuration.en), fr: nodeOf(configuration.fr) };
	const payload = { version: "2.0", en: request.en, fr: request.fr };
	const isFeature = langs.every((lang) => objectOf(request[lang]).service_type === "esriFeature");
	return finish(smallkey, payload, isFeature ? nodes : {}, nodes, settings, notes);
}

/** Checks a payload as a write would, and describes the services of the nodes. */
function finish(
	smallkey: string,
	payload: Json,
	described: Partial<Record<Lang, Json | undefined>>,
	nodes: Partial<Record<Lang, Json | undefined>>,
	settings: FragmentSettings,
	notes: Notes,
): Moved | NotMoved {
	const { registration, problems } = parseRegistration(Buffer.from(JSON.stringify(payload)), "stored");
	if (!registration) return { key: smallkey, reason: problems.join("; ") };
	const description: Description = {};
	for (const lang of langs) {
		const node = described[lang];
		const entry = registration[lang] as Json;
		if (!node) continue;
		description[lang] = describeNode(
			node,
			textOf(entry.service_url),
			entry.loading_mode !== undefined,
			settings.mapWkid ?? 3978,
			notes,
		);
	}
	const present = langs.flatMap((lang) => (nodes[lang] ? [[lang, nodes[lang]]] : []));
	return {
		smallkey,
		registration,
		description: usable(description, notes),
		nodes: Object.fromEntries(present),
	};
}

/** A description that can be stored: one that is too large would be refused wherever it is read. */
function usable(description: Description, notes: Notes): Description | null {
	if (Object.keys(description).length === 0) return null;
	if (parseDescription(descriptionText(description))) return description;
	notes.add("a description that is too large: left for the first harvest");
	return null;
}
