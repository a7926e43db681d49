// The harvester's thread: requests services and parses their answers, so that this does not block reads.
import { parentPort, workerData } from "node:worker_threads";
import { clientsWith } from "../../../api/service/ask.ts";
import { createHarvestLayer, createWatchLayer } from "../layer.ts";
import { createReadCapabilities } from "../wms/read-capabilities.ts";
import type { Order, Report, ThreadSettings } from "./threads.ts";

const { network, mapWkid, site, beatMs, maxLayerMs } = workerData as ThreadSettings;
const { ask } = clientsWith(network);
const read = createReadCapabilities(ask);
const tasks = {
	harvest: createHarvestLayer({ ask, mapWkid, read }),
	watch: createWatchLayer(ask, site, read, mapWkid),
};

function send(report: Report): void {
	parentPort?.postMessage(report);
}

parentPort?.on("message", async ({ id, task, registration, known }: Order) => {
	const late = new AbortController();
	const timer = setTimeout(() => late.abort(), maxLayerMs);
	// A rejection is a bug: it ends the thread, and the thread's "error" event reports it.
	const result = await tasks[task](registration, late.signal, known);
	clearTimeout(timer);
	send({ id, result });
});
send(null);
setInterval(() => send(null), beatMs);
