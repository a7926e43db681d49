import { createHash } from "node:crypto";
import { contentPolicy } from "../registry/content-policy.ts";
import type { SiteSettings } from "../site/page/settings.ts";
import type { PageBundle } from "./page-bundle.ts";
import { readPageBundle } from "./page-stamped.ts";
import type { PageAssets } from "./static/html.ts";
import { catalogueHtml, rootHtml } from "./static/pages.ts";

/** The files of the catalogue page that do not depend on any layer, by path below the site's root. */
export interface SiteFiles {
	files: Map<string, Uint8Array>;
	assets: PageAssets;
}

/** The folder of files whose names have a hash of their content: they never change. */
export const assetFolder = "assets";

/** A process reads it once. */
let bundled: Promise<PageBundle> | undefined;

/**
 * Bundles the page. Nothing in it depends on where it is served, but for the policy.
 * @param publicUrl address of the site with a slash at its end; empty where it is not known
 */
export async function buildSite(settings: SiteSettings, publicUrl = ""): Promise<SiteFiles> {
	const files = new Map<string, Uint8Array>();
	const text = (path: string, content: string) => files.set(path, Buffer.from(content));
	const hashed = (name: string, content: string) => {
		const hash = createHash("sha256").update(content).digest("hex").slice(0, 10);
		const path = `${assetFolder}/${name.replace(/(\.\w+)$/, `-${hash}$1`)}`;
		text(path, content);
		return path;
	};
	bundled ??= readPageBundle();
	const { scripts, main, choose, worker, imports, styles, land } = await bundled;
	for (const [name, content] of Object.entries(scripts)) text(`${assetFolder}/${name}`, content);
	const assets: PageAssets = {
		policy: contentPolicy(publicUrl.startsWith("https:")),
		script: `${assetFolder}/${main}`,
		choose: `${assetFolder}/${choose}`,
		imports: imports.map((name) => `${assetFolder}/${name}`),
		worker: `${assetFolder}/${worker}`,
		styles: hashed("styles.css", styles),
		icon: hashed("icon.svg", iconSvg),
		landLight: hashed("land-light.svg", land.light),
		landDark: hashed("land-dark.svg", land.dark),
	};
	text("index.html", rootHtml(assets));
	text("en/index.html", catalogueHtml("en", assets, settings, publicUrl));
	text("fr/index.html", catalogueHtml("fr", assets, settings, publicUrl));
	text("site.json", `${JSON.stringify(settings)}\n`);
	return { files, assets };
}

/** The site's picture: three layers above each other, on light and dark tabs. */
const iconSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g stroke="#fff" stroke-width="1.5" stroke-linejoin="round"><path fill="#7fb2dc" d="M16 13 30 21 16 29 2 21z"/><path fill="#3f7fb5" d="M16 8 30 16 16 24 2 16z"/><path fill="#26374a" d="M16 3 30 11 16 19 2 11z"/></g></svg>
`;
