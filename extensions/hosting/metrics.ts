import { once } from "node:events";
import { statfs } from "node:fs/promises";
import { createServer } from "node:http";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { isWriteMethod } from "../../api/app.ts";
import { listen } from "../../api/node/serve.ts";
import type { RunningService, ServiceEvent } from "../../api/service/extensions.ts";
import { readCommit, readVersion } from "../../store/files/version.ts";
import type { Log } from "../../store/store.ts";

/** Seconds; RAMP 4.0.x gives up after 2 s. */
const answerBounds = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

const prefix = "fragments_";

export function createMetrics() {
	const registry = new Registry();
	const registers = [registry];
	const counter = (name: string, help: string, ...labelNames: string[]) =>
		new Counter({ name: prefix + name, help, labelNames, registers });

	const harvests = counter("harvests_total", "Layers whose services were asked, by outcome.", "outcome");
	const requests = counter("requests_total", "Answers; 499: a body that was cut off.", "route", "status");
	const refused = counter("writes_refused_total", "Writes that were refused, by reason.", "reason");
	const answers = new Histogram({
		name: `${prefix}request_seconds`,
		help: "From a request's head to its answer.",
		labelNames: ["route"],
		buckets: answerBounds,
		registers,
	});
	collectDefaultMetrics({ register: registry });
	// Promtool objects to gauges with the name of a counter.
	for (const kind of ["handles", "requests", "resources"])
		registry.removeSingleMetric(`nodejs_active_${kind}_total`);
	const labels = { version: readVersion(), commit: readCommit() ?? "" };
	const info = { name: `${prefix}info`, help: "The version that runs, and its commit.", registers };
	new Gauge({ ...info, labelNames: Object.keys(labels) }).set(labels, 1);

	return {
		text: (dataDir: string, read: RunningService["gauges"]) => measure(registry, dataDir, read),
		observe(event: ServiceEvent): void {
			if (event.kind === "harvest") return harvests.inc({ outcome: event.outcome });
			const { method, route, status, milliseconds, reason } = event;
			requests.inc({ route, status });
			answers.observe({ route }, milliseconds / 1_000);
			if (reason !== undefined && isWriteMethod(method)) refused.inc({ reason });
		},
	};
}

/** @param dataDir the folder whose disk is measured @throws {Error} if it cannot be measured */
async function measure(registry: Registry, dataDir: string, read: RunningService["gauges"]) {
	const [gauges, { bsize, bavail, blocks }] = await Promise.all([read(), statfs(dataDir)]);
	for (const [name, help, value] of [
		["layers", "Layers that are served.", gauges.layers],
		["queue", "Changes that wait, or are under way.", gauges.queue],
		["files_behind", "Layers whose rendered files are older than what is served.", gauges.filesBehind],
		["ready", "1 where /readyz says 200.", gauges.isReady],
		["disk_free_bytes", "What DATA_DIR's disk has left.", bavail * bsize],
		["disk_size_bytes", "The size of DATA_DIR's disk.", blocks * bsize],
	] as const) {
		registry.removeSingleMetric(prefix + name);
		if (value != null) new Gauge({ name: prefix + name, help, registers: [registry] }).set(value);
	}
	return registry.metrics();
}

/** GET /metrics, on a port of its own. @throws {Error} that names the settings, if the server cannot listen */
export async function serveMetrics(
	place: { host: string; port: number },
	read: () => Promise<string>,
	log: Log,
) {
	const headers = { "Content-Type": Registry.PROMETHEUS_CONTENT_TYPE, "Cache-Control": "no-store" };
	const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
		const isMetrics = request.url?.split("?", 1)[0] === "/metrics";
		const isRead = request.method === "GET" || request.method === "HEAD";
		if (!isMetrics) return void response.writeHead(404).end();
		if (!isRead) return void response.writeHead(405, { Allow: "GET, HEAD" }).end();
		read().then(
			(body) => response.writeHead(200, headers).end(body),
			(error) => {
				log.error(error);
				response.writeHead(500).end();
			},
		);
	});
	const address = await listen(server, place, "METRICS_PORT, METRICS_HOST");
	return {
		url: `${address}/metrics`,
		async close() {
			server.close().closeAllConnections();
			await once(server, "close");
		},
	};
}
