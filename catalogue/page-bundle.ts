import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { compiledSchemas } from "../publish/validators.ts";
import { landSvgs } from "./land.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** What the page is made of that depends on no layer and on no setting. */
export interface PageBundle {
	/** Name → text: they find each other in one folder. */
	scripts: Record<string, string>;
	/** Names of the two that pages name. */
	main: string;
	choose: string;
	styles: string;
	/** The outline of the land as SVG. */
	land: { light: string; dark: string };
}

/** Makes the bundle; with the modules that are in it, as paths from the project's folder. */
export async function bundlePage(): Promise<{ bundle: PageBundle; inputs: string[] }> {
	const [scripts, styles] = await Promise.all([bundleScripts(), minifiedStyles()]);
	const { inputs, ...rest } = scripts;
	return { bundle: { ...rest, styles, land: landSvgs() }, inputs };
}

/**
 * OpenLayers' map brings its default controls and interactions along, whether or not they are used. Here the map names
 * its own, and they would be a twentieth of what is loaded.
 */
const withoutDefaults: Plugin = {
	name: "without-defaults",
	setup(setup) {
		setup.onLoad({ filter: /[/\\]ol[/\\](?:control|interaction)[/\\]defaults\.js$/ }, () => ({
			contents: "export const defaults = () => [];",
		}));
	},
};

/** Bundles the scripts: what only a map or a draft needs is in files of its own, loaded when it is shown. */
async function bundleScripts(): Promise<
	Pick<PageBundle, "scripts" | "main" | "choose"> & { inputs: string[] }
> {
	const result = await build({
		entryPoints: { main: join(root, "site/page/main.ts"), choose: join(root, "catalogue/static/choose.ts") },
		absWorkingDir: root,
		bundle: true,
		splitting: true,
		write: false,
		metafile: true,
		format: "esm",
		target: ["es2022"],
		minify: true,
		legalComments: "none",
		outdir: join(root, "assets"),
		entryNames: "[name]-[hash]",
		chunkNames: "[name]-[hash]",
		plugins: [compiledSchemas, withoutDefaults],
		logLevel: "silent",
	});
	const scripts = Object.fromEntries(result.outputFiles.map(({ path, text }) => [basename(path), text]));
	const entry = (name: string) => {
		const found = Object.keys(scripts).find((one) => one.startsWith(`${name}-`));
		if (!found) throw new Error(`the bundle has no ${name}`);
		return found;
	};
	return {
		scripts,
		main: entry("main"),
		choose: entry("choose"),
		inputs: Object.keys(result.metafile.inputs),
	};
}

async function minifiedStyles(): Promise<string> {
	const result = await build({
		stdin: {
			contents: await readFile(join(root, "catalogue/static/styles.css"), "utf8"),
			loader: "css",
			resolveDir: dirname(root),
		},
		minify: true,
		write: false,
		logLevel: "silent",
	});
	return result.outputFiles[0]?.text ?? "";
}
