import { type OpenApiSettings, openApiDocument } from "./document.ts";
import { publishedSchemas } from "./published.ts";

/**
 * The description of the interface as files, by their names in the folder `schemas` of a build: each JSON Schema under
 * its `$id`, which is how they refer to each other, and the OpenAPI document.
 */
export function schemaFiles(settings: OpenApiSettings): Map<string, string> {
	const files = new Map<string, object>(publishedSchemas.map((schema) => [schema.$id, schema]));
	files.set("openapi.json", openApiDocument(settings));
	return new Map(Array.from(files, ([name, value]) => [name, `${JSON.stringify(value, null, 2)}\n`]));
}
