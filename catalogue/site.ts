import { createHash } from "node:crypto";
import { contentPolicy } from "../registry/content-policy.ts";
import type { SiteSettings } from "../site/page/settings.ts";
import type { PageBundle } from "./page-bundle.ts";
import { readPageBundle } from "./page-stamped.ts";
import type { PageAssets } from "./static/html.ts";
import { iconSvg } from "./static/icon.ts";
import { catalogueHtml, rootHtml } from "./static/pages.ts";

/** The files of the catalogue page that do not depend on any layer, by path below the site's root. */
export interface SiteFiles {
	files: Map<string, Uint8Array>;
	assets: PageAssets;
}

/** Where everything with a content-hashed name is: nothing of it ever changes. */
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
