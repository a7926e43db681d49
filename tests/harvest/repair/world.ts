import { connect } from "node:net";
import type { buildConnector } from "undici";
import { mergeDescription } from "../../../harvest/finding.ts";
import { createHarvestLayer } from "../../../harvest/layer.ts";
import { createAsk } from "../../../harvest/net/ask.ts";
import { createFetch } from "../../../harvest/net/fetch.ts";
import { type Clients, type CreateClients, limitRequests } from "../../../harvest/repair/run.ts";
import { type Description, descriptionText } from "../../../registry/description.ts";
import type { Registration } from "../../../registry/registration.ts";
import { type Answering, answering } from "../../helpers/world.ts";
import { drawn } from "../pictures.ts";

/** What a host answers to one request. */
export interface WorldAnswer {
	status?: number;
	location?: string;
	type?: string;
	body?: string | Uint8Array;
}

/** A host, or a part of one: what it answers to an address; null where it has nothing there. */
export type Host = (url: URL) => WorldAnswer | null;

/** Hosts by origin: `http://maps.example.ca`. A host that is not in it does not accept a connection. */
export type World = Readonly<Record<string, Host>>;

/** A layer of an ArcGIS service, as far as the tests say it; the rest is that of `stations`. */
export interface WorldLayer {
	id: number;
	name: string;
	geometryType?: string;
	fields?: string[];
	extent?: [number, number, number, number];
	colour?: number;
	/** Number of features. */
	features?: number;
	/** Scales between which it is drawn. */
	scales?: [min: number, max: number];
	/** What it is, if not a layer of features. */
	type?: string;
}

const json = (value: unknown): WorldAnswer => ({ type: "application/json", body: JSON.stringify(value) });

/** ArcGIS says that there is nothing with status 200. */
const notFound = json({ error: { code: 404, message: "Service not found" } });

export const stationFields = ["OBJECTID", "NAME", "CLASS", "KIND", "OPENED"];

function layerDocument(layer: WorldLayer): Record<string, unknown> {
	const [xmin, ymin, xmax, ymax] = layer.extent ?? [-123, 45, -60, 70];
	const { colour = 200, fields = stationFields } = layer;
	const symbol = { type: "esriSMS", style: "esriSMSCircle", color: [colour, 0, 0, 255], size: 6 };
	const label = `symbol ${colour}`;
	return {
		currentVersion: 10.81,
		id: layer.id,
		name: layer.name,
		type: layer.type ?? "Feature Layer",
		geometryType: layer.geometryType ?? "esriGeometryPoint",
		minScale: layer.scales?.[0] ?? 0,
		maxScale: layer.scales?.[1] ?? 0,
		displayField: fields[1] ?? "",
		extent: { xmin, ymin, xmax, ymax, spatialReference: { wkid: 4269, latestWkid: 4269 } },
		drawingInfo: { renderer: { type: "simple", label, symbol } },
		fields: fields.map((name) => ({
			name,
			alias: name,
			type: name === "OBJECTID" ? "esriFieldTypeOID" : "esriFieldTypeString",
		})),
	};
}

/** An ArcGIS server with services by path: `Air/Stations/MapServer`. */
export function arcgis(
	services: Readonly<Record<string, readonly WorldLayer[]>>,
	root = "/arcgis/rest/services",
): Host {
	const names = Object.keys(services);
	const catalogue = (folder: string) => {
		const inside = names.filter((name) => name.split("/").slice(0, -2).join("/") === folder);
		return json({
			folders: folder === "" ? [...new Set(names.flatMap((name) => name.split("/").slice(0, -2)))] : [],
			services: inside.map((name) => {
				const parts = name.split("/");
				return { name: parts.slice(0, -1).join("/"), type: parts.at(-1) };
			}),
		});
	};
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
		if (rest === "")
			return json({
				layers: layers.map(({ id, name, type }) => ({
					...{ id, name, parentLayerId: -1 },
					...(type === "Group Layer" && { subLayerIds: [id + 1] }),
				})),
			});
		if (rest === "layers") return json({ layers: layers.map(layerDocument) });
		if (rest === "legend") return json({ layers: [] });
		const layer = layers.find(({ id }) => id === Number(rest.split("/")[0]));
		if (!layer) return json({ error: { code: 404, message: "Layer not found" } });
		if (!rest.endsWith("/query")) return json(layerDocument(layer));
		const { features = 12 } = layer;
		if (searchParams.get("returnCountOnly")) return json({ count: features });
		return json({ features: features > 0 ? [{ attributes: {}, geometry: { x: 0, y: 0 } }] : [] });
	};
}

/** A layer of a WMS. */
export interface WmsLayer {
	name: string;
	title: string;
	abstract?: string;
	/** null: the service does not say where it lies. */
	box?: [number, number, number, number] | null;
	/** The scale from which it is drawn: 50000 for 1:50,000. */
	maxDenominator?: number;
}

/** The box and the scale of a layer. 01-068r3, section 7.1.4.5.8: a hint is the diagonal of a pixel of 0.28 mm in metres. */
const boxAndScale = {
	"1.1.1": ([west, south, east, north]: number[], denominator?: number) =>
		`${west === undefined ? "" : `<LatLonBoundingBox minx="${west}" miny="${south}" maxx="${east}" maxy="${north}"/>`}
${denominator ? `<ScaleHint min="0" max="${denominator * 0.00028 * Math.SQRT2}"/>` : ""}`,
	"1.3.0": ([west, south, east, north]: number[], denominator?: number) =>
		`${west === undefined ? "" : `<EX_GeographicBoundingBox><westBoundLongitude>${west}</westBoundLongitude><eastBoundLongitude>${east}</eastBoundLongitude><southBoundLatitude>${south}</southBoundLatitude><northBoundLatitude>${north}</northBoundLatitude></EX_GeographicBoundingBox>`}
${denominator ? `<MaxScaleDenominator>${denominator}</MaxScaleDenominator>` : ""}`,
};

const roots = { "1.1.1": "WMT_MS_Capabilities", "1.3.0": "WMS_Capabilities" };

/** A WMS at a path. */
export function wms(path: string, layers: readonly WmsLayer[], version: keyof typeof roots = "1.1.1"): Host {
	const texts = layers.map(({ name, title, abstract = "", box = [-80, 40, -60, 50], maxDenominator }) => {
		return `<Layer queryable="1"><Name>${name}</Name><Title>${title}</Title><Abstract>${abstract}</Abstract>
${boxAndScale[version](box ?? [], maxDenominator)}</Layer>`;
	});
	const capabilities = `<${roots[version]}><Capability><Layer><Title>All</Title>${texts.join("")}</Layer></Capability></${roots[version]}>`;
	return ({ pathname, searchParams }) => {
		if (pathname !== path) return null;
		const query = new Map([...searchParams].map(([name, value]) => [name.toUpperCase(), value]));
		if (query.get("REQUEST") === "GetMap") return { type: "image/png", body: drawn };
		if (query.get("REQUEST") === "GetCapabilities") return { type: "text/xml", body: capabilities };
		return { type: "text/html", body: "<html>No REQUEST</html>" };
	};
}

/** One answer to all addresses whose path matches. */
export function at(path: RegExp, answer: WorldAnswer): Host {
	return ({ pathname }) => (path.test(pathname) ? answer : null);
}

/** An error of ArcGIS, which comes with status 200. */
export const arcgisError = (code: number, message: string) => json({ error: { code, message } });

/** A host made of several parts: the first that has an answer gives it. */
export function host(...parts: readonly Host[]): Host {
	return (url) => {
		for (const part of parts) {
			const answer = part(url);
			if (answer) return answer;
		}
		return null;
	};
}

/** Redirects every address. @param to the target without a query; `{path}` and `{query}` are those of the request */
export function redirect(status: number, to: string): Host {
	return ({ pathname, search }) => ({
		status,
		location: to.replace("{path}", pathname).replace("{query}", search),
	});
}

/** The same answer to every address. */
export function always(answer: WorldAnswer): Host {
	return () => answer;
}

export const page: WorldAnswer = { type: "text/html", body: "<html><body>Please sign in</body></html>" };

/** Serves a world on this machine, for http and for https addresses alike. */
export class WorldServer implements AsyncDisposable {
	/** Addresses in the order in which they were asked for. */
	readonly asked: string[] = [];
	world: World = {};
	readonly #servers: Answering[] = [];

	private constructor() {}

	static async open(): Promise<WorldServer> {
		const opened = new WorldServer();
		for (const scheme of ["http", "https"]) {
			const server = await answering((request, response) => {
				const origin = `${scheme}://${request.headers.host}`;
				const url = new URL(request.url ?? "/", origin);
				opened.asked.push(url.href);
				const found = opened.world[origin]?.(url) ?? { status: 404 };
				const { status = 200, location, type = "text/plain", body = "" } = found;
				response
					.writeHead(status, { "Content-Type": type, ...(location && { Location: location }) })
					.end(body);
			});
			opened.#servers.push(server);
		}
		return opened;
	}

	/** Connects to the host of the world, in place of the one of that name on the internet. */
	readonly connect: buildConnector.connector = ({ protocol, host = "" }, done) => {
		if (!this.world[`${protocol}//${host}`]) {
			const error = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
			return void setImmediate(() => done(error, null));
		}
		const socket = connect(this.#servers[protocol === "https:" ? 1 : 0]?.port ?? 0, "127.0.0.1");
		socket.once("connect", () => done(null, socket)).once("error", (error) => done(error, null));
	};

	/** Puts another world in place, and forgets what was asked. */
	enter(world: World): void {
		this.world = world;
		this.asked.length = 0;
	}

	/** What a run asks with. The host names of the world are on the internet, its numbers are not. */
	readonly createClients: CreateClients = (onRequest) => {
		const fetch = createFetch({ connect: this.connect, onRequest });
		return { ask: createAsk({ fetch, sleep: async () => {} }), fetch };
	};

	clients(): Clients {
		return limitRequests(this.createClients);
	}

	/** Harvests a layer. @param known what was harvested before */
	async describe(registration: Registration, known: Description | null) {
		const harvest = createHarvestLayer({ ask: this.clients().ask, mapWkid: 3978 });
		const harvested = await harvest(registration, undefined, known);
		const stored = known && descriptionText(known);
		return { harvested, description: mergeDescription(registration, harvested, stored) };
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const server of this.#servers) await server[Symbol.asyncDispose]();
	}
}
