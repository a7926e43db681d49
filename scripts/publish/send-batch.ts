import { setTimeout as sleep } from "node:timers/promises";
import pMap from "p-map";
import { canonicalText, type Registration } from "../../registry/registration.ts";
import type { Environment } from "../../system/environment.ts";
import { exitCodes } from "../../system/terminal/command-line.ts";
import type { Io } from "../../system/terminal/io.ts";
import { counted, plain } from "../../system/terminal/plain.ts";
import { findSecret, sendRequest, signRequest } from "./request.ts";

/** Signed requests that wait for their answers at the same time. */
const maxRequests = 8;

/** Times of a batch in milliseconds, which tests shorten. */
const defaultTimes = {
	/** The pauses before a request is sent again that was not served: a service may be restarted meanwhile. */
	pausesMs: [1_000, 2_000, 4_000, 8_000, 16_000] as readonly number[],
	/** How often the command prints its progress. */
	noteMs: 5_000,
};

/** What became of a batch's layers. */
interface Counts {
	accepted: number;
	refused: number;
	all: number;
}

/**
 * Sends each registration to a running service by a signed PUT. It prints the refusals, its progress, and at its end what was
 * sent and what was not. If the service does not serve a request for half a minute, or at Ctrl-C, it sends no others.
 * @returns exit code: 1 if the service refused a layer, 2 if not all were sent
 */
export async function sendBatch(
	registrations: ReadonlyMap<string, Registration>,
	{ url, sender: id }: { url: string; sender?: string },
	environment: Environment,
	io: Io,
	times: Partial<typeof defaultTimes> = {},
): Promise<number> {
	const { pausesMs, noteMs } = { ...defaultTimes, ...times };
	const { sender, secret } = await findSecret(id ?? null, environment, io);
	const withSecret = { ...environment, SENDER_SECRET: secret };
	const counts: Counts = { accepted: 0, refused: 0, all: registrations.size };
	const interrupted = io.interrupted();
	const gone = new AbortController();
	const ended = AbortSignal.any([interrupted, gone.signal]);

	/** Sends a layer once. @returns the exit code, and what is to be printed of a request that was not accepted */
	async function sendOnce(smallkey: string, body: Uint8Array) {
		const lines: string[] = [];
		const collected = { ...io, print: () => undefined, warn: (line: string) => void lines.push(line) };
		try {
			const request = await signRequest({ method: "PUT", smallkey, body, url, sender }, withSecret, io);
			return { code: await sendRequest(request, collected), lines };
		} catch (error) {
			const { message, cause } = error as Error;
			const reason = cause instanceof Error ? `: ${cause.message}` : "";
			return { code: exitCodes.unable, lines: [plain(`${message}${reason}`)] };
		}
	}

	async function send([smallkey, registration]: [string, Registration]): Promise<void> {
		const body = new TextEncoder().encode(canonicalText(registration));
		for (const pauseMs of [...pausesMs, null]) {
			if (ended.aborted) return;
			const { code, lines } = await sendOnce(smallkey, body);
			if (code === exitCodes.done) counts.accepted += 1;
			if (code === exitCodes.wrong) counts.refused += 1;
			const isLast = code !== exitCodes.unable || pauseMs === null;
			if (isLast && !gone.signal.aborted) for (const line of lines) io.warn(line);
			if (code !== exitCodes.unable) return;
			if (pauseMs !== null) await sleep(pauseMs, undefined, { signal: ended }).catch(() => undefined);
		}
		gone.abort();
	}

	const note = setInterval(() => io.warn(progressText(counts)), noteMs);
	await pMap(registrations, send, { concurrency: maxRequests }).finally(() => clearInterval(note));
	io.print(`${counts.accepted} of ${counted(counts.all, "layer")} accepted by ${url}`);
	const left = counts.all - counts.accepted - counts.refused;
	if (left > 0) {
		const why = interrupted.aborted ? "interrupted" : "the service does not answer, or cannot serve now";
		io.warn(`${why}: ${counted(left, "layer")} not sent. Run it again: what is stored already is skipped`);
		return exitCodes.unable;
	}
	return counts.refused > 0 ? exitCodes.wrong : exitCodes.done;
}

function progressText({ accepted, refused, all }: Counts): string {
	return `${accepted + refused} of ${all} sent${refused > 0 ? `, ${refused} refused` : ""}`;
}
