// The process that asks map services and parses their answers: an answer can end or block only this process.

import { readConfiguration } from "../../../api/service/settings.ts";
import { causeOf } from "../../../site/data/health.ts";
import { quote } from "../../../site/service/decode.ts";
import { createAsk } from "../ask.ts";
import { createClients, limitClients } from "../clients.ts";
import { harvestLayer } from "../harvest-layer.ts";
import { createFetch } from "../net/fetch.ts";
import { watchLayer } from "../watch-layer.ts";
import { type Look, maxTaskMs, type Order, type Report } from "./process.ts";

const { network, mapWkid, publicUrl } = readConfiguration(process.env);
const clients = createClients(createAsk({ fetch: createFetch(network) }), mapWkid);

const timedClients = () => limitClients(clients, AbortSignal.timeout(maxTaskMs));

async function lookAt({ registration, before }: Order): Promise<Look> {
	const harvested = await harvestLayer(registration, before, timedClients());
	return { harvested, checked: await watchLayer(registration, before, timedClients(), publicUrl) };
}

process.on("message", async (order: Order) => {
	const result = await lookAt(order).catch(({ message }: Error) => {
		// A fault of this program.
		return { reason: causeOf("unread", quote(message)), orders: 1 };
	});
	process.send?.({ id: order.id, result } satisfies Report);
});
process.on("disconnect", () => process.exit());
process.send?.("ready");
