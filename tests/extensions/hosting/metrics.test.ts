import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import type { Gauges, ServiceEvent } from "../../../api/service/extensions.ts";
import { createMetrics, serveMetrics } from "../../../extensions/hosting/metrics.ts";
import { root } from "../../helpers/process.ts";
import { serve } from "../../helpers/serving.ts";
import { test } from "../../helpers/suite.ts";
import { answering, temporaryFolder } from "../../helpers/world.ts";
import { logTo } from "../../store/git-store.ts";

const gauges = { layers: 3, queue: 2, filesBehind: 0, isReady: 1 };
const read = async (): Promise<Gauges> => gauges;

function assertLines(text: string, lines: readonly string[]) {
	for (const line of lines) assert.ok(text.includes(`\nfragments_${line}\n`), `${line} in\n${text}`);
}

test("what a service answers and harvests is counted, and its state is measured", async () => {
	const metrics = createMetrics();
	const line = { id: null, method: "GET", path: "", sender: null };
	const answer = { kind: "answer", route: "doc", status: 200, ...line } as const;
	const events: ServiceEvent[] = [
		{ ...answer, milliseconds: 0.3 },
		{ ...answer, milliseconds: 99_999 },
		{ ...answer, method: "PUT", route: "register", status: 401, milliseconds: 1, reason: "signature" },
		{ ...answer, route: "status", status: 404, milliseconds: 1, reason: "not-registered" },
		{ kind: "harvest", outcome: "failed" },
	];
	for (const event of events) metrics.observe(event);
	assertLines(await metrics.text(root, read), [
		'requests_total{route="doc",status="200"} 2',
		'requests_total{route="register",status="401"} 1',
		'request_seconds_bucket{le="0.00025",route="doc"} 0',
		'request_seconds_bucket{le="0.0005",route="doc"} 1',
		'request_seconds_bucket{le="10",route="doc"} 1',
		'request_seconds_bucket{le="+Inf",route="doc"} 2',
		'writes_refused_total{reason="signature"} 1',
		'harvests_total{outcome="failed"} 1',
		...["layers 3", "queue 2", "files_behind 0", "ready 1"],
	]);
	const text = await createMetrics().text(root, async () => ({ layers: 1, queue: null, isReady: 0 }));
	assertLines(text, ["ready 0"]);
	assert.not.match(text, 'route="doc"', "two services of one process count each its own");
	assert.not.match(text, "fragments_queue", "what a service does not know is left out");
	assert.match(text, /\nfragments_disk_free_bytes \d+\n/);
});

test("metrics have a port of their own, with one path", async () => {
	const metrics = () => createMetrics().text(root, read);
	const served = await serveMetrics({ host: "127.0.0.1", port: 0 }, metrics, logTo([], []));
	const answer = await fetch(served.url);
	assert.match(answer.headers.get("Content-Type") ?? "", "text/plain; version=0.0.4");
	assertLines(await answer.text(), ["layers 3"]);
	assert.is((await fetch(new URL("/healthz", served.url))).status, 404);
	const { status, headers } = await fetch(served.url, { method: "POST" });
	assert.equal([status, headers.get("Allow")], [405, "GET, HEAD"]);
	await served.close();
});

test("a service with METRICS_PORT measures itself, at that port only", async () => {
	await using folder = await temporaryFolder();
	const { port, [Symbol.asyncDispose]: close } = await answering();
	await close();
	await using server = await serve({ DATA_DIR: folder.path, METRICS_PORT: String(port), SITE: "off" });
	assert.is((await fetch(`${server.url}/metrics`)).status, 404);
	await fetch(`${server.url}/v0.9/doc/en/none`);
	for (const path of ["/register/a", "/v1/simplification/a"])
		await fetch(server.url + path, { method: "PUT" });
	const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
	const writes = ["register", "simplify"].map((name) => `requests_total{route="${name}",status="401"} 1`);
	assertLines(text, ['requests_total{route="doc",status="404"} 1', ...writes, "layers 0"]);
});

test("the alerts name metrics that there are", async () => {
	const alerts = await readFile(join(root, "deploy/alerts.yml"), "utf8");
	const text = await createMetrics().text(root, read);
	const names = new Set([...alerts.matchAll(/fragments_[a-z_]+/g)].map(([name]) => name));
	assert.ok(names.size > 8);
	for (const name of names) assert.match(text, `# TYPE ${name.replace(/_bucket$/, "")} `);
});

test.run();
