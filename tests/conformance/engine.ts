import * as assert from "uvu/assert";
import { wmsImage } from "../../registry/icons.ts";
import { manual, wms } from "../helpers/handlers.ts";
import { featureAt } from "../viewer/viewer.ts";
import { type Answer, ask, errorsOf, type Signed, write } from "./client.ts";

export interface Engine {
	origin: string;
	docsMaxKeys: number;
	published: boolean;
	/** Changes with each commit. */
	state(): Promise<string>;
	stop(): Promise<void>;
}

export interface Candidate {
	/** As in the known differences of docs/hosting.md. */
	name: "Node" | "Workers" | "Workers with R2" | "nginx";
	/** null where it can be started. */
	missing: string | null;
	start(layers: ReadonlyMap<string, string>): Promise<Engine>;
}

const differences = {
	/** URL parsing in front of the worker resolves `..` and `.`, makes `\` a `/`, and cuts at `#`. */
	"dot segments": ["Workers", "Workers with R2"],
	/** nginx refuses a `%` that no two hex digits follow: 400, with an empty body. */
	"malformed percent-encoding": ["nginx"],
	/** Static assets know one tag and `W/` before it; a list or `*` is answered with 200. */
	"If-None-Match lists": ["Workers"],
	/** A static asset has no query. */
	"callback of a file": ["Workers"],
	/** Static assets answer another method without `Allow`. */
	"Allow of a file": ["Workers"],
	/** Static assets know GET and HEAD only. */
	"preflight of a file": ["Workers"],
} as const satisfies Record<string, readonly Candidate["name"][]>;

export class Scene {
	constructor(
		readonly candidate: Candidate,
		readonly engine: Engine,
	) {}

	/** Whether this engine is known to answer in another way. */
	readonly differs = (name: keyof typeof differences) =>
		(differences[name] as readonly string[]).includes(this.candidate.name);

	readonly ask = (method: string, target: string, words?: Parameters<typeof ask>[3]) =>
		ask(this.engine.origin, method, target, words);

	readonly get = (target: string, headers: Record<string, string> = {}) =>
		this.ask("GET", target, { headers });

	readonly write = (method: string, target: string, signed: Signed) =>
		write(this.engine.origin, method, target, signed);

	readonly put = (smallkey: string, signed: Signed = {}, prefix = "") =>
		this.write("PUT", `${prefix}/register/${smallkey}`, { body: manual, ...signed });

	readonly remove = (smallkey: string, signed: Signed = {}) =>
		this.write("DELETE", `/register/${smallkey}`, signed);

	/** Reads a fragment in both languages where a registration can be read at once. @param name null: it is not found */
	readonly assertRead = async (smallkey: string, name: string | null) => {
		if (!this.engine.published) return;
		for (const lang of ["en", "fr"]) {
			const answer = await this.get(`/v0.9/doc/${lang}/${smallkey}`);
			assert.is(answer.status, name === null ? 404 : 200);
			if (name !== null) assert.equal(JSON.parse(answer.text), wmsFragment(smallkey, lang, name));
		}
	};

	/** Asserts that nothing is stored, too. */
	readonly assertRefusal = async (
		status: number,
		what: string,
		send: () => Promise<Answer>,
		expected: string | RegExp | string[],
	) => {
		const before = await this.engine.state();
		const answer = await send();
		assert.is(answer.status, status, `${what}: ${answer.text}`);
		assert.is(await this.engine.state(), before, `${what}: nothing is stored`);
		assert.is(answer.headers["content-type"], "application/json", what);
		assert.is(answer.headers["cache-control"], "no-store", what);
		assert.match(answer.headers["x-request-id"] ?? "", /^[\w-]+$/, what);
		assert.is(answer.headers.allow, status === 405 ? "DELETE, PUT" : undefined, what);
		const errors = errorsOf(answer);
		if (expected instanceof RegExp) assert.match(errors.join("\n"), expected, what);
		else assert.equal([...errors].sort(), [expected].flat().sort(), what);
	};
}

export const senders = {
	jstest: "test_-k",
	narrow: { key: "narrow secret, it's", smallkeys: ["ab*", "x?"] },
};

/** Line and paragraph separators: ends of line in a script before ES2019. */
const separators = "a\u2028b\u2029c";

const featureServer = {
	service_type: "esriFeatureServer",
	service_url: "https://host.example/FeatureServer",
};

export const layers: ReadonlyMap<string, string> = new Map([
	["23ax5t", manual],
	["a+b=c", wms("plus")],
	["+", wms("sign")],
	["__proto__", wms("proto")],
	["constructor", wms("constructor")],
	["-", wms("dash")],
	["Z", wms(separators)],
	["x".repeat(64), wms("long")],
	["feature", JSON.stringify(featureAt("https://host.example/MapServer/1", { service_name: "Wells" }))],
	["many", version2({ service_type: "ogcWms", scrape_only: ["b", "a"] })],
	["server", version2({ service_type: "esriMapServer", scrape_only: [5, 0] })],
	["tiles", version2({ service_type: "esriTile", service_name: "Tiles" })],
	["wmts", version2({ service_type: "ogcWmts", scrape_only: ["t"] })],
	["one", version2({ ...featureServer, scrape_only: [3] })],
	["several", version2({ ...featureServer, scrape_only: [3, 4] })],
	["whole", version2({ service_type: "ogcWms", recursive: true })],
]);

function version2(node: object) {
	const whole = { service_url: "https://host.example/MapServer", ...node };
	return JSON.stringify({ version: "2.0", en: whole, fr: whole });
}

/** Of the manual's payload with another name. */
export function wmsFragment(smallkey: string, lang: string, name: string): object {
	const url = "http://wms.ess-ws.nrcan.gc.ca/wms/toporama_en";
	const id = `rcs.${smallkey}.${lang}`;
	const node = { id, displayName: name, url, imageUrl: wmsImage, layerName: name, format: "image/png" };
	return { layers: { wms: [node] } };
}
