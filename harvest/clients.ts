import type { Ask } from "./net/ask.ts";
import { createReadCapabilities, type ReadCapabilities } from "./wms/read-capabilities.ts";

/** The clients for services, which all layers share. */
export interface Clients {
	ask: Ask;
	read: ReadCapabilities;
	/** Well-known id of the spatial reference of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
}

/** The clients for harvesting; without `read`, `createClients` adds it. */
export type HarvestOptions = Omit<Clients, "read"> & Partial<Clients>;

export function createClients(options: HarvestOptions): Clients {
	return { read: createReadCapabilities(options.ask), ...options };
}

/** The same clients; requests that no other layer waits for end when a signal aborts. */
export function within(clients: Clients, signal: AbortSignal | undefined): Clients {
	return { ...clients, ask: (address) => clients.ask(address, signal) };
}
