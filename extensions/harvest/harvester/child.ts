// The process that asks map services and parses their answers, so that an answer can end or block only this process.
import { readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { causeOf } from "../../../registry/health.ts";
import { clientsWith } from "../ask.ts";
import { quote } from "../finding.ts";
import { createHarvestLayer, createWatchLayer } from "../layer.ts";
import { createReadCapabilities } from "../wms/read-capabilities.ts";
import { maxLayerMs, type Order, type Report } from "./process.ts";

const { network, mapWkid, publicUrl } = readConfiguration(withoutStore(process.env));
const { ask } = clientsWith(network);
const clients = { ask, mapWkid, read: createReadCapabilities(ask) };
const tasks = { harvest: createHarvestLayer(clients), watch: createWatchLayer(clients, publicUrl) };

process.on("message", async ({ id, task, registration, before }: Order) => {
	const signal = AbortSignal.timeout(maxLayerMs);
	const result = await tasks[task](registration, signal, before).catch(({ message }: Error) => {
		// A fault of this program.
		return { reason: causeOf("unread", quote(message)), orders: 1 };
	});
	process.send?.({ id, result } as Report);
});
process.on("disconnect", () => process.exit());
process.send?.("ready");
