import type { LayerStatus } from "../registry/schemas/answers.ts";
import type { Lang } from "../registry/smallkey.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import type { Log, Store } from "../store/store.ts";
import type { Client, WriteLimiter } from "./limits.ts";
import type { ReadSettings } from "./read-request.ts";
import type { Reply } from "./reply.ts";
import type { Senders } from "./senders.ts";

/** In UTF-16 units, of a line of the log and of one text in it. */
const maxLineLength = 4_000;
const maxTextLength = 1_000;

/**
 * JSON does not escape these, and they mislead in a terminal or log viewer: DEL, C1 controls, line
 * separators, and characters that reverse the direction of text or have no width.
 */
const misleading = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function logText(fields: object): string {
	for (let length = maxTextLength; ; length = Math.floor(length / 2)) {
		const line = JSON.stringify(fields, (_name, value) => cutText(value, length)).replace(
			misleading,
			(character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
		);
		if (line.length <= maxLineLength || length === 0) return line;
	}
}

function cutText(value: unknown, length: number): unknown {
	if (typeof value !== "string" || value.length <= length) return value;
	return `${value.slice(0, length).toWellFormed()}… (${value.length} characters)`;
}

export interface Settings extends ReadSettings, Omit<FragmentSettings, "targets"> {
	senders: Senders;
	publicUrl?: string;
}

export interface Refresh {
	/** Layers whose last harvest is at least this long ago, in milliseconds; null: all. */
	olderThanMs: number | null;
	maxLayers: number | null;
	isWanted: (smallkey: string) => boolean;
}

/**
 * Null if there is neither a layer nor a waiting change.
 * @param client for the limit of look-ups; empty: not limited
 * @throws {StoreBusy}
 */
export type ReadStatus = (
	smallkey: string,
	client: Client,
) => Promise<((lang: Lang) => LayerStatus) | "too many" | null>;

export interface Question {
	method: string;
	/** Below the base path, with its query. */
	path: string;
	basePath: string;
	ifNoneMatch: string | null;
	acceptEncoding: string;
	/** The absolute address of the request; null if unknown, so that links are relative. */
	address: string | null;
	/** For limits; empty: not limited. */
	client: Client;
}

/** Beyond the core's: GET or HEAD, without a signature. */
export interface OtherRoute {
	/** In metrics: `page`. */
	name: string;
	/** What bounds the work for one request, since anyone may send it. */
	bound: string;
	/** Answers only what no other route does, and never another method. */
	isFallback?: boolean;
	/** @param path below the base path, with its query */
	matches: (path: string) => boolean;
	answer: (question: Question) => Promise<Reply> | Reply;
}

export interface Context {
	store: Store;
	settings: Settings;
	now: () => Date;
	/** Internal errors, which clients must not see. */
	log: Pick<Log, "error">;
	/** Why the service is not ready, in one line, for `/readyz`; null if it is. */
	readiness: () => string | null;
	/** Harvests layers again and returns how many; absent if the service does not harvest. */
	refresh?: (refresh: Refresh) => number;
	/** Absent if this engine does not know it. */
	status?: ReadStatus;
	/** First digits of the commit of the running code; null or absent if unknown. */
	commit?: string | null;
	limiter?: WriteLimiter;
	routes?: readonly OtherRoute[];
}
