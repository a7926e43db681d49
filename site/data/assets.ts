import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile, type Plugin, stop } from "esbuild";
import { type CatalogueOptions, parseSignature } from "../process/site-settings.ts";
import { causes } from "../text/causes.ts";
import { pageTexts } from "../text/page-texts.ts";
import { standaloneValidators } from "./standalone.ts";

/** Names of its files have a hash of the content. */
const assetFolder = "assets";

const root = fileURLToPath(new URL("../..", import.meta.url));

let bundles: ReturnType<typeof bundlePage> | undefined;

/** Made once per process. The bundler's own process ends after them. */
export function bundlesOfPage(): ReturnType<typeof bundlePage> {
	bundles ??= bundlePage().finally(stop);
	return bundles;
}

export async function makeAssets(look: CatalogueOptions["look"]) {
	const { bundled, outputs } = await bundlesOfPage();
	const files = new Map<string, string | Uint8Array>(bundled);
	const add = (name: string, ending: "css" | "svg", content: string) => {
		const hash = createHash("sha256").update(content).digest("hex").slice(0, 10);
		const path = `${assetFolder}/${name}-${hash}.${ending}`;
		files.set(path, content);
		return path;
	};
	const signature = parseSignature(look.signature);
	const pathOf = (name: string): string => {
		const pattern = new RegExp(`^${assetFolder}/${name}-[A-Z0-9]+\\.`);
		const asset = [...bundled.keys()].find((path) => pattern.test(path));
		if (!asset) throw new Error(`the bundle has no ${name}`);
		return asset;
	};
	const assets = {
		script: pathOf("main"),
		choose: pathOf("choose"),
		worker: pathOf("worker"),
		english: pathOf("english"),
		french: pathOf("french"),
		styles: pathOf("styles"),
		imports: importsOf(pathOf("main"), outputs),
		layerImports: [pathOf("layer-view"), ...importsOf(pathOf("layer-view"), outputs)],
		icon: add("icon", "svg", iconSvg),
		land: add("land", "svg", await readFile(join(root, "site/map/land.svg"), "utf8")),
		theme: look.theme === "" ? null : add("theme", "css", look.theme),
		signature: signature && { ...signature, path: add("signature", "svg", look.signature) },
	};
	return { files, assets };
}

const iconSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g stroke="#fff" stroke-width="1.5" stroke-linejoin="round"><path fill="#7fb2dc" d="M16 13 30 21 16 29 2 21z"/><path fill="#3f7fb5" d="M16 8 30 16 16 24 2 16z"/><path fill="#26374a" d="M16 3 30 11 16 19 2 11z"/></g></svg>
`;

/** The parts for maps and drafts are separate files, loaded on demand. */
async function bundlePage() {
	const [page, worker] = await Promise.all([
		bundle({
			entryPoints: ["site/page/main.ts", "site/static/choose.ts", "site/static/styles.css"],
			splitting: true,
		}),
		// Bundled alone: shared code would be in further files, each a request before the first row.
		bundle({ entryPoints: ["site/search/worker.ts"] }),
	]);
	const files = [...page.outputFiles, ...worker.outputFiles].map(({ path, contents }) => {
		return [`${assetFolder}/${basename(path)}`, contents] as const;
	});
	return { bundled: new Map(files), outputs: page.metafile.outputs };
}

const textsOfLanguage: Plugin = {
	name: "texts-of-language",
	setup(setup) {
		setup.onLoad({ filter: /[/\\]text[/\\](?:english|french)\.ts$/ }, ({ path }) => {
			const lang = path.endsWith("english.ts") ? "en" : "fr";
			const contents = `export const causes = ${JSON.stringify(causes[lang])};
export const texts = ${JSON.stringify(pageTexts[lang])};`;
			return { contents };
		});
	},
};

function bundle(options: { entryPoints: string[]; splitting?: true }) {
	return build({
		...options,
		absWorkingDir: root,
		bundle: true,
		write: false,
		metafile: true,
		format: "esm",
		target: ["es2022"],
		minify: true,
		legalComments: "none",
		outdir: assetFolder,
		entryNames: "[name]-[hash]",
		chunkNames: "[name]-[hash]",
		plugins: [standaloneValidators, textsOfLanguage],
		logLevel: "silent",
	});
}

function importsOf(path: string, outputs: Metafile["outputs"], imports = new Set<string>()): string[] {
	for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
		if (kind !== "import-statement" || imports.has(imported)) continue;
		imports.add(imported);
		importsOf(imported, outputs, imports);
	}
	return [...imports].sort();
}
