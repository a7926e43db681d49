import { readFileSync } from "node:fs";
import { targets as allTargets } from "../registry/targets/table.ts";
import type { Target } from "../registry/targets/target.ts";
import { type TextCode, texts } from "../registry/texts.ts";
import { errors, layerStatus, missing, receipt } from "../schemas/answers.ts";
import {
	catalogueChunk,
	catalogueHealth,
	catalogueIndex,
	changesIndex,
	changesPiece,
} from "../schemas/catalogue.ts";
import { description } from "../schemas/description.ts";
import { owners } from "../schemas/owners.ts";
import { registration } from "../schemas/registration.ts";
import { registration1 } from "../schemas/registration-1.ts";
import { registration2 } from "../schemas/registration-2.ts";

/** What differs between one service and another. */
export interface OpenApiSettings {
	/** Version of the service. */
	version: string;
	/** The forms in which layers are read there. */
	targets: readonly Target[];
	/** Where the paths begin; `/` where it is not known. */
	url: string;
}

interface Schema {
	$id: string;
}

/**
 * The description of the interface as files, by their names in the folder `schemas` of a build: each JSON Schema under
 * its `$id`, which is how they and the OpenAPI document refer to each other.
 */
export function schemaFiles(settings: OpenApiSettings): Map<string, string> {
	const schemas: readonly Schema[] = [
		...[registration, registration1, registration2, description, owners],
		...allTargets.map((target) => readJson(fragmentSchema(target)) as Schema),
		...[receipt, layerStatus, errors, missing],
		...[catalogueIndex, catalogueChunk, catalogueHealth, changesIndex, changesPiece],
	];
	const files = new Map<string, object>(schemas.map((schema) => [schema.$id, schema]));
	files.set("openapi.json", openApiDocument(settings));
	return new Map(Array.from(files, ([name, value]) => [name, `${JSON.stringify(value, withText, 2)}\n`]));
}

/** Adds `errorMessage`, which editors show, to each rule of a schema that has a code. */
function withText(_name: string, value: unknown): unknown {
	const { code } = (value ?? {}) as { code?: unknown };
	if (typeof code !== "string" || !(code in texts)) return value;
	return { ...(value as object), errorMessage: texts[code as TextCode][0].replace(/, not \{\}$/, "") };
}

function readJson(name: string): object {
	return JSON.parse(readFileSync(new URL(`../schemas/${name}`, import.meta.url), "utf8"));
}

function fragmentSchema({ name }: Target): string {
	return `fragment-${name}.schema.json`;
}

/**
 * The description of the whole interface (OpenAPI 3.1.1): `schemas/openapi.json` with the paths of the targets, which
 * follow from their table. Schemas are the files beside it.
 */
export function openApiDocument({ version, targets, url }: OpenApiSettings): object {
	const document = readJson("openapi.json") as { info: object; paths: object };
	return {
		...document,
		info: { ...document.info, version },
		servers: [{ url }],
		paths: { ...Object.assign({}, ...targets.map(readPaths)), ...document.paths },
	};
}

/** Where one layer, and where several, are read at a target. */
function readPaths(target: Target): object {
	const fragment = { $ref: fragmentSchema(target) };
	const absent = target.absent("x", 2);
	const missed = absent === "null" ? { type: "null" } : { $ref: missing.$id };
	const items = absent === null ? fragment : { oneOf: [fragment, missed] };
	const [doc, docs] = [`/${target.doc}/{lang}/{smallkey}`, `/${target.docs}/{lang}/{smallkeys}`];
	if (target.doc !== target.docs)
		return {
			[doc]: reading(target, "smallkey", fragment),
			[docs]: reading(target, "smallkeys", { type: "array", items }),
		};
	// A comma in the last segment makes the difference.
	const either = target.envelope ? fragment : { oneOf: [fragment, { type: "array", items: fragment }] };
	return { [docs]: reading(target, "smallkeys", either) };
}

function reading(target: Target, keys: "smallkey" | "smallkeys", schema: object): object {
	const isSeveral = keys === "smallkeys";
	const hasNotFound = !isSeveral || target.doc === target.docs;
	const name = target.name.replaceAll(/[^A-Za-z0-9]/g, "");
	const parameters = ["lang", keys, ...(isSeveral ? ["callback"] : [])];
	const script = { schema: { description: "The same as a function's argument.", type: "string" } };
	return {
		get: {
			operationId: `read${isSeveral ? "Layers" : "Layer"}${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
			summary: `${isSeveral ? "Several layers" : "One layer"} at ${target.name}`,
			tags: ["read"],
			security: [],
			parameters: parameters.map((one) => ({ $ref: `#/components/parameters/${one}` })),
			responses: {
				200: {
					description: isSeveral ? "One element for each key, in the order of the keys." : "The layer.",
					content: {
						"application/json": { schema },
						...(isSeveral && target.doc !== target.docs && { "application/javascript": script }),
					},
				},
				304: { description: "As If-None-Match says, it has not changed. No body." },
				400: { description: "Another language, or no callback. No body." },
				...(hasNotFound && { 404: { description: "Not found. No body." } }),
				...(isSeveral && { 414: { description: "More keys, or a larger answer, than is served. No body." } }),
			},
		},
	};
}
