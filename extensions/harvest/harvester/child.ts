// The process that asks map services and parses their answers, so that an answer can end or block only this process.
import { readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { causeOf } from "../../../registry/health.ts";
import { clientsWith } from "../ask.ts";
import { quote } from "../finding.ts";
import { harvestLayer, watchLayer } from "../layer.ts";
import { createClients, within } from "../wms/read-capabilities.ts";
import { maxLayerMs, type Order, type Report } from "./process.ts";

const { network, mapWkid, publicUrl } = readConfiguration(withoutStore(process.env));
const clients = createClients(clientsWith(network).ask, mapWkid);

process.on("message", async ({ id, task, registration, before }: Order) => {
	const ending = within(clients, AbortSignal.timeout(maxLayerMs));
	const run = async () =>
		task === "harvest"
			? harvestLayer(registration, before, ending)
			: { findings: await watchLayer(registration, before, ending, publicUrl) };
	const result = await run().catch(({ message }: Error) => {
		// A fault of this program.
		return { reason: causeOf("unread", quote(message)), orders: 1 };
	});
	process.send?.({ id, result } as Report);
});
process.on("disconnect", () => process.exit());
process.send?.("ready");
