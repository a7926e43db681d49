import type { Context } from "../context.ts";
import type { Fragments } from "../read.ts";
import type { TrustedProxies } from "./address.ts";
import type { RouteName } from "./exchange.ts";
import type { Answered } from "./log.ts";
import type { Pages } from "./pages.ts";

/** How long each part of a request may take. */
const defaultTimes = {
	/** A request's head, from its first byte. */
	headTimeoutMs: 10_000,
	/** A request's body, from the end of its head. */
	bodyTimeoutMs: 20_000,
	/** An answer that its reader does not take, beside the time that its bytes may take. */
	readerTimeoutMs: 30_000,
	/** Slowest reader that is waited for: an answer may take as long as its bytes take at this rate. */
	readerBytesPerSecond: 64_000,
	/** How long a bad signature, or one write too many of an address, waits for its answer. */
	badWriteDelayMs: 100,
	/** How often heads and bodies are checked. */
	checkEveryMs: 1_000,
	/** Equal refusals of one address are counted into one log line for so long. */
	logEveryMs: 1_000,
};

export type NodeTimes = typeof defaultTimes;

/** What the server needs beside the handlers' context. */
export interface NodeOptions {
	context: Context;
	fragments: Fragments;
	/** Returns another number after each change of any fragment; null where that is not known. */
	version: (() => number) | null;
	/** Where the catalogue is read; left out where there is none. */
	pages?: Pages | undefined;
	/** Called for each write and for each answer from 400 up; for every answer with `allReads`. */
	log: (answered: Answered) => void;
	allReads: boolean;
	/** Called for each other read. */
	count: () => void;
	/**
	 * Called for every answer after it was handed on, with its route, its status, the milliseconds since the request's
	 * head, and why a write was refused. Without it nothing is measured.
	 */
	measure?: ((route: RouteName, status: number, ms: number, reason: string | undefined) => void) | undefined;
	/** Proxies whose `X-Forwarded-For` is trusted; none by default. */
	trustedProxies?: TrustedProxies;
	/** Only what differs from the defaults. */
	times?: Partial<NodeTimes>;
	/** Most bytes of bodies that are held at once, those of writes under way included. */
	maxHeldBytes?: number;
}

/** The times of a server, with the defaults filled in. */
export function timesOf({ times }: NodeOptions): NodeTimes {
	return { ...defaultTimes, ...times };
}
