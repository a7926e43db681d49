import { execFile, execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { createMetrics } from "../../../service/metrics.ts";
import { manual, secrets } from "../../helpers/local.ts";
import { root, runScript } from "../../helpers/process.ts";
import { serve } from "../../helpers/serving.ts";
import { signed } from "../../helpers/signed.ts";
import { test } from "../../helpers/suite.ts";
import { eventually } from "../../helpers/wait.ts";
import { temporaryFolder } from "../../helpers/world.ts";

/** Starts the service in this process, and ends it after the task. */
async function whileServing(
	env: Record<string, string>,
	task: (url: string, metricsUrl: string | null) => Promise<void>,
): Promise<void> {
	await using folder = await temporaryFolder();
	await using server = await serve({ ...env, DATA_DIR: folder.path });
	await task(server.url, /^Metrics: (\S+)$/m.exec(server.output())?.[1] ?? null);
}

async function put(url: string, secret: string): Promise<Response> {
	const target = "/register/measured";
	return fetch(url + target, await signed(target, manual, { secret }));
}

test("a service with METRICS_PORT counts what it answers, and says how it is", async () => {
	const env = { METRICS_PORT: "0", SENDERS: JSON.stringify({ jstest: secrets.jstest }) };
	await whileServing(env, async (url, metricsUrl) => {
		assert.match(metricsUrl ?? "", /^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
		assert.is((await put(url, secrets.jstest)).status, 201);
		assert.is((await put(url, "wrong")).status, 401);
		for (const key of ["measured", "measured", "nobody"]) await fetch(`${url}/v0.9/doc/en/${key}`);
		await fetch(`${url}/v0.9/docs/en/measured,nobody`);
		await fetch(`${url}/v0.9/docs/en/measured,nobody`);
		await fetch(`${url}/v0.9/doc/de/measured`);

		await eventually(async () => (await fetch(`${url}/readyz`)).ok);
		const answer = await fetch(metricsUrl as string);
		assert.match(answer.headers.get("Content-Type") ?? "", "text/plain; version=0.0.4");
		const text = await answer.text();
		for (const line of [
			'fragments_requests_total{route="doc",status="200"} 2',
			'fragments_requests_total{route="doc",status="404"} 1',
			'fragments_requests_total{route="docs",status="200"} 2',
			'fragments_requests_total{route="refused",status="400"} 1',
			'fragments_requests_total{route="register",status="201"} 1',
			'fragments_requests_total{route="register",status="401"} 1',
			'fragments_request_seconds_count{route="doc"} 3',
			'fragments_request_seconds_bucket{le="+Inf",route="docs"} 2',
			'fragments_writes_refused_total{reason="signature"} 1',
			'fragments_commits_total{by="sender"} 1',
			'fragments_git_seconds_count{operation="checkpoint"} 1',
			"fragments_queue 0",
			"fragments_commits_behind 0",
			"fragments_files_behind 0",
			"fragments_harvests_waiting 0",
			"fragments_ready 1",
		])
			assert.ok(text.includes(`\n${line}\n`), `${line} in\n${text}`);
		assert.match(text, /\nfragments_layers \d+\n/);
		assert.match(text, /\nfragments_disk_free_bytes \d+\n/);
		assert.match(text, /\nprocess_cpu_seconds_total /);
		assert.not.match(text, secrets.jstest);
		await promtool(["check", "metrics"], text);

		assert.is((await fetch(`${new URL("/healthz", metricsUrl as string)}`)).status, 404);
		assert.is((await fetch(metricsUrl as string, { method: "POST" })).status, 405);
		assert.is((await fetch(`${url}/metrics`)).status, 404, "publishers and readers do not reach them");
	});
});

test("without METRICS_PORT nothing listens, and a bad one ends the start", async () => {
	await whileServing({}, async (_url, metricsUrl) => assert.is(metricsUrl, null));
	const bad = await runScript("serve", [], { METRICS_PORT: "many" });
	assert.is(bad.code, 2);
	assert.match(bad.stderr, "METRICS_PORT: must be a whole number from 0 to 65535, not many");
});

test("a port that is taken is named with its settings", async () => {
	await whileServing({ METRICS_PORT: "0" }, async (_url, metricsUrl) => {
		const { port } = new URL(metricsUrl as string);
		await using folder = await temporaryFolder();
		const env = { METRICS_PORT: port, PORT: "0", HARVEST: "off", DATA_DIR: folder.path };
		const { code, stderr } = await runScript("serve", [], env);
		assert.is(code, 2, stderr);
		assert.match(stderr, `METRICS_PORT, METRICS_HOST: cannot listen on 127.0.0.1:${port}: another process`);
	});
});

test("two services of one process count each its own", async () => {
	const [one, other] = [createMetrics(), createMetrics()];
	one.answer("doc", 200, 0.3, undefined);
	one.answer("doc", 200, 99_999, undefined);
	one.harvest("failed");
	const isReady = false;
	const unknown = { queue: null, commitsBehind: null, filesBehind: null, harvestsWaiting: null };
	const gauges = async () => ({ layers: 3, ...unknown, isReady });
	const text = await one.text(root, gauges);
	assert.match(text, 'fragments_request_seconds_bucket{le="0.00025",route="doc"} 0\n');
	assert.match(text, 'fragments_request_seconds_bucket{le="0.0005",route="doc"} 1\n');
	assert.match(text, 'fragments_request_seconds_bucket{le="10",route="doc"} 1\n');
	assert.match(text, 'fragments_request_seconds_bucket{le="+Inf",route="doc"} 2\n');
	assert.match(text, 'fragments_request_seconds_sum{route="doc"} 99.999');
	assert.match(text, 'fragments_harvests_total{outcome="failed"} 1\n');
	assert.match(text, "fragments_ready 0\n");
	assert.not.match(text, "fragments_queue", "what a service cannot know is not there");
	assert.not.match(await other.text(root, gauges), 'route="doc"');
});

test("the alerts are in order, fire when they should, and name metrics that there are", async () => {
	const alerts = await readFile(join(root, "deploy/alerts.yml"), "utf8");
	const gauges = async () => ({
		...{ layers: 1, queue: 0, commitsBehind: 0, filesBehind: 0, harvestsWaiting: 0, isReady: true },
	});
	const text = await createMetrics().text(root, gauges);
	const names = new Set([...alerts.matchAll(/fragments_[a-z_]+/g)].map(([name]) => name));
	assert.ok(names.size > 8);
	for (const name of names) assert.match(text, `# TYPE ${name.replace(/_bucket$/, "")} `);
	await promtool(["check", "rules", join(root, "deploy/alerts.yml")]);
	await promtool(["test", "rules", join(root, "tests/service/metrics/alerts.yml")]);
});

/** Runs Prometheus' own check; where it is not installed, says so. */
async function promtool(args: string[], input = ""): Promise<void> {
	try {
		execFileSync("promtool", ["--version"], { stdio: "ignore" });
	} catch {
		return console.log("promtool is not installed (Debian: prometheus): not checked");
	}
	const running = promisify(execFile)("promtool", args);
	// A check of rules ends without reading its input.
	running.child.stdin?.on("error", () => undefined).end(input);
	await running;
}

test.run();
