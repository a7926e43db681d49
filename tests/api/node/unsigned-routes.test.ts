import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import type { Route } from "../../../api/app.ts";
import { root } from "../../helpers/process.ts";
import { pageRoute, serverSuite, TestServer } from "./node-server.ts";

const test = serverSuite("unsigned routes");

/** The rows of SECURITY.md: route → the statuses of what is beyond its bound, in order. */
async function readTable(): Promise<Map<string, number[]>> {
	const text = await readFile(join(root, "SECURITY.md"), "utf8");
	const row = /^- ((?:`\w+`(?:, )?)+|any): .+ \(([\d, ]+)\)$/gm;
	return new Map(
		[...text.matchAll(row)].flatMap(([, routes = "", beyond = ""]) => {
			const statuses = [...beyond.matchAll(/\d{3}/g)].map(Number);
			return routes.split(", ").map((route) => [route.replaceAll("`", ""), statuses] as const);
		}),
	);
}

/** For each route a request beyond its bound; the compiler demands a line for each. */
const beyond: Record<Exclude<Route["kind"], "other"> | "page" | "records" | "any", string> = {
	doc: `GET /v0.9/doc/en/a?callback=${"a".repeat(129)}`,
	docs: `GET /v0.9/docs/en/${"x".repeat(16_000)},`,
	status: "GET /status/none",
	page: `GET /guide/${"x".repeat(200)}`,
	records: "GET /collections",
	preflight: "OPTIONS /none",
	version: "POST /v2/version/",
	healthz: "POST /healthz",
	readyz: "POST /readyz",
	write: "PUT /register/a?b",
	refused: `GET /${"a/".repeat(30_000)}`,
	any: `GET /${"x".repeat(66_000)}`,
};

test("SECURITY.md has a row for each route, and each refuses what is beyond its bound", async () => {
	const table = await readTable();
	assert.equal([...table.keys()].sort(), Object.keys(beyond).sort());
	const routes = [pageRoute(() => ({ status: 404, headers: {}, body: new Uint8Array(0) }))];
	const server = await TestServer.start({ context: { routes } });
	for (const [route, line] of Object.entries(beyond)) {
		const { statuses } = await server.exchange(`${line} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
		const expected = route === "status" || route === "records" ? [404] : table.get(route);
		assert.ok(statuses.length === 1 && expected?.includes(statuses[0] ?? 0), `${route}: ${statuses}`);
	}
	assert.equal([server.stored, server.reported], [[], []]);
});

test.run();
