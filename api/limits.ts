import { LRUCache } from "lru-cache";

/** Returns the seconds to wait; 0 allows the write. */
export interface WriteLimiter {
	address(address: string): number | Promise<number>;
	punish(address: string): void;
	/**
	 * After the signature is verified, so that no one else uses up a sender's tokens. A repeated `request` is
	 * free.
	 */
	sender(id: string, request: string): number | Promise<number>;
}

const badSignatureTokens = 10;

const maxBuckets = 20_000;

const maxRequests = 40_000;

/** @param take returns the seconds to wait */
export function chargeOncePerRequest(take: (id: string) => number | Promise<number>) {
	const charged = new LRUCache<string, true>({ max: maxRequests });
	return async (id: string, request: string): Promise<number> => {
		if (charged.has(request)) return 0;
		const waitSeconds = await take(id);
		if (waitSeconds === 0) charged.set(request, true);
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

	readonly sender = chargeOncePerRequest((id) => this.#take(`sender ${id}`));

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

/** An address, and its site's network of 48 bits (RFC 6177). Empty: no limit. */
export type Client = readonly string[];

/** An address may hold an eighth of an empty room, a site a quarter. */
const shareDivisors = [8, 4];

/**
 * A client may hold a fixed fraction of what is free (dynamic thresholds, Choudhury and Hahne 1998): room is
 * left for a small body when dozens of addresses hold what they can.
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
		/** @returns `client`: it holds its share; `all`: the room is full */
		const take = (amount: number): "client" | "all" | null => {
			const free = this.max - this.#held - amount;
			if (free < 0) return "all";
			const full = client.find((name, index) => {
				const held = (this.#byName.get(name) ?? 0) + amount;
				return held * ((shareDivisors[index] as number) - 1) > free;
			});
			if (full !== undefined) return this.#byName.has(full) ? "client" : "all";
			add(amount);
			return null;
		};
		return { take, end: () => add(-amountHeld) };
	}
}
