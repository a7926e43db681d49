import { readFileSync } from "node:fs";
import { targets } from "../../registry/targets/table.ts";
import type { Target } from "../../registry/targets/target.ts";
import { errors, layerStatus, missing, receipt } from "../../schemas/answers.ts";
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
} from "../../schemas/catalogue.ts";
import { description } from "../../schemas/description.ts";
import { owners } from "../../schemas/owners.ts";
import { registration } from "../../schemas/registration.ts";
import { registration1 } from "../../schemas/registration-1.ts";
import { registration2 } from "../../schemas/registration-2.ts";

/** A JSON Schema that refers to others by their `$id`, relative to its own address. */
export interface PublishedSchema {
	$id: string;
	[keyword: string]: unknown;
}

/** The schema of one layer in a target. @throws {Error} where its file is missing */
function fragmentSchema({ name }: Target): PublishedSchema {
	const file = new URL(`../../schemas/fragment-${name}.schema.json`, import.meta.url);
	return JSON.parse(readFileSync(file, "utf8"));
}

/** Every schema, in the order in which they are listed; its `$id` is its file's name. */
export const publishedSchemas: readonly PublishedSchema[] = [
	registration,
	registration1,
	registration2,
	description,
	owners,
	...targets.map(fragmentSchema),
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
