/** How fast writes may come, from one address and by one sender. */
export interface WriteLimits {
	/** Tokens that a bucket gets back in a minute; a write takes one. */
	perMinute: number;
	/** Tokens of a full bucket: so many writes may come at once. */
	burst: number;
}

/** Limits writes; reads never. Each method says how many seconds to wait, 0 where the write may go on. */
export interface WriteLimiter {
	/** Before anything of a write is looked at but its path and method. */
	address(address: string): number | Promise<number>;
	/** A write of the address that was not genuine: it has cost more than a good one. */
	punish(address: string): void;
	/**
	 * Once the signature is verified: nobody uses up another one's.
	 * @param request names one request: repeating it, as with a captured one, takes nothing more
	 */
	sender(id: string, request: string): number | Promise<number>;
}

/** Tokens that a write with a bad signature takes. */
const badSignatureTokens = 10;
/** Most buckets that are kept; beyond, the one that was used least lately is forgotten. */
const maxBuckets = 20_000;

interface Allowance {
	tokens: number;
	/** When `tokens` was right, in milliseconds since 1970. */
	timeMs: number;
}

/** Most requests that are remembered; beyond, the oldest is forgotten. */
const maxRequests = 40_000;

/** Counts each request once: `take` is not called for one that it has let through lately. */
export function onceEach(
	take: (id: string) => number | Promise<number>,
): (id: string, request: string) => Promise<number> {
	const counted = new Set<string>();
	return async (id, request) => {
		if (counted.has(request)) return 0;
		const waitSeconds = await take(id);
		if (waitSeconds === 0) counted.add(request);
		const [oldest] = counted;
		if (counted.size > maxRequests && oldest !== undefined) counted.delete(oldest);
		return waitSeconds;
	};
}

/** Token buckets in this process. */
export class TokenBuckets implements WriteLimiter {
	readonly #limits: WriteLimits;
	readonly #now: () => Date;
	/** By address or sender, the one that was used least lately first. */
	readonly #allowances = new Map<string, Allowance>();

	constructor(limits: WriteLimits, now: () => Date) {
		this.#limits = limits;
		this.#now = now;
	}

	address(address: string): number {
		return this.#take(`address ${address}`);
	}

	punish(address: string): void {
		const bucket = this.#allowanceOf(`address ${address}`);
		bucket.tokens = Math.max(bucket.tokens - (badSignatureTokens - 1), -badSignatureTokens);
	}

	readonly sender = onceEach((id) => this.#take(`sender ${id}`));

	#take(name: string): number {
		const bucket = this.#allowanceOf(name);
		if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) / this.#limits.perMinute) * 60);
		bucket.tokens -= 1;
		return 0;
	}

	/** The bucket as it is now, kept as the one that was used last. */
	#allowanceOf(name: string): Allowance {
		const { perMinute, burst } = this.#limits;
		const timeMs = this.#now().getTime();
		const bucket = this.#allowances.get(name) ?? { tokens: burst, timeMs };
		// A clock that is set back gives nothing.
		const passedMs = Math.max(0, timeMs - bucket.timeMs);
		bucket.tokens = Math.min(burst, bucket.tokens + (passedMs * perMinute) / 60_000);
		bucket.timeMs = timeMs;
		this.#allowances.delete(name);
		this.#allowances.set(name, bucket);
		if (this.#allowances.size > maxBuckets)
			this.#allowances.delete(this.#allowances.keys().next().value as string);
		return bucket;
	}
}
