import type { Context } from "../../api/context.ts";
import type { Fragments } from "../../api/read.ts";

/** What stands behind the HTTP server, and ends after it. */
export interface Service {
	context: Context;
	/** Where the reads look. */
	fragments: Fragments;
	/** Another number after each change of any fragment; null where others change them. */
	version: (() => number) | null;
	/** Number of layers that can be read now. */
	layers: () => number;
	close: () => Promise<void>;
}
