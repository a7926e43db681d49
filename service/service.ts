import type { Context } from "../api/context.ts";
import type { Pages } from "../api/node/pages.ts";
import type { Fragments } from "../api/read.ts";
import type { Gauges } from "./measures.ts";

/** What stands behind the HTTP server, and ends after it. */
export interface Service {
	context: Context;
	/** Where the reads look. */
	fragments: Fragments;
	/** Another number after each change of any fragment; null where others change them. */
	version: (() => number) | null;
	/** Where the catalogue is read; null where it is left out. */
	pages: Pages | null;
	/** Where the layers are, in the words of the start: `the branch main of /data/repository.git`. */
	place: string;
	/** Whether a smallkey is served; null where that is not known here. */
	has: ((smallkey: string) => boolean) | null;
	/** Number of layers that can be read now. */
	layers: () => number;
	/** How it is now, for the metrics. @throws {Error} where git fails */
	gauges: () => Promise<Gauges>;
	close: () => Promise<void>;
}
