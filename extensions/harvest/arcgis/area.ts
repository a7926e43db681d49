import type { Extent } from "../../../registry/extents.ts";
import type { Document } from "../../../site/service/arcgis.ts";
import type { Sides } from "../../../site/service/boxes.ts";
import { numberOf, objectOf, textOf } from "../../../site/service/decode.ts";
import { type Area, mapExtent, projectionOf } from "../../../site/service/projections.ts";
import references from "./references.json" with { type: "json" };

/** Definition for proj4 → well-known ids, of the references of Canada that are not those of maps. */
const definitions = Object.entries(references);

const maxTextLength = 5_000;

/** Well-known text with coordinates on the earth. */
const wellKnownText = /^\s*(?:PROJCS|GEOGCS|PROJCRS|PROJECTEDCRS|GEOGCRS|GEODCRS|GEODETICCRS)\s*\[/i;

function definitionOf(reference: unknown) {
	const { latestWkid, wkid, wkt, wkt2 } = objectOf(reference);
	// `latestWkid` is EPSG's id, and `wkid` may be Esri's older one.
	for (const id of [latestWkid, wkid].map((value) => numberOf(value) ?? 0)) {
		const definition = projectionOf(id) ?? definitions.find(([, wkids]) => wkids.includes(id))?.[0];
		if (definition) return definition;
	}
	const text = [wkt, wkt2].find((value) => typeof value === "string" && wellKnownText.test(value));
	return typeof text === "string" && text.length <= maxTextLength ? text : null;
}

/** Null if the extent is unusable. @param service spatial reference of the service, for an extent without one */
export function readArea(layer: Document, service: unknown = null): Area | null {
	const extent = objectOf(layer.extent);
	const sides = ["xmin", "ymin", "xmax", "ymax"].map((name) => numberOf(extent[name]) ?? Number.NaN);
	const [xmin, ymin, xmax, ymax] = sides as Sides;
	if (!(xmin <= xmax && ymin <= ymax)) return null;
	const definition = lacksReference(layer)
		? (definitionOf(service) ?? definitionOf(layer.sourceSpatialReference))
		: definitionOf(extent.spatialReference);
	return definition === null ? null : { box: { xmin, ymin, xmax, ymax }, definition };
}

export function projectExtent(extent: unknown, mapWkid: number): Extent | null {
	const area = readArea({ extent });
	return area && mapExtent(area, mapWkid);
}

export function lacksReference({ extent }: Document): boolean {
	if (numberOf(objectOf(extent).xmin) === null) return false;
	const { latestWkid, wkid, wkt, wkt2 } = objectOf(objectOf(extent).spatialReference);
	return ![latestWkid, wkid].some(numberOf) && ![wkt, wkt2].some(textOf);
}
