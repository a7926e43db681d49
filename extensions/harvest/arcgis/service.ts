import { arcgisPath, serviceNameIn } from "../../../registry/addresses.ts";
import { type Cause, causeOf } from "../../../registry/health.ts";
import { groupBy } from "../../../registry/json.ts";
import type { ServiceType } from "../../../registry/registration.ts";
import {
	type Document,
	innerIds,
	isGroup,
	isId,
	isImageServer,
	isVectorTiles,
} from "../../../site/service/arcgis.ts";
import { isObject, listOf, objectOf, textOf } from "../../../site/service/decode.ts";

export function objectsIn(list: unknown): Document[] {
	return listOf(list).filter(isObject);
}

export function serviceProblem(document: Document, type: ServiceType): Cause | null {
	if (isVectorTiles(document)) return causeOf("other-kind", "VectorTileServer");
	if (type === "esriTile") return isObject(document.tileInfo) ? null : causeOf("no-tiles");
	if (type === "esriImage") return isImageServer(document) ? null : causeOf("unlike", "ImageServer");
	if (isImageServer(document)) return causeOf("other-kind", "ImageServer");
	// Only some servers name the type.
	if (!/^(?:(?:Map|Feature)Server)?$/.test(textOf(document.type)) || !Array.isArray(document.layers))
		return causeOf("no-service");
	return leavesOf(document).length > 0 ? null : causeOf("no-layers");
}

/** In the order of viewers: the layers of a group are in its place. */
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

export function serviceTitle({ documentInfo, mapName }: Document, address: string): string {
	const title = textOf(objectOf(documentInfo).Title).trim();
	if (title !== "") return title;
	const name = textOf(mapName).trim();
	return defaultMapNames.has(name.toLowerCase()) ? serviceNameIn(address) : name;
}

/** Accept addresses of an ArcGIS service, and of its WMS. */
const arcgisService =
	/^(.*\/rest\/services)\/(?:(.+)\/)?([^/]+)\/(MapServer|FeatureServer|ImageServer)(\/\d+)?\/?$/i;
const arcgisWms = /^(.*)\/services\/(?:(.+)\/)?([^/]+)\/(MapServer|ImageServer)\/WMSServer\/?(?:\?.*)?$/i;

/** Null for other addresses. `catalogue`: the address of the server's list. */
export function arcgisPlaceOf(address: string) {
	const service = arcgisService.exec(address);
	const [, root, ...parts] = service ?? arcgisWms.exec(address) ?? [];
	if (root === undefined) return null;
	const [folder = "", name = "", type = "", layer = ""] = parts.map((part = "") => decode(part));
	return {
		folder,
		name,
		type,
		catalogue: service ? root : `${root}/rest/services`,
		/** Of another service on the server, with the same number of the layer. */
		addressOf: (path: string, catalogue: string) =>
			service
				? `${catalogue}/${encodeURI(path)}${layer}`
				: `${catalogue.replace("/rest/", "/")}/${encodeURI(path)}/WMSServer`,
	};
}

function decode(text: string): string {
	try {
		return decodeURI(text);
	} catch {
		return text;
	}
}

export function numberIn(address: string): string {
	return arcgisPath.exec(new URL(address).pathname)?.[2] ?? "";
}
