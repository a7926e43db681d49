import { LRUCache } from "lru-cache";
import type { LayerStatus } from "../registry/schemas/answers.ts";
import type { Lang } from "../registry/smallkey.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import type { Log, Store } from "../store/store.ts";
import type { ReadSettings } from "./read-request.ts";
import type { Reply } from "./reply.ts";
import type { Senders } from "./senders.ts";

const maxLineLength = 4_000;
const maxTextLength = 1_000;

/**
 * JSON does not escape these, and they mislead in a terminal or log viewer: controls, line separators, and
 * what reverses the direction of text or has no width.
 */
const misleading = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function logText(fields: object): string {
	for (let length = maxTextLength; ; length = Math.floor(length / 2)) {
		const cut = (_name: string, value: unknown) =>
			typeof value !== "string" || value.length <= length
				? value
				: `${value.slice(0, length).toWellFormed()}… (${value.length} characters)`;
		const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
		const line = JSON.stringify(fields, cut).replace(misleading, escaped);
		if (line.length <= maxLineLength || length === 0) return line;
	}
}

export interface Refresh {
	/** Whose last harvest is at least this long ago, in milliseconds; null: all. */
	olderThanMs: number | null;
	maxLayers: number | null;
	isWanted: (smallkey: string) => boolean;
}

/** Null if there is neither a layer nor a waiting change. @throws {StoreBusy} */
export type ReadStatus = (
	smallkey: string,
	client: Client,
) => Promise<((lang: Lang) => LayerStatus) | "too many" | null>;

export interface Question {
	path: string;
	basePath: string;
	ifNoneMatch: string | null;
	acceptEncoding: string;
	/** Absolute; null if unknown, so that links are relative. */
	address: string | null;
	client: Client;
}

export interface OtherRoute {
	name: string;
	/** Answers only reads that no other route answers. */
	isFallback?: boolean;
	matches: (path: string) => boolean;
	answer: (question: Question) => Promise<Reply> | Reply;
}

export interface Context {
	store: Store;
	settings: ReadSettings & Omit<FragmentSettings, "targets"> & { senders: Senders; publicUrl?: string };
	now: () => Date;
	log: Pick<Log, "error">;
	/** Why it is not ready, in one line, for `/readyz`; null if it is. */
	readiness: () => string | null;
	/** Returns how many layers are harvested again; absent if the service does not harvest. */
	refresh?: (refresh: Refresh) => number;
	status?: ReadStatus;
	commit?: string | null;
	limiter?: WriteLimiter;
	routes?: readonly OtherRoute[];
}

/** Never limits reads. Returns the seconds to wait; 0 if the write is allowed. */
export interface WriteLimiter {
	address(address: string): number | Promise<number>;
	punish(address: string): void;
	/**
	 * After the signature is verified, so that no other client uses up a sender's tokens. A repeated
	 * `request` takes no further token.
	 */
	sender(id: string, request: string): number | Promise<number>;
}

const badSignatureTokens = 10;

const maxBuckets = 20_000;

const maxRequests = 40_000;

export function onceEach(take: (id: string) => number | Promise<number>) {
	const counted = new LRUCache<string, true>({ max: maxRequests });
	return async (id: string, request: string): Promise<number> => {
		if (counted.has(request)) return 0;
		const waitSeconds = await take(id);
		if (waitSeconds === 0) counted.set(request, true);
		return waitSeconds;
	};
}

export class TokenBuckets implements WriteLimiter {
	readonly #buckets = new LRUCache<string, { tokens: number; timeMs: number }>({ max: maxBuckets });

	constructor(
		readonly limits: { perMinute: number; burst: number },
		readonly now: () => Date,
	) {}

	address(address: string): number {
		return this.#take(`address ${address}`);
	}

	punish(address: string): void {
		const bucket = this.#bucketOf(`address ${address}`);
		bucket.tokens = Math.max(bucket.tokens - (badSignatureTokens - 1), -badSignatureTokens);
	}

	readonly sender = onceEach((id) => this.#take(`sender ${id}`));

	#take(name: string): number {
		const bucket = this.#bucketOf(name);
		if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) / this.limits.perMinute) * 60);
		bucket.tokens -= 1;
		return 0;
	}

	#bucketOf(name: string) {
		const { perMinute, burst } = this.limits;
		const timeMs = this.now().getTime();
		const bucket = this.#buckets.get(name) ?? { tokens: burst, timeMs };
		// A clock that was set back refills nothing.
		const passedMs = Math.max(0, timeMs - bucket.timeMs);
		bucket.tokens = Math.min(burst, bucket.tokens + (passedMs * perMinute) / 60_000);
		bucket.timeMs = timeMs;
		this.#buckets.set(name, bucket);
		return bucket;
	}
}

/**
 * The names of an address: its own, and that of its site's network of 48 bits (RFC 6177). Empty for a client
 * without a limit.
 */
export type Client = readonly string[];

/** The part of a room that an address, and a site, may hold while no other client holds anything. */
const parts = [8, 4];

/**
 * Such as of bytes in memory. A client may hold a fixed fraction of what is free (dynamic thresholds,
 * Choudhury and Hahne 1998): room for a small body is left when dozens of addresses hold what they can.
 */
export class Room {
	#held = 0;
	readonly #byName = new Map<string, number>();

	constructor(readonly max: number) {}

	hold(client: Client) {
		let amountHeld = 0;
		const add = (amount: number) => {
			amountHeld += amount;
			this.#held += amount;
			for (const name of client) {
				const sum = (this.#byName.get(name) ?? 0) + amount;
				if (sum > 0) this.#byName.set(name, sum);
				else this.#byName.delete(name);
			}
		};
		/** @returns null: taken; `client`: it holds its share; `all`: all clients together fill the room */
		const take = (amount: number): "client" | "all" | null => {
			const free = this.max - this.#held - amount;
			if (free < 0) return "all";
			const full = client.find((name, at) => {
				const held = (this.#byName.get(name) ?? 0) + amount;
				return held * ((parts[at] as number) - 1) > free;
			});
			if (full !== undefined) return this.#byName.has(full) ? "client" : "all";
			add(amount);
			return null;
		};
		return { take, end: () => add(-amountHeld) };
	}
}
