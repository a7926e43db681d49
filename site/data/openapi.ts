import { readdirSync, readFileSync } from "node:fs";
import { errors, layerStatus, missing, receipt } from "../../registry/schemas/answers.ts";
import { owners } from "../../registry/schemas/definitions.ts";
import { description } from "../../registry/schemas/description.ts";
import { registration, registration1, registration2 } from "../../registry/schemas/registration.ts";
import type { Target, TargetName } from "../../registry/targets/facts.ts";
import { targets } from "../../registry/targets/table.ts";
import { type TextCode, texts } from "../../registry/texts.ts";
import { readVersion } from "../../store/files/version.ts";
import { catalogueChunk } from "./entry.ts";

const folder = new URL("../../registry/schemas/", import.meta.url);

function readJson<T>(name: string): T {
	return JSON.parse(readFileSync(new URL(name, folder), "utf8"));
}

/** Keys are names in `schemas/`. @param url of the server; may be relative */
export function schemaFiles(served: readonly TargetName[], url: string): Map<string, string> {
	const names = readdirSync(folder).filter((name) => name.endsWith(".schema.json"));
	const schemas = [
		...[registration, registration1, registration2, description, owners],
		...[catalogueChunk, receipt, layerStatus, errors, missing],
		...names.sort().map((name) => readJson<{ $id: string }>(name)),
	];
	const files = new Map<string, object>(schemas.map((schema) => [schema.$id, schema]));
	files.set("openapi.json", openApiDocument(served, url));
	return new Map(Array.from(files, ([name, value]) => [name, `${JSON.stringify(value, withText, 2)}\n`]));
}

/** Adds `errorMessage`, which editors show, to each rule of a schema that has a code. */
function withText(_name: string, value: unknown): unknown {
	const { code } = (value ?? {}) as { code?: unknown };
	if (typeof code !== "string" || !(code in texts.en)) return value;
	return { ...(value as object), errorMessage: texts.en[code as TextCode].replace(/, not \{0\}$/, "") };
}

/** OpenAPI 3.1.1: the paths of the served targets, and those of `schemas/openapi.json`. */
export function openApiDocument(served: readonly TargetName[], url: string): object {
	const document = readJson<{ info: object; paths: object }>("openapi.json");
	const reads = targets.filter(({ name }) => served.includes(name)).flatMap(readPaths);
	return {
		...document,
		info: { ...document.info, version: readVersion() },
		servers: [{ url }],
		paths: { ...Object.fromEntries(reads), ...document.paths },
	};
}

function readPaths(target: Target): [string, object][] {
	const { name, doc, docs } = target;
	const id = `${name[0]?.toUpperCase()}${name.slice(1).replace(".", "")}`;
	const fragment = { $ref: `fragment-${name}.schema.json` };
	const elements = "One element for each key, in the order of the keys.";
	const several = {
		operationId: `readLayers${id}`,
		summary: `Several layers at ${name}`,
		...readAnswers("smallkeys", elements, listSchema(target, fragment), {
			...(doc === docs && notFound),
			414: { description: "More keys, or a larger answer, than is served. No body." },
		}),
	};
	const layer = {
		operationId: `readLayer${id}`,
		summary: `One layer at ${name}`,
		...readAnswers("smallkey", "The layer.", fragment, notFound),
	};
	const list: [string, object] = [`/${docs}/{lang}/{smallkeys}`, { get: several }];
	return doc === docs ? [list] : [[`/${doc}/{lang}/{smallkey}`, { get: layer }], list];
}

const notFound = { 404: { description: "Not found. No body." } };

function readAnswers(key: string, description: string, schema: object, refused: object): object {
	const parameters = ["lang", key, "callback"].map((name) => ({ $ref: `#/components/parameters/${name}` }));
	const content = {
		"application/json": { schema },
		"application/javascript": {
			schema: { description: "The same as a function's argument.", type: "string" },
		},
	};
	const responses = {
		200: { description, content },
		304: { description: "As If-None-Match says, it has not changed. No body." },
		400: {
			description: "The language is not en or fr, or the callback is not a name of a function. No body.",
		},
		...refused,
	};
	return { tags: ["read"], security: [], parameters, responses };
}

function listSchema(target: Target, fragment: object): object {
	if (target.envelope) return fragment;
	const absent = target.absent("", 2);
	if (absent === null) return { oneOf: [fragment, { type: "array", items: fragment }] };
	const unknown = absent === "null" ? { type: "null" } : { $ref: missing.$id };
	return { type: "array", items: { oneOf: [fragment, unknown] } };
}
