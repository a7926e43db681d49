import Ajv, { _ } from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import type { Plugin } from "esbuild";
import type { Validator } from "../../registry/schemas/compile.ts";

const folder = new URL("../../registry/schemas/", import.meta.url);

/** @param module the name of a file there, whose validators have the same options */
async function generateCode(module: string): Promise<string> {
	const exports: Record<string, Required<Validator>> = await import(new URL(module, folder).href);
	const validators = Object.entries(exports).map(([name, { compiledFrom }]) => ({ name, ...compiledFrom }));
	const ajv = new Ajv({
		...validators[0]?.options,
		messages: false,
		inlineRefs: 3,
		schemas: validators.map(({ schema }) => schema),
		code: { source: true, esm: true, lines: true, formats: _`formats` },
	});
	const ids = Object.fromEntries(validators.map(({ name, schema }) => [name, schema.$id]));
	return `import { formats } from "../../registry/schemas/definitions.ts";\n${standaloneCode(ajv, ids)}`;
}

/** Workers forbid code generation: ajv's standalone code replaces each module that compiles schemas. */
export const standaloneValidators: Plugin = {
	name: "standalone-validators",
	setup({ onLoad }) {
		onLoad({ filter: /[/\\]schemas[/\\]validate-[a-z]+\.ts$/ }, async ({ path }) => {
			const [module = ""] = /validate-[a-z]+\.ts$/.exec(path) ?? [];
			return {
				contents: await generateCode(module),
				loader: "js",
				resolveDir: path.slice(0, -module.length),
			};
		});
	},
};
