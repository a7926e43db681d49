import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import * as assert from "uvu/assert";
import type { Route } from "../../../api/app.ts";
import { Catalogue } from "../../../api/catalogue-requests.ts";
import { TokenBuckets } from "../../../api/limits.ts";
import { parseTrustedProxies, type TrustedProxies } from "../../../api/node/address.ts";
import { maxSearches, Searches } from "../../../api/search.ts";
import { etagOf } from "../../../registry/etag.ts";
import type { Fragments } from "../../../registry/fragment.ts";
import { targetNames } from "../../../registry/targets/table.ts";
import { textOf as busy } from "../../../registry/texts.ts";
import { createReadStatus } from "../../../service/layer-status.ts";
import { StoreBusy } from "../../../store/store.ts";
import { buildCatalogue, generateEntries } from "../../catalogue/entries.ts";
import { pageSettings } from "../../catalogue/pages.ts";
import { root } from "../../helpers/process.ts";
import { suite } from "../../helpers/suite.ts";
import { eventually } from "../../helpers/wait.ts";
import { plausibleHead, TestServer } from "./node-server.ts";

const test = suite("unsigned routes");
test.after.each(() => TestServer.closeAll());

/** The rows of SECURITY.md: route → the statuses of what is beyond its bound, in order. */
const table = new Map<string, number[]>();
for (const [, routes = "", , beyond = ""] of (await readFile(join(root, "SECURITY.md"), "utf8")).matchAll(
	/^\| ((?:`\w+`(?:, )?)+|any) \| ([^|]+) \| ([^|]+) \|$/gm,
)) {
	const statuses = [...beyond.matchAll(/\d{3}/g)].map(Number);
	for (const route of routes.split(", ")) table.set(route.replaceAll("`", ""), statuses);
}

interface Options {
	method?: string;
	headers?: Record<string, string>;
	body?: string;
}

/** The status of the answer to a request, on a connection of its own. */
function statusOf(url: string, { body, ...options }: Options): Promise<number> {
	return new Promise((resolve, reject) => {
		const sent = request(url, { ...options, agent: false, maxHeaderSize: 128 * 1024 }, (answer) => {
			answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
		});
		sent.on("error", reject).end(body);
	});
}

/** A request: its target, and what else than a plain GET it is. `times`: it is sent so often at once. */
type Sent = [target: string, init?: Options & { times?: number }];

const unsigned = { method: "PUT", headers: { "X-Forwarded-For": "192.0.2.1" } };
const entries = [...generateEntries(300)];
const someKey = entries[0]?.smallkey;
const items = "/collections/layers/items";
const words = (count: number) => Array.from({ length: count }, (_, index) => `zzz${index}zzz`).join(",");

/**
 * For each route the largest requests that it answers, with the status, and one beyond each of its bounds. The compiler
 * demands a line for each route of the handler.
 */
const worst: Record<Route["kind"] | "any", { status: number; most: Sent[]; beyond: Sent[] }> = {
	doc: {
		status: 200,
		most: [[`/v0.9/doc/en/small?callback=${"a".repeat(128)}`]],
		beyond: [[`/v0.9/doc/en/small?callback=${"a".repeat(129)}`]],
	},
	docs: {
		status: 200,
		most: [[`/v0.9/docs/en/${"small,".repeat(999)}small`], [`/v0.9/docs/en/${"x".repeat(15_980)},`]],
		beyond: [
			[`/v0.9/docs/en/${"small,".repeat(1_000)}small`],
			[`/v0.9/docs/en/${"large,".repeat(999)}large`],
			[`/v0.9/docs/en/${"x".repeat(16_000)},`],
		],
	},
	status: {
		status: 404,
		most: [["/status/none", { times: 500 }]],
		beyond: [
			["/status/held", { times: 20, headers: unsigned.headers }],
			["/status/held", { times: 110 }],
		],
	},
	page: {
		status: 200,
		most: [["/list/"], [`/en/layer/${someKey}`]],
		beyond: [[`/guide/${"x".repeat(200)}`], ["/list/999999.html"]],
	},
	records: {
		status: 200,
		most: [[`${items}?q=${words(10)}&limit=200`], [`${items}?ids=${"x,".repeat(3_900)}`]],
		beyond: [
			[`${items}?q=${words(11)}`],
			[`${items}?ids=${"x,".repeat(4_000)}`],
			[`${items}?q=held`, { times: maxSearches + 5 }],
		],
	},
	moved: { status: 301, most: [[`/en?${"x".repeat(60_000)}`]], beyond: [["/enx"]] },
	preflight: {
		status: 204,
		most: [[`/v0.9/docs/en/${"a,".repeat(7_000)}`, { method: "OPTIONS" }]],
		beyond: [["/none", { method: "OPTIONS" }]],
	},
	version: { status: 200, most: [["/v2/version/"]], beyond: [["/v2/version/", { method: "POST" }]] },
	healthz: { status: 200, most: [["/healthz"]], beyond: [["/healthz", { method: "POST" }]] },
	readyz: { status: 200, most: [["/readyz"]], beyond: [["/readyz", { method: "POST" }]] },
	write: {
		status: 401,
		most: [["/register/a", { method: "PUT", body: "x".repeat(65_536) }]],
		beyond: [
			["/register/a?b", { method: "PUT" }],
			["/register/a", { method: "PUT", body: "x".repeat(65_537) }],
			["/register/a", { ...unsigned, times: 30 }],
		],
	},
	refused: {
		status: 404,
		most: [[`/${"a/".repeat(30_000)}`], [`/${"%zz".repeat(20_000)}`, { method: "HEAD" }]],
		beyond: [["/none"]],
	},
	any: {
		status: 200,
		most: [["/healthz", { headers: { X: "x".repeat(60_000) } }]],
		beyond: [[`/${"x".repeat(66_000)}`]],
	},
};

test("the table of SECURITY.md has a row for each route, and no other", () => {
	assert.equal([...table.keys()].sort(), Object.keys(worst).sort());
});

/** A service with a catalogue of 300 layers. Look-ups of layers, and searches for `held`, do not end before `release`. */
async function start() {
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	let isSearchHeld = false;
	const files = buildCatalogue(entries, null, {
		pages: pageSettings,
		isServed: true,
		commit: null,
		owners: () => [],
	});
	files.set("pages.json", JSON.stringify(pageSettings));
	const text = async (file: string) => files.get(file) ?? null;
	const searches = new Searches(async () => (isSearchHeld ? held : undefined));
	const settings = { headers: {}, isSecure: false, isLive: true };
	const catalogue = new Catalogue({ find: async () => null, text, ...settings }, searches);
	const bodies: Record<string, Uint8Array> = {
		small: Buffer.from('{"a":1}'),
		large: Buffer.alloc(40_000, " "),
	};
	const fragments: Fragments = (_target, _lang, smallkey) => {
		const body = bodies[smallkey];
		return body ? { body, etag: etagOf(body) } : null;
	};
	const limiter = new TokenBuckets({ perMinute: 1, burst: 100, bytesPerDay: 1_000_000 }, () => new Date());
	const status = createReadStatus({
		repository: root,
		store: { read: () => held.then(() => Promise.reject(new StoreBusy(busy("slow"), 1))) },
		has: (smallkey) => smallkey === "held",
		harvester: null,
	});
	const server = await TestServer.start({
		fragments,
		version: null,
		pages: (route, question) => {
			isSearchHeld ||= route.kind === "records" && route.query === "q=held";
			return catalogue.answer(route, question);
		},
		trustedProxies: parseTrustedProxies("127.0.0.1") as TrustedProxies,
		maxHeldBytes: 100_000,
		times: { badWriteDelayMs: 1, bodyTimeoutMs: 3_000, checkEveryMs: 50 },
		context: {
			limiter,
			status,
			settings: {
				...{ basePath: "", docsMaxKeys: 1000, targets: targetNames, metadataUrl: "", catalogueUrl: "" },
				...{ site: true, senders: new Map() },
			},
		},
	});
	return { server, release };
}

test("each route answers its largest request and refuses a larger one, and others are served", async () => {
	const { server, release } = await start();
	const waiting: Promise<unknown>[] = [];
	/** @returns the statuses; of requests that are held, those of the ones that are not */
	const send = async ([target, { times = 1, ...init } = {}]: Sent): Promise<number[]> => {
		const statuses: number[] = [];
		const all = Array.from({ length: times }, async () => {
			statuses.push(await statusOf(server.url + target, init));
		});
		waiting.push(Promise.all(all));
		if (target.includes("held")) await eventually(() => statuses.length > 0);
		else await waiting.at(-1);
		return statuses;
	};
	for (const [route, { status, most, beyond }] of Object.entries(worst)) {
		for (const one of most) {
			const statuses = await send(one);
			assert.ok(
				statuses.every((other) => other === status),
				`${route} ${one[0].slice(0, 60)}: ${statuses}`,
			);
		}
		const refused = new Set<number>();
		for (const one of beyond) for (const other of await send(one)) refused.add(other);
		if (route === "write") for (const other of await sendBodies(server)) refused.add(other);
		assert.equal([...refused].sort(), table.get(route), route);
		assert.is(await statusOf(`${server.url}/v0.9/doc/en/small`, {}), 200, `after ${route}`);
	}
	release();
	await Promise.all(waiting);
	assert.equal([server.stored, server.reported], [[], []]);
	await server.end();
});

/** Bodies that together have more bytes than may be in memory, and do not end. @returns their statuses */
async function sendBodies(server: TestServer): Promise<number[]> {
	const bodies = Array.from({ length: 3 }, () => server.connect());
	for (const body of bodies) body.send(plausibleHead(65_536) + "x".repeat(65_535));
	await eventually(() => bodies.every(({ statuses }) => statuses.length > 0));
	for (const { socket } of bodies) socket.destroy();
	return bodies.flatMap(({ statuses }) => statuses);
}

test.run();
