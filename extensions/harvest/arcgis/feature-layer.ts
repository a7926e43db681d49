import type { FeatureDescription, Field } from "../../../registry/description.ts";
import { maxAbstract } from "../../../registry/schemas/description.ts";
import { plainText } from "../../../registry/untrusted.ts";
import { causeOf } from "../../../site/data/health.ts";
import type { Document } from "../../../site/service/arcgis.ts";
import { numberOf, objectOf, textOf } from "../../../site/service/decode.ts";
import { boundsOf, mapExtent } from "../../../site/service/projections.ts";
import { orTrouble, Trouble } from "../ask.ts";
import type { Clients } from "../clients.ts";
import type { DescriptionResult } from "../description.ts";
import { askDocument, askLayer, objectsIn } from "./answers.ts";
import { lacksReference, readArea } from "./area.ts";
import { askCount } from "./features.ts";
import { readLegend } from "./legend.ts";
import { countClasses, readRenderer } from "./renderer.ts";

/** Fields are columns of a viewer's grid, and classes are images in every fragment. */
const maxFieldsOrClasses = 1000;

/** Characters, in every fragment. */
const maxDescriptionLength = 512 * 1024;

const tooLarge = causeOf("large-layer", maxFieldsOrClasses, maxDescriptionLength / 1024);

function hasTooManyClasses({ drawingInfo }: Document) {
	return countClasses(objectOf(objectOf(drawingInfo).renderer)) > maxFieldsOrClasses;
}

export function fieldsOf(layer: Document): Field[] {
	return objectsIn(layer.fields).map((field) => {
		const name = textOf(field.name);
		return { name, alias: textOf(field.alias) || name, type: textOf(field.type) };
	});
}

export async function describeLayer(address: string, { ask, mapWkid }: Clients): Promise<DescriptionResult> {
	const layer = await askLayer(address, ask);
	if (fieldsOf(layer).length > maxFieldsOrClasses || hasTooManyClasses(layer))
		throw new Trouble("down", tooLarge);
	const askBeside = (path: string) => orTrouble(askDocument(address, ask, path));
	const answers = {
		legend: numberInMap(address) === null ? {} : await askBeside("/../legend"),
		count: await askCount(address, layer, ask),
		service: lacksReference(layer) ? await askBeside("/..") : {},
	};
	const description = buildDescription(address, layer, mapWkid, answers);
	if (JSON.stringify(description).length > maxDescriptionLength) throw new Trouble("down", tooLarge);
	// A permanent failure is ignored, so that the rest is stored.
	const troubles = Object.values(answers).filter((answer) => answer instanceof Trouble);
	const missing = troubles.find(({ isTemporary }) => isTemporary);
	return { description, missing: missing ? new Trouble("down", missing.what) : null };
}

/** Null in a FeatureServer. */
function numberInMap(address: string): number | null {
	const [, number] = /\/MapServer\/(\d+)\/*$/i.exec(new URL(address).pathname) ?? [];
	return number === undefined ? null : Number(number);
}

export function sketchLayer(address: string, layer: Document): FeatureDescription {
	const fields = objectsIn(layer.fields).slice(0, maxFieldsOrClasses);
	const drawingInfo = hasTooManyClasses(layer) ? {} : layer.drawingInfo;
	// The reference has no effect: sketches are compared by `bounds`, in degrees.
	return buildDescription(address, { ...layer, fields, drawingInfo }, 4326, {});
}

/** @param answers further documents of the service */
function buildDescription(
	address: string,
	layer: Document,
	mapWkid: number,
	answers: Partial<Record<"legend" | "count" | "service", Document | Trouble>>,
): FeatureDescription {
	const fields = fieldsOf(layer);
	const geometryType = textOf(layer.geometryType);
	const legend = readLegend(answers.legend, numberInMap(address));
	const area = readArea(layer, objectOf(answers.service).spatialReference);
	const bounds = area && boundsOf(area);
	const abstract = typeof layer.description === "string" ? plainText(layer.description, maxAbstract) : "";
	const count = numberOf(objectOf(answers.count).count);
	return {
		service_url: address,
		name: textOf(layer.name),
		display_field: textOf(layer.displayField),
		geometry_type: geometryType,
		min_scale: Math.max(numberOf(layer.minScale) ?? 0, 0),
		max_scale: Math.max(numberOf(layer.maxScale) ?? 0, 0),
		extent: area && mapExtent(area, mapWkid),
		fields,
		renderer: readRenderer(objectOf(layer.drawingInfo).renderer, { fields, geometryType, legend }),
		count: count !== null && count >= 0 ? count : null,
		...(abstract && { abstract }),
		...(bounds && { bounds: [...bounds] }),
	};
}
