// The harvester's thread: requests services and parses their answers, so that this does not block reads.
import { parentPort, workerData } from "node:worker_threads";
import { createHarvestLayer } from "../../harvest/harvest-layer.ts";
import { createWatchLayer } from "../../harvest/watch-layer.ts";
import { createReadCapabilities } from "../../harvest/wms/read-capabilities.ts";
import { askWith } from "../ask.ts";
import type { FromThread, Results, Task, ThreadSettings, ToThread } from "./thread.ts";

if (!parentPort) throw new Error("thread-main.ts: must run in a worker thread");
const port = parentPort;
const { harvest: settings, mapWkid } = workerData as ThreadSettings;
const ask = askWith(settings);
const read = createReadCapabilities(ask);
const harvest = createHarvestLayer({ ask, mapWkid, read });
const watch = createWatchLayer(ask, read);
const underWay = new Map<number, AbortController>();

function send(message: FromThread): void {
	port.postMessage(message);
}

port.on("message", (message: ToThread) => {
	if (message.kind === "ping") return send({ kind: "alive" });
	if (message.kind === "abort") return underWay.get(message.id)?.abort();
	const { kind, id, registration, known } = message;
	const controller = new AbortController();
	underWay.set(id, controller);
	const { signal } = controller;
	const work = kind === "harvest" ? harvest : watch;
	const task: Promise<Results[Task]> = work(registration, signal, known);
	// A rejection is a bug: it ends the thread, and is reported by the thread's "error" event.
	void task.then((result) => {
		underWay.delete(id);
		send({ kind: "done", id, result });
	});
});
send({ kind: "alive" });
