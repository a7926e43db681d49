import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile, type Plugin } from "esbuild";
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
	worker: string;
	/** Names of what the page's own script imports at once: they are loaded beside it. */
	imports: string[];
	styles: string;
	/** The outline of the land as SVG. */
	land: { light: string; dark: string };
}

/** Makes the bundle; with the modules that are in it, as paths from the project's folder. */
export async function bundlePage(): Promise<{ bundle: PageBundle; inputs: string[] }> {
	const [scripts, styles] = await Promise.all([bundleScripts(), minifiedStyles()]);
	const { inputs, ...rest } = scripts;
	return { bundle: { ...rest, styles, land: landSvgs() }, inputs: [...inputs, stylesPath] };
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

/** Bundles the scripts: the parts for maps and drafts are separate files, loaded when they are shown. */
async function bundleScripts(): Promise<
	Pick<PageBundle, "scripts" | "main" | "choose" | "worker" | "imports"> & { inputs: string[] }
> {
	const page = { main: join(root, "site/page/main.ts"), choose: join(root, "catalogue/static/choose.ts") };
	const [result, worker] = await Promise.all([
		bundled(page, true),
		// By itself: code that it shares with the page would be further files, each a request before the first row.
		bundled({ worker: join(root, "site/search/worker.ts") }, false),
	]);
	const outputFiles = [...result.outputFiles, ...worker.outputFiles];
	const scripts = Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), text]));
	const entry = (name: string) => {
		const found = Object.keys(scripts).find((one) => one.startsWith(`${name}-`));
		if (!found) throw new Error(`the bundle has no ${name}`);
		return found;
	};
	return {
		scripts,
		main: entry("main"),
		choose: entry("choose"),
		worker: entry("worker"),
		imports: importsOf(entry("main"), result.metafile),
		inputs: [...new Set([result, worker].flatMap(({ metafile }) => Object.keys(metafile.inputs)))],
	};
}

function bundled(entryPoints: Record<string, string>, splitting: boolean) {
	return build({
		entryPoints,
		splitting,
		absWorkingDir: root,
		bundle: true,
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
}

/** What a script imports, and what that imports, without what is loaded later. */
function importsOf(name: string, { outputs }: Metafile): string[] {
	const found = new Set<string>();
	const visit = (path: string) => {
		for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
			if (kind !== "import-statement" || found.has(imported)) continue;
			found.add(imported);
			visit(imported);
		}
	};
	visit(Object.keys(outputs).find((path) => basename(path) === name) ?? "");
	return [...found].map((path) => basename(path)).sort();
}

const stylesPath = "catalogue/static/styles.css";

async function minifiedStyles(): Promise<string> {
	const result = await build({
		stdin: {
			contents: await readFile(join(root, stylesPath), "utf8"),
			loader: "css",
			resolveDir: dirname(root),
		},
		minify: true,
		write: false,
		logLevel: "silent",
	});
	return result.outputFiles[0]?.text ?? "";
}
