import { errors, layerStatus, missing, receipt } from "./answers.ts";
import {
	catalogueFacets,
	catalogueFrequent,
	catalogueHealth,
	catalogueIndex,
	catalogueKeys,
	catalogueLayers,
	catalogueNames,
	catalogueSet,
	catalogueTerms,
	changesIndex,
	changesPiece,
} from "./catalogue.ts";
import { description } from "./description.ts";
import ramp4 from "./fragment-ramp4.schema.json";
import v09 from "./fragment-v0.9.schema.json";
import v1 from "./fragment-v1.schema.json";
import v2 from "./fragment-v2.schema.json";
import { owners } from "./owners.ts";
import { registration } from "./registration.ts";
import { registration1 } from "./registration-1.ts";
import { registration2 } from "./registration-2.ts";

/** A JSON Schema that refers to others by their `$id`, relative to its own address. */
export interface PublishedSchema {
	$id: string;
	[keyword: string]: unknown;
}

/** Every schema, in the order in which they are listed; its `$id` is its file's name. */
export const publishedSchemas: readonly PublishedSchema[] = [
	registration,
	registration1,
	registration2,
	description,
	owners,
	v09,
	v1,
	v2,
	ramp4,
	receipt,
	layerStatus,
	errors,
	missing,
	catalogueIndex,
	catalogueSet,
	catalogueNames,
	catalogueLayers,
	catalogueKeys,
	catalogueTerms,
	catalogueFrequent,
	catalogueFacets,
	catalogueHealth,
	changesIndex,
	changesPiece,
];
