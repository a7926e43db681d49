import { basename, dirname } from "node:path";
import Ajv, { _, type AnySchema, type Options } from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import type { Plugin } from "esbuild";
import type { Validator } from "../schemas/compile.ts";
import * as description from "../schemas/validate-description.ts";
import * as owners from "../schemas/validate-owners.ts";
import * as registration from "../schemas/validate-registration.ts";

const modules: Record<string, Record<string, Validator>> = {
	"validate-description.ts": description,
	"validate-owners.ts": owners,
	"validate-registration.ts": registration,
};

/** A schema without the texts for people who read it: an error carries only the words of its rule. */
function withoutDescriptions(part: unknown): unknown {
	if (typeof part !== "object" || part === null) return part;
	if (Array.isArray(part)) return part.map(withoutDescriptions);
	// A member of a document may be called so, too: its rules are an object.
	const isText = ([keyword, value]: [string, unknown]) =>
		typeof value === "string" && (keyword === "description" || keyword === "title");
	const kept = Object.entries(part).filter((entry) => !isText(entry));
	return Object.fromEntries(kept.map(([keyword, value]) => [keyword, withoutDescriptions(value)]));
}

/**
 * Workers cannot compile a schema (no code generation there), and pages should not: each module that does is replaced
 * by what ajv's standalone mode makes of it.
 */
export const compiledSchemas: Plugin = {
	name: "compiled-schemas",
	setup(setup) {
		setup.onLoad({ filter: /[/\\]schemas[/\\]validate-[a-z]+\.ts$/ }, ({ path }) => {
			const sources = Object.entries(modules[basename(path)] ?? {}).flatMap(([name, { madeOf }]) =>
				madeOf ? [{ name, ...madeOf }] : [],
			);
			const ajv = new Ajv({
				...(sources[0]?.options as Options),
				schemas: sources.map(({ schema }) => withoutDescriptions(schema) as AnySchema),
				code: { source: true, esm: true, lines: true, formats: _`formats` },
			});
			const names = Object.fromEntries(sources.map(({ name, schema }) => [name, schema.$id]));
			const code = `import { formats } from "./formats.ts";\n${standaloneCode(ajv, names)}`;
			return { contents: code, loader: "js", resolveDir: dirname(path) };
		});
	},
};
