import type { Ask } from "./net/ask.ts";
import { createReadCapabilities, type ReadCapabilities } from "./wms/read-capabilities.ts";

/** What asks services, shared by all layers. */
export interface Clients {
	ask: Ask;
	read: ReadCapabilities;
	/** Well-known id of the spatial reference of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
}

/** What harvesting needs: without `read` it reads capabilities itself. */
export type HarvestOptions = Omit<Clients, "read"> & Partial<Clients>;

export function createClients(options: HarvestOptions): Clients {
	return { read: createReadCapabilities(options.ask), ...options };
}

/** The same clients, which end with a signal. */
export function within({ ask, read, mapWkid }: Clients, signal: AbortSignal | undefined): Clients {
	return {
		ask: (address) => ask(address, signal),
		read: (service, address, layer) => read(service, address, layer, signal),
		mapWkid,
	};
}
