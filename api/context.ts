import type { LayerStatus } from "../registry/schemas/answers.ts";
import type { Lang } from "../registry/smallkey.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import type { Log, Store } from "../store/store.ts";
import type { Client, LimitWrites } from "./limits.ts";
import type { ReadSettings } from "./read-request.ts";
import type { Reply } from "./reply.ts";
import type { Senders } from "./senders.ts";

export interface Refresh {
	/** Least time since the last harvest; null: all layers. */
	olderThanMs: number | null;
	maxLayers: number | null;
	isWanted: (smallkey: string) => boolean;
}

/** Null if there is neither layer nor waiting change. @throws {StoreBusy} */
export type ReadStatus = (smallkey: string, client: Client) => Promise<((lang: Lang) => LayerStatus) | null>;

export interface Question {
	path: string;
	basePath: string;
	ifNoneMatch: string | null;
	acceptEncoding: string;
	/** Absolute; null if unknown: links are relative. */
	address: string | null;
	client: Client;
}

export interface OtherRoute {
	name: string;
	matches: (path: string) => boolean;
	answer: (question: Question) => Promise<Reply> | Reply;
}

export interface Context {
	store: Store;
	settings: ReadSettings & Omit<FragmentSettings, "targets"> & { senders: Senders; publicUrl?: string };
	now: () => Date;
	log: Pick<Log, "error">;
	/** For `/readyz`, in one line; null if it is ready. */
	readiness: () => string | null;
	/** Returns how many layers are harvested again; absent without a harvest. */
	refresh?: (refresh: Refresh) => number;
	status?: ReadStatus;
	commit?: string | null;
	limitWrites?: LimitWrites | undefined;
	routes?: readonly OtherRoute[];
}
