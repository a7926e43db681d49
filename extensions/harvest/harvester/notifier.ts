import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import { sign } from "../../../api/signature.ts";
import type { WaitingRepair } from "../../../registry/schemas/answers.ts";
import type { Sickness } from "../../../site/data/health.ts";
import { createFetch } from "../net/fetch.ts";

/** What an operator is notified of (docs/repair.md). */
export type Notice =
	| { event: "sick"; layers: ({ smallkey: string } & Pick<Sickness, "state" | "since" | "cause">)[] }
	| { event: "repair"; repairs: ({ smallkeys: string[] } & Pick<WaitingRepair, "branch" | "sure">)[] };

const sender = "fragment-publisher";

const retryPausesMs = [1_000, 10_000, 60_000, 600_000];

/** Layers or repairs of a notice, and smallkeys of a repair. */
const maxListed = 100;

interface NotifierOptions {
	target: { url: string; secret: string };
	now: () => Date;
	warn: (line: string) => void;
	fetch?: typeof fetch;
	pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** Sends notices one after the other, with retries. */
export function createNotifier(options: NotifierOptions) {
	// A pause does not keep the process running.
	const { target, now, warn, pause = (ms, signal) => sleep(ms, undefined, { signal, ref: false }) } = options;
	const { fetch = createFetch({ allowPrivate: true, timeoutMs: 10_000, maxBytes: 100_000 }) } = options;
	const ending = new AbortController();
	const { signal } = ending;
	const oneByOne = pLimit(1);

	/** @returns why it failed; null if it did not */
	async function attempt(body: Uint8Array<ArrayBuffer>): Promise<string | null> {
		const timestamp = now().toISOString();
		const path = new URL(target.url).pathname;
		const headers = {
			Authorization: await sign(target.secret, { path, sender, timestamp, body }),
			TimeStamp: timestamp,
			Sender: sender,
			"Content-Type": "application/json",
		};
		try {
			const answer = await fetch(target.url, { method: "POST", headers, body, signal });
			await answer.body?.cancel();
			return answer.ok ? null : `status ${answer.status}`;
		} catch (error) {
			return (error as Error).message;
		}
	}

	async function deliver(notice: Notice) {
		const shorten = (_name: string, value: unknown) =>
			Array.isArray(value) ? value.slice(0, maxListed) : value;
		const body = new TextEncoder().encode(JSON.stringify(notice, shorten));
		let failure = await attempt(body);
		for (const ms of retryPausesMs) {
			if (failure === null || signal.aborted) return;
			await pause(ms, signal).catch(() => undefined);
			if (!signal.aborted) failure = await attempt(body);
		}
		// The address may have a secret in its path.
		if (failure !== null && !signal.aborted)
			warn(`NOTIFY_URL: a notice (${notice.event}) was not delivered: ${failure}`);
	}

	return {
		/** Never rejects. */
		async notify(notice: Notice): Promise<void> {
			if (signal.aborted || Object.values(notice).some((value) => value.length === 0)) return;
			await oneByOne(() => deliver(notice)).catch((error: Error) => warn(`NOTIFY_URL: ${error.message}`));
		},
		close: () => ending.abort(),
	};
}
