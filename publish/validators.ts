import { basename, dirname } from "node:path";
import Ajv, { _, type AnySchema, type Options } from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import type { Plugin } from "esbuild";
import { everyError, firstError } from "../schemas/compile.ts";
import { langDescription } from "../schemas/description.ts";
import { owners } from "../schemas/owners.ts";
import { registration1 } from "../schemas/registration-1.ts";
import { registration2 } from "../schemas/registration-2.ts";

/** The modules that compile schemas: the exports of each, with their schema and their options. */
const validators: Record<string, { options: Options; exports: Record<string, { $id: string }> }> = {
	"validate-description.ts": {
		options: firstError,
		exports: { validateLangDescription: langDescription },
	},
	"validate-owners.ts": { options: everyError, exports: { validateOwners: owners } },
	"validate-registration.ts": {
		options: everyError,
		exports: { validateRegistration1: registration1, validateRegistration2: registration2 },
	},
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
			const validator = validators[basename(path)];
			if (!validator) throw new Error(`${basename(path)}: is not in the table of publish/validators.ts`);
			const schemas = Object.entries(validator.exports);
			const ajv = new Ajv({
				...validator.options,
				schemas: schemas.map(([, schema]) => withoutDescriptions(schema) as AnySchema),
				code: { source: true, esm: true, lines: true, formats: _`formats` },
			});
			const names = Object.fromEntries(schemas.map(([name, schema]) => [name, schema.$id]));
			const code = `import { formats } from "./formats.ts";\n${standaloneCode(ajv, names)}`;
			return { contents: code, loader: "js", resolveDir: dirname(path) };
		});
	},
};
