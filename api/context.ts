import type { LayerStatus } from "../registry/schemas/answers.ts";
import type { Lang } from "../registry/smallkey.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import type { Log, Store } from "../store/store.ts";
import type { Client, LimitWrites } from "./limits.ts";
import type { ReadSettings } from "./read-request.ts";
import type { WriteRoute } from "./register.ts";
import type { Reply } from "./reply.ts";
import type { Senders } from "./senders.ts";

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
	status?: ReadStatus;
	commit?: string | null;
	limitWrites?: LimitWrites | undefined;
	writes?: readonly WriteRoute[];
	routes?: readonly OtherRoute[];
}
