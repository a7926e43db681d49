import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { compiledSchemas } from "../../publish/validators.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** An older Node would end with an error that does not name the reason. */
const checkNode = [
	'if (Number(process.versions.node.split(".")[0]) < 20) {',
	'	console.error("refused, because it could not be checked: Node must be 20.11 or newer, not " + process.version);',
	"	process.exit(2);",
	"}",
].join("\n");

/** What is bundled: the code, and the modules that it is made of, as paths from the project's folder. */
export interface HookBundle {
	code: string;
	inputs: string[];
}

/** Bundles what judges a push into one file, which needs nothing but Node. */
export async function bundleHook(): Promise<HookBundle> {
	const result = await build({
		entryPoints: [join(root, "store/hook/main.ts")],
		absWorkingDir: root,
		bundle: true,
		write: false,
		metafile: true,
		format: "esm",
		platform: "node",
		target: "node20",
		mainFields: ["module", "main"],
		minify: true,
		legalComments: "none",
		banner: { js: checkNode },
		plugins: [compiledSchemas],
		logLevel: "silent",
	});
	const code = result.outputFiles[0]?.text ?? "";
	return { code, inputs: Object.keys(result.metafile.inputs) };
}
