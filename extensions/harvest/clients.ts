import { aborted } from "node:util";
import { causeOf } from "../../site/data/health.ts";
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

/** An abort cancels requests; it only ends the wait for capabilities, which are shared. */
export function limitClients({ ask, read, mapWkid }: Clients, signal: AbortSignal): Clients {
	return {
		mapWkid,
		ask: (address, options) => ask(address, { ...options, signal }),
		async read(...request) {
			const capabilities = read(...request);
			const timeout = aborted(signal, capabilities).then(() => {
				throw new Trouble("down", causeOf("unfinished"));
			});
			return Promise.race([capabilities, timeout]);
		},
	};
}
