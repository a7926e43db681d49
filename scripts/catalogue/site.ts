import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { contentPolicy } from "../../registry/content-policy.ts";
import type { SiteSettings } from "../../site/page/settings.ts";
import type { Assets } from "../../site/static/html.ts";
import { catalogueHtml, rootHtml } from "../../site/static/pages.ts";
import { compiledSchemas } from "../build/schemas.ts";
import { landSvgs } from "./land.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The files of the catalogue page that do not depend on any layer, by path below the site's root. */
export interface SiteFiles {
	files: Map<string, Uint8Array>;
	assets: Assets;
}

/** Where everything with a content-hashed name is: nothing of it ever changes. */
export const assetFolder = "assets";

/** Scripts, styles and the outline of the land: a process makes them once. */
let bundled: Promise<[Scripts, string, ReturnType<typeof landSvgs>]> | undefined;

/**
 * Bundles the page. Nothing in it depends on where it is served, but for the policy.
 * @param isSecure whether it is served over https only
 */
export async function buildSite(settings: SiteSettings, isSecure = false): Promise<SiteFiles> {
	const files = new Map<string, Uint8Array>();
	const text = (path: string, content: string) => files.set(path, Buffer.from(content));
	const hashed = (name: string, content: string) => {
		const hash = createHash("sha256").update(content).digest("hex").slice(0, 10);
		const path = `${assetFolder}/${name.replace(/(\.\w+)$/, `-${hash}$1`)}`;
		text(path, content);
		return path;
	};
	bundled ??= Promise.all([bundleScripts(), minifiedStyles(), landSvgs()]);
	const [scripts, styles, land] = await bundled;
	for (const { path, content } of scripts.outputs) files.set(path, content);
	const assets: Assets = {
		policy: contentPolicy(isSecure),
		script: scripts.main,
		choose: scripts.choose,
		styles: hashed("styles.css", styles),
		landLight: hashed("land-light.svg", land.light),
		landDark: hashed("land-dark.svg", land.dark),
	};
	text("index.html", rootHtml(assets));
	text("en/index.html", catalogueHtml("en", assets));
	text("fr/index.html", catalogueHtml("fr", assets));
	text("site.json", `${JSON.stringify(settings)}\n`);
	return { files, assets };
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

interface Scripts {
	main: string;
	choose: string;
	outputs: { path: string; content: Uint8Array }[];
}

/** Bundles the scripts: what only a map or a draft needs is in files of its own, loaded when it is shown. */
async function bundleScripts(): Promise<Scripts> {
	const result = await build({
		entryPoints: { main: join(root, "site/page/main.ts"), choose: join(root, "site/static/choose.ts") },
		bundle: true,
		splitting: true,
		write: false,
		metafile: true,
		format: "esm",
		target: ["es2022"],
		minify: true,
		legalComments: "none",
		outdir: join(root, assetFolder),
		entryNames: "[name]-[hash]",
		chunkNames: "[name]-[hash]",
		plugins: [compiledSchemas, withoutDefaults],
		logLevel: "silent",
	});
	const outputs = result.outputFiles.map(({ path, contents }) => ({
		path: `${assetFolder}/${basename(path)}`,
		content: contents,
	}));
	const entry = (name: string) => {
		const found = outputs.find(({ path }) => path.startsWith(`${assetFolder}/${name}-`));
		if (!found) throw new Error(`the bundle has no ${name}`);
		return found.path;
	};
	return { main: entry("main"), choose: entry("choose"), outputs };
}

async function minifiedStyles(): Promise<string> {
	const result = await build({
		stdin: {
			contents: await readFile(join(root, "site/static/styles.css"), "utf8"),
			loader: "css",
			resolveDir: dirname(root),
		},
		minify: true,
		write: false,
		logLevel: "silent",
	});
	return result.outputFiles[0]?.text ?? "";
}
