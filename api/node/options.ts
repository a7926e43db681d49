import type { Context } from "../context.ts";
import type { Fragments } from "../read.ts";
import type { TrustedProxies } from "./address.ts";
import type { RouteName } from "./exchange.ts";
import type { Answered } from "./log.ts";
import type { Pages } from "./pages.ts";

/** Time limits and intervals of the server. */
const defaultTimes = {
	/** Longest time for a request's head, from its first byte. */
	headTimeoutMs: 10_000,
	/** Longest time for a request's body, from the end of its head. */
	bodyTimeoutMs: 20_000,
	/** Longest time for the client to read an answer, in addition to the time at `readerBytesPerSecond`. */
	readerTimeoutMs: 30_000,
	/** The rate at which a slow client may read an answer. */
	readerBytesPerSecond: 64_000,
	/** Delay of the answer to a wrong signature, or to a write that exceeds a limit. */
	badWriteDelayMs: 100,
	/** Interval at which the time-outs of heads and bodies are checked. */
	checkEveryMs: 1_000,
	/** Interval within which similar refusals of one address are combined into one log line. */
	logEveryMs: 1_000,
};

export type NodeTimes = typeof defaultTimes;

/** The handlers' context, and what else the server needs. */
export interface NodeOptions {
	context: Context;
	fragments: Fragments;
	/** Returns another number after each change of any fragment; null where changes are not known. */
	version: (() => number) | null;
	/** Answers requests for the catalogue; left out where it is not served. */
	pages?: Pages | undefined;
	/** Called for each write and for each answer from 400 up; for every answer with `allReads`. */
	log: (answered: Answered) => void;
	allReads: boolean;
	/** Called for each answer that is not logged. */
	count: () => void;
	/**
	 * Called for every answer after it was passed to Node, with the route, the status, the milliseconds since the request's
	 * head, and the reason why a write was refused.
	 */
	measure?: ((route: RouteName, status: number, ms: number, reason: string | undefined) => void) | undefined;
	/** Proxies whose `X-Forwarded-For` is trusted; none by default. */
	trustedProxies?: TrustedProxies;
	/** The times that differ from the defaults. */
	times?: Partial<NodeTimes>;
	/** Most bytes of bodies that are in memory at once, including those of writes that are being made. */
	maxHeldBytes?: number;
}

/** The times of a server, with the defaults filled in. */
export function timesOf({ times }: NodeOptions): NodeTimes {
	return { ...defaultTimes, ...times };
}
