// A thread that does what the path of an address says, in place of the harvester's.
import { parentPort, threadId } from "node:worker_threads";

const waiting = [];

function finish(id, text) {
	const findings = [{ kind: "server", lang: "en", pointer: "", text }];
	parentPort.postMessage({ kind: "done", id, result: { found: {}, partial: new Set(), findings } });
}

const deeds = {
	"/good": (id) => finish(id, `thread ${threadId}`),
	// Ends at the next ping: it is under way until a test says so.
	"/waits": (id) => waiting.push(id),
	"/silent": () => {},
	"/eats": () => {
		for (const kept = []; ; ) kept.push([kept.length]);
	},
	"/loops": () => {
		for (;;);
	},
	"/exits": () => process.exit(3),
	"/throws": () => {
		throw new Error("a fault of the program");
	},
};

parentPort.on("message", (message) => {
	if (message.kind === "abort") finish(message.id, "was not asked to the end");
	if (message.kind === "ping") {
		for (const id of waiting.splice(0)) finish(id, `thread ${threadId}`);
		parentPort.postMessage({ kind: "alive" });
	}
	if (["harvest", "watch"].includes(message.kind))
		deeds[new URL(message.registration.en.service_url).pathname](message.id);
});
parentPort.postMessage({ kind: "alive" });
