// The harvester's thread: asks services and reads what they answer, so that nothing of it holds up a read.
import { parentPort, workerData } from "node:worker_threads";
import { harvestLayer } from "../../../harvest/harvest-layer.ts";
import { askWith } from "../../harvest/ask.ts";
import type { FromThread, ThreadSettings, ToThread } from "./thread.ts";

if (!parentPort) throw new Error("thread-main.ts: is to be run in a thread");
const port = parentPort;
const { harvest: settings, mapWkid } = workerData as ThreadSettings;
const options = { ask: askWith(settings), mapWkid };
const underWay = new Map<number, AbortController>();

function send(message: FromThread): void {
	port.postMessage(message);
}

port.on("message", (message: ToThread) => {
	if (message.kind === "ping") return send({ kind: "alive" });
	if (message.kind === "abort") return underWay.get(message.id)?.abort();
	const { id, registration } = message;
	const controller = new AbortController();
	underWay.set(id, controller);
	// An error of the program ends the thread: it is reported there, as that of a thread that died.
	void harvestLayer(registration, options, controller.signal).then((harvested) => {
		underWay.delete(id);
		send({ kind: "done", id, harvested });
	});
});
send({ kind: "alive" });
