import type { ServerResponse } from "node:http";
import type { Description, Renderer } from "../../registry/description.ts";
import type { Registration } from "../../registry/registration.ts";
import { langs } from "../../registry/smallkey.ts";
import { renderAt, targetNames, targetPath } from "../../registry/targets/table.ts";
import type { Entry } from "../../site/data/entries.ts";
import { contentOf, entryOf } from "../../site/data/entry.ts";
import type { Sickness } from "../../site/data/health.ts";
import type { CommitChanges } from "../../site/data/history.ts";
import { buildSite, type SiteFiles } from "../../site/data/site.ts";
import { pageHeaders } from "../../site/http/pages.ts";
import type { SiteSettings } from "../../site/static/page-settings.ts";
import { catalogueHtml, errorHtml } from "../../site/static/site-pages.ts";
import { Peer } from "../extensions/harvest/peer.ts";
import { factsOf } from "../viewer/viewer.ts";
import { buildCatalogue } from "./data/entries.ts";
import { plainOptions, plainSettings } from "./data/pages.ts";

export interface TestLayer {
	smallkey: string;
	registration: Registration;
	description?: Description;
	health?: Sickness | null;
	sender?: Entry["sender"];
	more?: Partial<Entry>;
}

const settings = { metadataUrl: "", catalogueUrl: "" };

/** The page's own files and the guide: made once for all tests of a file. */
let site: Promise<SiteFiles> | undefined;

export class SiteWorld implements AsyncDisposable {
	readonly files = new Map<string, string | Uint8Array>();

	private constructor(
		readonly server: Peer,
		readonly prefix: string,
	) {}

	url(path: string) {
		return `${this.server.origin}${this.prefix}/${path}`;
	}

	static async open(
		layers: readonly TestLayer[],
		more: Partial<SiteSettings> = {},
		prefix = "",
		history: readonly CommitChanges[] = [],
	): Promise<SiteWorld> {
		const world = new SiteWorld(await Peer.open(), prefix);
		site ??= buildSite(plainOptions, true);
		const { files, pages: plain } = await site;
		const pages = { ...plain, site: { ...plainSettings, ...more } };
		const owners = (smallkey: string) => (smallkey.startsWith("sick") ? ["@org/menders"] : []);
		const entries = layers.map((layer) => world.#addLayer(layer));
		const built = buildCatalogue(entries, history, { pages, isServed: false, commit: null, owners });
		for (const [path, content] of [...files, ...built]) if (content !== null) world.files.set(path, content);
		world.files.set("site.json", JSON.stringify(pages.site));
		for (const lang of langs) {
			world.files.set(`${lang}/index.html`, catalogueHtml(lang, pages));
			world.files.set(`${lang}/absent.html`, errorHtml("no-page", "../"));
		}
		world.server.otherwise = (request, response) => world.#answer(request.url ?? "", response);
		return world;
	}

	[Symbol.asyncDispose]() {
		return this.close();
	}

	close() {
		return this.server.close();
	}

	#addLayer({ smallkey, registration, health, sender, more, ...rest }: TestLayer): Entry {
		const { description = null } = rest;
		for (const lang of langs) {
			const facts = factsOf(lang, smallkey, registration, description);
			for (const target of targetNames) {
				const text = renderAt(target, facts);
				if (text !== null) this.files.set(targetPath(target, lang, smallkey), text);
			}
		}
		const changed = { commit: "0".repeat(12), date: "2026-03-04T12:00:00Z" };
		const layer = { smallkey, registration, description };
		const { health: _, ...entry } = entryOf(contentOf(layer, settings), { changed, sender }, new Map());
		return { ...entry, ...(health !== undefined && { health }), ...more };
	}

	#answer(target: string, response: ServerResponse) {
		const [path = ""] = target.split("?");
		const below = decodeURIComponent(path.slice(this.prefix.length + 1));
		const name = below === "" || below.endsWith("/") ? `${below}index.html` : below;
		const file = this.files.has(name) ? name : `${name}.html`;
		const content = path.startsWith(`${this.prefix}/`) ? this.files.get(file) : undefined;
		const { "Cache-Control": control, "Content-Type": type } = pageHeaders(file, { isSecure: false });
		const headers = {
			"Content-Type": /\.\w+$/.test(file) ? type : "application/json",
			"Cache-Control": control,
		};
		response.writeHead(content === undefined ? 404 : 200, headers).end(content);
	}
}

/** A layer of pictures; in its service it has its smallkey as name. @param members more of its registration */
export function wmsLayer(
	smallkey: string,
	address: string,
	titles: [string, string],
	more: Partial<TestLayer> = {},
	members: object = {},
) {
	const inLang = (service_name: string) => ({
		service_url: address,
		layer: smallkey,
		...members,
		service_name,
	});
	const [en, fr] = titles.map(inLang);
	const registration = { version: "1.0.0", payload_type: "wms", en, fr } as Registration;
	return { smallkey, registration, ...more } satisfies TestLayer;
}

export function featureLayer(
	smallkey: string,
	address: string,
	renderer: Renderer,
	more: object = {},
): TestLayer {
	const entry = { service_url: address };
	const described = {
		service_url: address,
		name: `The ${smallkey}`,
		display_field: "NAME",
		geometry_type: "esriGeometryPoint",
		min_scale: 0,
		max_scale: 0,
		renderer,
		count: 3,
		extent: { wkid: 3978, xmin: -1_000_000, ymin: 0, xmax: 1_000_000, ymax: 2_000_000 },
		fields: [
			{ name: "NAME", alias: "Name of it", type: "esriFieldTypeString" },
			{ name: "KIND", alias: "Kind", type: "esriFieldTypeInteger" },
		],
		...more,
	};
	return {
		smallkey,
		registration: { version: "1.0.0", payload_type: "feature", en: entry, fr: entry } as Registration,
		description: { en: described, fr: described } as Description,
		more: { bounds: [-112, 47, -76, 68] },
	};
}
