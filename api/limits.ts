/** Limits writes, never reads. `address` and `sender` return the seconds to wait, or 0 if the write is allowed. */
export interface WriteLimiter {
	/** Called when only the path and the method of a write are known. */
	address(address: string): number | Promise<number>;
	/** Takes further tokens from an address whose write had a wrong signature. */
	punish(address: string): void;
	/**
	 * Called after the signature is verified, so that no other client can use up a sender's tokens.
	 * @param request identifies the request: a repetition takes no further token
	 */
	sender(id: string, request: string): number | Promise<number>;
}

const badSignatureTokens = 10;
/** Most buckets; beyond this number, the least recently used one is dropped. */
const maxBuckets = 20_000;

/** Most remembered requests; beyond this number, the oldest is dropped. */
const maxRequests = 40_000;

/** Counts each request once: `take` is not called again for a request that it recently allowed. */
export function onceEach(take: (id: string) => number | Promise<number>) {
	const counted = new Set<string>();
	return async (id: string, request: string): Promise<number> => {
		if (counted.has(request)) return 0;
		const waitSeconds = await take(id);
		if (waitSeconds === 0) counted.add(request);
		const [oldest] = counted;
		if (counted.size > maxRequests && oldest !== undefined) counted.delete(oldest);
		return waitSeconds;
	};
}

/** A bucket of tokens for each address and for each sender. A write takes one token. */
export class TokenBuckets implements WriteLimiter {
	/** By address or sender, least recently used first. */
	readonly #buckets = new Map<string, { tokens: number; timeMs: number }>();

	/** @param limits the tokens that a bucket regains in a minute, and those of a full bucket: the most writes at once */
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

	/** Refills a bucket up to now and makes it the most recently used one. */
	#bucketOf(name: string) {
		const { perMinute, burst } = this.limits;
		const timeMs = this.now().getTime();
		const bucket = this.#buckets.get(name) ?? { tokens: burst, timeMs };
		// A clock that was set back refills nothing.
		const passedMs = Math.max(0, timeMs - bucket.timeMs);
		bucket.tokens = Math.min(burst, bucket.tokens + (passedMs * perMinute) / 60_000);
		bucket.timeMs = timeMs;
		this.#buckets.delete(name);
		this.#buckets.set(name, bucket);
		if (this.#buckets.size > maxBuckets) this.#buckets.delete(this.#buckets.keys().next().value as string);
		return bucket;
	}
}
