import { gzipSync } from "node:zlib";
import { buildCatalogue } from "../../catalogue/catalogue.ts";
import { entryOf } from "../../catalogue/entry.ts";
import { guideFiles } from "../../catalogue/guide/guide.ts";
import { buildSite, type SiteFiles } from "../../catalogue/site.ts";
import type { Description } from "../../registry/description.ts";
import type { Entry } from "../../registry/entries.ts";
import type { Sickness } from "../../registry/health.ts";
import type { Registration } from "../../registry/registration.ts";
import { langs } from "../../registry/smallkey.ts";
import { renderLayer } from "../../registry/targets/render.ts";
import { targetNames, targetPath } from "../../registry/targets/table.ts";
import { plainSettings, type SiteSettings } from "../../site/page/settings.ts";
import { Peer } from "../harvest/peer.ts";

/** A layer of a test's catalogue. */
export interface TestLayer {
	smallkey: string;
	registration: Registration;
	description?: Description;
	health?: Sickness;
	sender?: string;
}

const settings = { metadataUrl: "", catalogueUrl: "" };

/** How the catalogue of a test is made: by a hosting of files. */
function worldSettings(assets: SiteFiles["assets"], owners: (smallkey: string) => string[]) {
	const pages = { assets, publicUrl: "", targets: targetNames, repository: "", hasLayerPages: true };
	return { pages, isServed: false, publicUrl: "", commit: null, owners };
}

/** The page's own files: bundled once for all tests of a file. */
let site: Promise<SiteFiles> | undefined;

/** A static site with some layers, as a build makes it, below a prefix. */
export class SiteWorld {
	readonly files = new Map<string, string | Uint8Array>();

	private constructor(
		readonly server: Peer,
		readonly prefix: string,
	) {}

	/** Address of a page below the site's root. */
	url(path: string): string {
		return `${this.server.origin}${this.prefix}/${path}`;
	}

	static async open(
		layers: readonly TestLayer[],
		more: Partial<SiteSettings> = {},
		prefix = "",
	): Promise<SiteWorld> {
		const world = new SiteWorld(await Peer.open(), prefix);
		site ??= buildSite(plainSettings);
		const { files, assets } = await site;
		for (const [path, content] of files) world.files.set(path, content);
		for (const [path, html] of guideFiles(assets)) world.files.set(path, html);
		world.files.set("site.json", JSON.stringify({ ...plainSettings, ...more }));
		const commit = { commit: "0123456789abcdef0123456789abcdef01234567", date: "2026-03-04T12:00:00Z" };
		const listed = layers.map((layer) => world.#addLayer(layer, commit));
		const history = [
			{ ...commit, layers: layers.map(({ smallkey }) => ({ smallkey, kind: "added" as const })) },
		];
		const owners = (smallkey: string) => (smallkey.startsWith("sick") ? ["@org/menders"] : []);
		for (const [path, text] of buildCatalogue(listed, history, worldSettings(assets, owners))) {
			if (text !== null) world.files.set(path, text);
		}
		world.server.server.prependListener("request", (request) => world.#route(request.url ?? ""));
		return world;
	}

	close(): Promise<void> {
		return this.server.close();
	}

	/** Bytes of some files as they travel. */
	bytesOf(paths: Iterable<string>): number {
		return [...paths].reduce(
			(sum, path) => sum + gzipSync(this.files.get(path) ?? "", { level: 9 }).length,
			0,
		);
	}

	#addLayer(layer: TestLayer, changed: { commit: string; date: string }): Entry {
		const { smallkey, registration, description = null, health, sender } = layer;
		const rendered = langs.map((lang) =>
			renderLayer(targetNames, lang, smallkey, registration, description, settings),
		);
		targetNames.forEach((target, at) => {
			const [en = null, fr = null] = rendered.map((texts) => texts[at] ?? null);
			if (en !== null) this.files.set(targetPath(target, "en", smallkey), en);
			if (fr !== null) this.files.set(targetPath(target, "fr", smallkey), fr);
		});
		const known = { changed, ...(sender && { sender }) };
		const sick = new Map(health ? [[smallkey, health]] : []);
		return entryOf({ smallkey, registration, description }, known, sick, settings);
	}

	/** Answers as a plain web server does; a path that a test has taken stays its own. */
	#route(target: string): void {
		const path = target.split("?")[0] ?? "";
		if (this.server.routes.has(path) && !this.#ours.has(path)) return;
		this.#ours.add(path);
		this.server.on(path, (_request, response) => {
			const below = decodeURIComponent(path.slice(this.prefix.length + 1));
			const file = below === "" || below.endsWith("/") ? `${below}index.html` : below;
			const content = path.startsWith(`${this.prefix}/`) ? this.files.get(file) : undefined;
			if (content === undefined) return void response.writeHead(404).end();
			response.writeHead(200, { "Content-Type": typeOf(file), "Cache-Control": "max-age=60" }).end(content);
		});
	}

	readonly #ours = new Set<string>();
}

const types: Record<string, string> = {
	html: "text/html; charset=utf-8",
	js: "text/javascript; charset=utf-8",
	css: "text/css; charset=utf-8",
	svg: "image/svg+xml",
	xml: "application/atom+xml",
};

function typeOf(file: string): string {
	return types[/\.(\w+)$/.exec(file)?.[1] ?? ""] ?? "application/json; charset=utf-8";
}

/** A wms registration. */
export function wmsAt(
	address: string,
	layer: string,
	titles: [string, string],
	more: object = {},
): Registration {
	const [en, fr] = titles;
	const entry = { service_url: address, layer, ...more };
	return {
		version: "1.0.0",
		payload_type: "wms",
		en: { ...entry, service_name: en },
		fr: { ...entry, service_name: fr },
	} as Registration;
}
