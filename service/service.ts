import type { Context } from "../api/context.ts";
import type { Pages } from "../api/node/pages.ts";
import type { Fragments } from "../api/read.ts";
import type { Gauges, Metrics } from "./metrics/metrics.ts";

/** What watches a running service. */
export interface Watching {
	metrics?: Metrics | null;
	/** Why the senders are not as their file says, in one line; null where they are. */
	sendersState?: (() => string | null) | undefined;
}

/** The service behind the HTTP server, which is closed after it. */
export interface Service {
	context: Context;
	fragments: Fragments;
	/** Returns another number after each change of any fragment; null where other processes change them. */
	version: (() => number) | null;
	/** The catalogue's files; null without a catalogue. */
	pages: Pages | null;
	/** Where the layers are, for the welcome: `the branch main of /data/repository.git`. */
	place: string;
	/** Whether a smallkey is served; null where it is not known here. */
	has: ((smallkey: string) => boolean) | null;
	layers: () => number;
	/** The present state, for the metrics. @throws {Error} where git fails */
	gauges: () => Promise<Gauges>;
	close: () => Promise<void>;
}
