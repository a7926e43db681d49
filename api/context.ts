import type { FragmentSettings } from "../registry/targets/facts.ts";
import type { Hashes } from "../store/hashes.ts";
import type { Store } from "../store/store.ts";
import type { WriteLimiter } from "./limits.ts";
import type { Senders } from "./senders.ts";
import type { ReadStatus } from "./status.ts";
import type { ReadSettings } from "./wanted.ts";

/** What the adapter read from its environment, once. */
export interface Settings extends ReadSettings, Omit<FragmentSettings, "targets"> {
	senders: Senders;
	/** Where everybody reaches the service, with its base path; empty or left out where that is not known. */
	publicUrl?: string;
}

/** Which layers' services are to be asked anew. */
export interface Refresh {
	/** Only what was not harvested for so long, in milliseconds; null: however lately it was. */
	olderThanMs: number | null;
	/** At most so many layers, those first that were not asked for longest; null: all. */
	maxLayers: number | null;
	isWanted: (smallkey: string) => boolean;
}

/** Everything that a handler needs from outside: handed in, never global. */
export interface Context {
	store: Store;
	settings: Settings;
	/** The clock. */
	now: () => Date;
	/** Told of what nobody outside may see: a broken world, with its error. */
	report: (error: unknown) => void;
	/** Why not all is served as it should be, in one line; null where it is. `/readyz` says it. */
	readiness: () => string | null;
	/** The engine's hashes; those of the Web Cryptography API without. */
	hashes?: Hashes;
	/** Asks services anew, and says of how many layers; absent where the service does not harvest. */
	refresh?: (refresh: Refresh) => number;
	/** Says how a layer is; absent where that is not known here. */
	status?: ReadStatus;
	/** Where writes are limited. */
	limiter?: WriteLimiter;
}
