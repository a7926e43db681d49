// A thread that does what the path of an address says, in place of the harvester's.
import { parentPort, threadId, workerData } from "node:worker_threads";

function finish(id, text) {
	const findings = [{ state: "down", lang: "en", pointer: "", text }];
	parentPort.postMessage({ id, result: { found: {}, partial: new Set(), findings } });
}

const deeds = {
	"/good": (id) => finish(id, `thread ${threadId}`),
	"/waits": (id) => setTimeout(() => finish(id, `thread ${threadId}`), 500),
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

parentPort.on("message", ({ id, registration }) => {
	deeds[new URL(registration.en.service_url).pathname](id);
});
parentPort.postMessage(null);
setInterval(() => parentPort.postMessage(null), workerData.beatMs);
