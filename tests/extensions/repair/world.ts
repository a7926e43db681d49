import { createAsk } from "../../../extensions/harvest/ask.ts";
import { createClients } from "../../../extensions/harvest/clients.ts";
import { descriptionText, mergeDescription } from "../../../extensions/harvest/description.ts";
import { harvestLayer } from "../../../extensions/harvest/harvest-layer.ts";
import type { SearchClients } from "../../../extensions/repair/candidates.ts";
import { type Connect, limitRequests } from "../../../extensions/repair/run.ts";
import type { Description } from "../../../registry/description.ts";
import type { CheckedLayer } from "../../../registry/judge.ts";
import { canonicalText, type Registration } from "../../../registry/registration.ts";
import { descriptionPath, layerPath } from "../../../registry/smallkey.ts";
import { Repository } from "../../helpers/world.ts";
import { layerDocument as documentOf, marker } from "../harvest/arcgis-server.ts";
import { json, type MemoryAnswer, memoryFetch } from "../harvest/memory.ts";
import type { Peer } from "../harvest/peer.ts";
import { drawn } from "../harvest/pictures.ts";

/** Null where it has nothing. */
export type Host = (url: URL) => MemoryAnswer | null;

/** By origin. A host that is not in it does not accept a connection. */
export type World = Readonly<Record<string, Host>>;

/** Without its own members it is that of `stations`. */
export interface WorldLayer {
	id: number;
	name: string;
	geometry?: string;
	fields?: string[];
	extent?: number[];
	colour?: number;
	features?: number;
	scale?: number;
	type?: string;
}

/** An error of ArcGIS, which has status 200. */
export const arcgisError = (code: number, message: string) => json({ error: { code, message } });
const notFound = arcgisError(404, "Service not found");

export const stationFields = ["OBJECTID", "NAME", "CLASS", "KIND", "OPENED"];

function layerDocument(layer: WorldLayer) {
	const [xmin, ymin, xmax, ymax] = layer.extent ?? [-123, 45, -60, 70];
	const { id, name, colour = 200, fields = stationFields } = layer;
	return documentOf({
		id,
		name,
		type: layer.type ?? "Feature Layer",
		displayField: fields[1] ?? "",
		geometryType: layer.geometry ?? "esriGeometryPoint",
		minScale: layer.scale ?? 0,
		extent: { xmin, ymin, xmax, ymax, spatialReference: { wkid: 4269 } },
		drawingInfo: { renderer: { type: "simple", label: `symbol ${colour}`, symbol: marker(colour) } },
		fields: fields.map((field) => ({
			name: field,
			alias: field,
			type: field === "OBJECTID" ? "esriFieldTypeOID" : "esriFieldTypeString",
		})),
	});
}

/** Services by path: `Air/Stations/MapServer`. */
export function arcgis(
	services: Readonly<Record<string, readonly WorldLayer[]>>,
	root = "/arcgis/rest/services",
): Host {
	const names = Object.keys(services);
	const folderOf = (name: string) => name.split("/").slice(0, -2).join("/");
	const catalogue = (folder: string) =>
		json({
			folders: folder === "" ? [...new Set(names.map(folderOf))].filter(Boolean) : [],
			services: names
				.filter((name) => folderOf(name) === folder)
				.map((name) => ({ name: name.split("/").slice(0, -1).join("/"), type: name.split("/").at(-1) })),
		});
	return ({ pathname, searchParams }) => {
		if (pathname !== root && !pathname.startsWith(`${root}/`)) return null;
		// Without `f` the server sends its pages for people.
		if (searchParams.get("f") !== "json") return { type: "text/html", body: "<html>ArcGIS REST</html>" };
		const path = pathname.slice(root.length + 1).replace(/\/$/, "");
		const service = names.find((name) => path === name || path.startsWith(`${name}/`));
		if (service === undefined)
			return names.some((name) => path === "" || name.startsWith(`${path}/`)) ? catalogue(path) : notFound;
		const layers = services[service] as readonly WorldLayer[];
		const rest = path.slice(service.length + 1);
		const listed = layers.map(({ id, name, type }) => ({
			id,
			name,
			parentLayerId: -1,
			...(type === "Group Layer" && { subLayerIds: [id + 1] }),
		}));
		if (rest === "") return json({ layers: listed });
		if (rest === "layers") return json({ layers: layers.map(layerDocument) });
		if (rest === "legend") return json({ layers: [] });
		const layer = layers.find(({ id }) => id === Number(rest.split("/")[0]));
		if (!layer) return arcgisError(404, "Layer not found");
		if (!rest.endsWith("/query")) return json(layerDocument(layer));
		const { features = 12 } = layer;
		if (searchParams.get("returnCountOnly")) return json({ count: features });
		return json({ features: features > 0 ? [{ attributes: {}, geometry: { x: 0, y: 0 } }] : [] });
	};
}

export const oddService = "/arcgis/rest/services/Odd/MapServer";

/** Serves a layer, which pages may read, too. */
export function serveOdd(peer: Peer, id: number) {
	const answerOf = arcgis({ "Odd/MapServer": [{ id, name: "Stations" }] });
	const headers = { "Content-Type": "application/json", "Access-Control-Allow-Origin": "*" };
	peer.otherwise = ({ url = "" }, response) => {
		const { json = {} } = answerOf(new URL(url, peer.origin)) ?? {};
		response.writeHead(200, headers).end(JSON.stringify(json));
	};
}

export interface WmsLayer {
	name: string;
	title: string;
	abstract?: string;
	box?: number[];
	scale?: number;
}

const noLayer: MemoryAnswer = {
	type: "text/xml",
	body: '<ServiceExceptionReport><ServiceException code="LayerNotDefined"/></ServiceExceptionReport>',
};

export function wms(path: string, layers: readonly WmsLayer[]): Host {
	const texts = layers.map(({ name, title, abstract = "", box = [-80, 40, -60, 50], scale = 0 }) => {
		const [west, south, east, north] = box;
		// 01-068r3, section 7.1.4.5.8: the diagonal of a pixel of 0.28 mm in metres.
		const hint = scale * 0.00028 * Math.SQRT2;
		return `<Layer queryable="1"><Name>${name}</Name><Title>${title}</Title><Abstract>${abstract}</Abstract>
<LatLonBoundingBox minx="${west}" miny="${south}" maxx="${east}" maxy="${north}"/><ScaleHint min="0" max="${hint}"/></Layer>`;
	});
	const capabilities = `<WMT_MS_Capabilities><Capability><Layer><Title>All</Title>${texts.join("")}</Layer></Capability></WMT_MS_Capabilities>`;
	return ({ pathname, searchParams }) => {
		if (pathname !== path) return null;
		const query = new Map([...searchParams].map(([name, value]) => [name.toUpperCase(), value]));
		const names = layers.map(({ name }) => name);
		if (query.get("REQUEST") === "GetMap")
			return names.includes(query.get("LAYERS") ?? "") ? { type: "image/png", body: drawn } : noLayer;
		if (query.get("REQUEST") === "GetCapabilities") return { type: "text/xml", body: capabilities };
		return { type: "text/html", body: "<html>No REQUEST</html>" };
	};
}

export function at(path: RegExp, answer: MemoryAnswer): Host {
	return ({ pathname }) => (path.test(pathname) ? answer : null);
}

export const always = (answer: MemoryAnswer) => at(/^/, answer);

export function host(...parts: readonly Host[]): Host {
	return (url) => {
		for (const part of parts) {
			const answer = part(url);
			if (answer) return answer;
		}
		return null;
	};
}

/** @param to without a query; `{path}` and `{query}` are those of the request */
export function redirect(status: number, to: string): Host {
	return ({ pathname, search }) => ({
		status,
		location: to.replace("{path}", pathname).replace("{query}", search),
	});
}

export const page: MemoryAnswer = { type: "text/html", body: "<html><body>Please sign in</body></html>" };

export class MemoryWorld {
	readonly asked: string[] = [];
	#world: World = {};

	enter(world: World) {
		this.#world = world;
		this.asked.length = 0;
	}

	readonly connect: Connect = (onRequest) => {
		const answerOf = (url: URL) => {
			const part = this.#world[url.origin];
			return part && (part(url) ?? { status: 404 });
		};
		const fetch = memoryFetch(answerOf, { asked: this.asked, onRequest });
		return { ask: createAsk({ fetch, sleep: async () => {} }), fetch };
	};

	clients(): SearchClients {
		const { ask, fetch } = limitRequests(this.connect);
		return { ...createClients(ask, 3978), fetch };
	}

	async describe(registration: Registration, known: Description | null = null) {
		const harvested = await harvestLayer(registration, known, this.clients());
		return { harvested, description: mergeDescription(registration, harvested, known) };
	}

	async register(world: World, registrations: readonly (readonly [smallkey: string, Registration])[]) {
		this.enter(world);
		const layers: CheckedLayer[] = [];
		const files: Record<string, string> = {};
		for (const [smallkey, registration] of registrations) {
			const { description } = await this.describe(registration);
			layers.push({ smallkey, registration, description });
			files[layerPath(smallkey)] = canonicalText(registration);
			if (description) files[descriptionPath(smallkey)] = descriptionText(description);
		}
		return { layers, repository: new Repository(files) };
	}
}
