import { description } from "../../schemas/description.ts";
import { owners } from "../../schemas/owners.ts";
import { type PublishedSchema, publishedSchemas } from "./published.ts";

type Json = unknown;
type JsonObject = { [name: string]: Json };

/** Keywords of the schemas that OpenAPI has in its own place, or that are ours. */
const leftOut: ReadonlySet<string> = new Set([
	"$schema",
	"$id",
	"definitions",
	"errorMessage",
	"code",
	"onlyOnWrite",
]);

/** Name of a schema among the components: `registration-1` for `registration-1.schema.json`. */
function componentName(id: string): string {
	return id.replace(".schema.json", "");
}

/** A reference to a published schema: `#/components/schemas/registration`. */
export function schemaRef(schema: { $id: string }): { $ref: string } {
	return { $ref: `#/components/schemas/${componentName(schema.$id)}` };
}

/** A reference to another part of the document: `ref("responses", "twin")`. */
export function ref(section: string, name: string): { $ref: string } {
	return { $ref: `#/components/${section}/${name}` };
}

/** An answer whose body is JSON. */
export function json(description: string, schema: Json): Json {
	return { description, content: { "application/json": { schema } } };
}

/** Schemas of files that no request and no answer holds. */
const ofFiles: ReadonlySet<string> = new Set([description.$id, owners.$id]);

/**
 * Every schema of a request or an answer and each of its definitions as a component of OpenAPI 3.1: `registration-1`,
 * `registration-1.lang`. Draft-07 and 2020-12 agree on all keywords that are used.
 */
export function schemaComponents(): Record<string, Json> {
	return Object.fromEntries(publishedSchemas.filter(({ $id }) => !ofFiles.has($id)).flatMap(componentsOf));
}

function componentsOf(schema: PublishedSchema): [string, Json][] {
	const name = componentName(schema.$id);
	const definitions = Object.entries((schema.definitions ?? {}) as JsonObject);
	return [
		[name, converted(schema, schema)],
		...definitions.map(([part, value]): [string, Json] => [`${name}.${part}`, converted(value, schema)]),
	];
}

/** A part of a schema with its references into the components. */
function converted(part: Json, schema: PublishedSchema): Json {
	if (Array.isArray(part)) return part.map((item) => converted(item, schema));
	if (typeof part !== "object" || part === null) return part;
	const entries = Object.entries(part).filter(([keyword]) => !leftOut.has(keyword));
	return Object.fromEntries(
		entries.map(([keyword, value]): [string, Json] => {
			if (keyword === "$ref") return [keyword, convertedRef(String(value), schema.$id)];
			if (keyword === "discriminator") return [keyword, withMapping(part as JsonObject, schema)];
			return [keyword, converted(value, schema)];
		}),
	);
}

/** `#/definitions/lang`, or the same behind the `$id` of another schema. */
function convertedRef(ref: string, own: string): string {
	const [id, pointer = ""] = ref.split("#");
	const name = componentName(id || own);
	return `#/components/schemas/${name}${pointer.replace("/definitions/", ".")}`;
}

/** OpenAPI wants to be told which value means which schema, where their names are others. */
function withMapping({ discriminator, oneOf }: JsonObject, schema: PublishedSchema): Json {
	const { propertyName } = discriminator as { propertyName: string };
	const mapping = (oneOf as { $ref: string }[]).flatMap(({ $ref }) => {
		const shape = (schema.definitions as JsonObject)[$ref.replace("#/definitions/", "")] as {
			properties: Record<string, { const?: string; enum?: string[] }>;
		};
		const tag = shape.properties[propertyName] ?? {};
		return (tag.enum ?? [tag.const as string]).map((value) => [value, convertedRef($ref, schema.$id)]);
	});
	return { propertyName, mapping: Object.fromEntries(mapping) };
}
