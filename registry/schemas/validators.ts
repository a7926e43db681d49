import Ajv, { _, type AnySchema, type Options } from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import type { Plugin } from "esbuild";
import type { Validator } from "./compile.ts";

function withoutDescriptions(schema: AnySchema): AnySchema {
	// A property may have that name: its value is an object.
	const isText = (keyword: string, value: unknown) =>
		typeof value === "string" && (keyword === "description" || keyword === "title");
	return JSON.parse(JSON.stringify(schema, (name, value) => (isText(name, value) ? undefined : value)));
}

/** Workers forbid code generation: ajv's standalone code replaces each module that compiles schemas. */
export const compiledSchemas: Plugin = {
	name: "compiled-schemas",
	setup(setup) {
		setup.onLoad({ filter: /[/\\]schemas[/\\]validate-[a-z]+\.ts$/ }, async ({ path }) => {
			const [file = ""] = /validate-[a-z]+\.ts$/.exec(path) ?? [];
			const validators: Record<string, Validator> = await import(new URL(file, import.meta.url).href);
			const sources = Object.entries(validators).flatMap(([name, { madeOf }]) =>
				madeOf ? [{ name, ...madeOf }] : [],
			);
			const ajv = new Ajv({
				...(sources[0]?.options as Options),
				messages: false,
				inlineRefs: 3,
				schemas: sources.map(({ schema }) => withoutDescriptions(schema)),
				code: { source: true, esm: true, lines: true, formats: _`formats` },
			});
			const names = Object.fromEntries(sources.map(({ name, schema }) => [name, schema.$id]));
			const code = `import { formats } from "./definitions.ts";\n${standaloneCode(ajv, names)}`;
			return { contents: code, loader: "js", resolveDir: path.slice(0, -file.length) };
		});
	},
};
