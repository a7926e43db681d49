/** Limits writes, never reads. `address`, `sender` and `bytes` return the seconds to wait, or 0 if the write is allowed. */
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
	/** Called after `sender`: git's history keeps what a sender writes for ever. @param bytes length of the body */
	bytes?(id: string, request: string, bytes: number): number | Promise<number>;
}

const badSignatureTokens = 10;
const minutesPerDay = 1_440;

/** Most buckets; beyond this number, the least recently used one is dropped. */
const maxBuckets = 20_000;

/** Most remembered requests; beyond this number, the oldest is dropped. */
const maxRequests = 40_000;

/** Counts each request once: `take` is not called again for a request that it recently allowed. */
export function onceEach(take: (id: string, amount: number) => number | Promise<number>) {
	const counted = new Set<string>();
	return async (id: string, request: string, amount = 1): Promise<number> => {
		if (counted.has(request)) return 0;
		const waitSeconds = await take(id, amount);
		if (waitSeconds === 0) counted.add(request);
		const [oldest] = counted;
		if (counted.size > maxRequests && oldest !== undefined) counted.delete(oldest);
		return waitSeconds;
	};
}

/** Tokens that a bucket regains in a minute, and those of a full bucket. */
interface Allowance {
	perMinute: number;
	burst: number;
}

/**
 * A bucket of tokens for each address and for each sender, of which a write takes one, and a bucket of bytes for each sender.
 */
export class TokenBuckets implements WriteLimiter {
	/** By address or sender, least recently used first. */
	readonly #buckets = new Map<string, { tokens: number; timeMs: number }>();

	/** @param limits of writes; `bytesPerDay`: of the bodies of a sender, which may all come at once */
	constructor(
		readonly limits: Allowance & { bytesPerDay: number },
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

	readonly bytes = onceEach((id, bytes) => {
		const { bytesPerDay } = this.limits;
		return this.#take(`bytes ${id}`, { perMinute: bytesPerDay / minutesPerDay, burst: bytesPerDay }, bytes);
	});

	#take(name: string, allowance: Allowance = this.limits, amount = 1): number {
		const bucket = this.#bucketOf(name, allowance);
		if (bucket.tokens < amount) return Math.ceil(((amount - bucket.tokens) / allowance.perMinute) * 60);
		bucket.tokens -= amount;
		return 0;
	}

	/** Refills a bucket up to now and makes it the most recently used one. */
	#bucketOf(name: string, { perMinute, burst }: Allowance = this.limits) {
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
