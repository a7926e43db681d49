import type { Pages } from "../api/catalogue.ts";
import type { Context } from "../api/context.ts";
import type { Fragments } from "../api/read.ts";
import type { Gauges, Metrics } from "./metrics.ts";

/** The monitoring of a running service. */
export interface Watching {
	metrics?: Metrics | null;
	/** Why the senders file cannot be applied, in one line; null if it is applied. */
	sendersState?: (() => string | null) | undefined;
}

/** The service behind the HTTP server. It is closed after the server. */
export interface Service {
	context: Context;
	fragments: Fragments;
	/** Returns a number that changes with every change of a fragment; null if other processes write the fragments. */
	version: (() => number) | null;
	/** The catalogue's files; null without a catalogue. */
	pages: Pages | null;
	/** Where the layers are stored, for the text after the start: `the branch main of /data/repository.git`. */
	place: string;
	/** Whether a smallkey is served; null if the service does not know that. */
	has: ((smallkey: string) => boolean) | null;
	layers: () => number;
	/** Reads the current state, for the metrics. @throws {Error} if git fails */
	gauges: () => Promise<Gauges>;
	close: () => Promise<void>;
}
