import { serviceNameIn } from "../../../registry/addresses.ts";
import type { ServiceType } from "../../../registry/registration.ts";
import { maxTitle } from "../../../registry/schemas/description.ts";
import { groupBy, isObject } from "../../../registry/untrusted.ts";
import { type Cause, causeOf } from "../../../site/data/health.ts";
import {
	type Document,
	documentAddress,
	innerIds,
	isGroup,
	isId,
	isImageServer,
	isVectorTiles,
	layerProblem,
	readDocument,
} from "../../../site/service/arcgis.ts";
import { listOf, objectOf, parseAnswer, quote, textOf } from "../../../site/service/decode.ts";
import { type Ask, Trouble } from "../ask.ts";
import type { DescriptionResult } from "../description.ts";
import { checkEntries, type Service } from "../service.ts";

export function objectsIn(list: unknown): Document[] {
	return listOf(list).filter(isObject);
}

/** @throws {Trouble} if there is no document */
export async function askDocument(
	address: string,
	ask: Ask,
	path = "",
	query: Record<string, string> = {},
): Promise<Document> {
	const answer = await ask(documentAddress(address, path, query));
	if (!answer.ok) throw answer;
	const { document, error } = readDocument(answer.bytes);
	if (document) return document;
	if (error) throw new Trouble(error.state, error.what, error);
	throw notArcgis();
}

function notArcgis(status: number | null = null) {
	return new Trouble("wrong", causeOf("unlike", "ArcGIS"), { status, isTemporary: status === null });
}

/** @throws {Trouble} if viewers do not draw it as this type */
export async function askService(address: string, type: ServiceType, ask: Ask): Promise<Document> {
	const document = await askDocument(address, ask);
	const problem = type === "esriFeature" ? layerProblem(document) : serviceProblem(document, type);
	if (problem) throw new Trouble("wrong", problem);
	return document;
}

/** @throws {Trouble} */
export function askLayer(address: string, ask: Ask): Promise<Document> {
	return askService(address, "esriFeature", ask);
}

/** `path`: `Folder/Name/MapServer`. @throws {Trouble} if there is no list */
export async function askList(catalogue: string, folder: string, ask: Ask) {
	const answer = await ask(`${[catalogue, encodeURI(folder)].filter(Boolean).join("/")}?f=json`);
	if (!answer.ok) throw answer;
	const { services, folders, error } = objectOf(parseAnswer(answer.bytes));
	if (!Array.isArray(services)) throw notArcgis(Number(objectOf(error).code) || null);
	const listed = objectsIn(services).map((service) => {
		const path = `${textOf(service.name)}/${textOf(service.type)}`;
		const [, folder = "", name = "", type = ""] = /^(?:(.*)\/)?([^/]*)\/([^/]*)$/s.exec(path) ?? [];
		return { path, folder, name, type };
	});
	return { services: listed, folders: listOf(folders).map(textOf).filter(Boolean) };
}

export type ListedService = Awaited<ReturnType<typeof askList>>["services"][number];

/** The layers of the service that has the layer. @throws {Trouble} if there is no list */
export async function askLayers(address: string, ask: Ask): Promise<Document[]> {
	const { layers } = await askDocument(address, ask, "/..");
	if (!Array.isArray(layers)) throw notArcgis();
	return objectsIn(layers);
}

/** Has no entries if only some layers are registered. @throws {Trouble} */
export async function describeArcgisService(
	{ address, type, isWhole }: Service,
	ask: Ask,
): Promise<DescriptionResult> {
	const document = await askService(address, type, ask);
	const entries = isWhole ? leavesOf(document) : [];
	if (isWhole) checkEntries(entries);
	const title = serviceTitle(document, address).slice(0, maxTitle).toWellFormed();
	return { description: { service_url: address, entries, ...(title && { title }) }, missing: null };
}

function serviceProblem(document: Document, type: ServiceType): Cause | null {
	if (isVectorTiles(document)) return causeOf("other-kind", "VectorTileServer");
	if (type === "esriTile") return isObject(document.tileInfo) ? null : causeOf("unlike", "MapServer (tiles)");
	if (type === "esriImage") return isImageServer(document) ? null : causeOf("unlike", "ImageServer");
	if (isImageServer(document)) return causeOf("other-kind", "ImageServer");
	// Only some servers name the type.
	if (!/^(?:(?:Map|Feature)Server)?$/.test(textOf(document.type)) || !Array.isArray(document.layers))
		return causeOf("other-kind", quote(textOf(document.type)) || "layer");
	return leavesOf(document).length > 0 ? null : causeOf("no-layers");
}

/** Viewers show the layers of a group in its place. */
export function leavesOf(document: Document): number[] {
	const layers = objectsIn(document.layers);
	const byId = new Map(layers.map((layer) => [layer.id, layer]));
	const byParent = groupBy(layers, (layer) => layer.parentLayerId);
	const reached = new Set<number>();
	const leaves: number[] = [];
	// A stack: the last is read next.
	const pending = layers.filter(({ parentLayerId }) => !byId.has(parentLayerId)).reverse();
	while (pending.length > 0) {
		const layer = pending.pop() as Document;
		const { id } = layer;
		if (!isId(id) || reached.has(id)) continue;
		reached.add(id);
		const inner = innerIds(layer).map((innerId) => byId.get(innerId) ?? { id: innerId });
		const children = inner.length > 0 ? inner : (byParent.get(id) ?? []);
		for (const child of children.toReversed()) pending.push(child);
		if (children.length === 0 && !isGroup(layer)) leaves.push(id);
	}
	return leaves;
}

const defaultMapNames = new Set(["", "layers", "map"]);

function serviceTitle({ documentInfo, mapName }: Document, address: string) {
	const title = textOf(objectOf(documentInfo).Title).trim();
	if (title !== "") return title;
	const name = textOf(mapName).trim();
	return defaultMapNames.has(name.toLowerCase()) ? serviceNameIn(address) : name;
}
