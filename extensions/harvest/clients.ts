import { aborted } from "node:util";
import { causeOf } from "../../registry/health.ts";
import { type Ask, Trouble } from "./ask.ts";
import { createReadCapabilities, type ReadCapabilities } from "./wms/read-capabilities.ts";

export interface Clients {
	ask: Ask;
	read: ReadCapabilities;
	/** The reference of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
}

export function createClients(ask: Ask, mapWkid: number): Clients {
	return { ask, mapWkid, read: createReadCapabilities(ask) };
}

/** Requests end with the signal. Capabilities are shared: only the wait for them ends. */
export function limitClients({ ask, read, mapWkid }: Clients, signal: AbortSignal): Clients {
	return {
		mapWkid,
		ask: (address, options) => ask(address, { ...options, signal }),
		async read(...request) {
			const reading = read(...request);
			const late = aborted(signal, reading).then(() => {
				throw new Trouble("down", causeOf("unfinished"));
			});
			return Promise.race([reading, late]);
		},
	};
}
