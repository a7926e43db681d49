import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import { sign } from "../../api/senders.ts";
import { createFetch } from "../../api/service/net/fetch.ts";
import type { Sickness } from "../../registry/health.ts";
import type { WaitingRepair } from "../../registry/schemas/answers.ts";

/** What an operator is notified of (docs/repair.md). */
export type Notice =
	| { event: "sick"; layers: ({ smallkey: string } & Pick<Sickness, "state" | "since" | "cause">)[] }
	| { event: "repair"; repairs: ({ smallkeys: string[] } & Pick<WaitingRepair, "branch" | "sure">)[] }
	| { event: "proof"; layers: { smallkey: string; since: string }[] };

const notifier = "fragment-publisher";

/** Pauses after attempts of a service that failed. */
const longPausesMs = [1_000, 10_000, 60_000, 600_000];

/** Notices that wait at the same time, layers or repairs of one, and smallkeys of one repair; the rest is left out. */
const maxWaiting = 100;
const maxListed = 100;

interface NotifierOptions {
	target: { url: string; secret: string };
	now: () => Date;
	warn: (line: string) => void;
	/** Pauses after attempts that failed, in milliseconds: a command does not wait for long. */
	pausesMs?: readonly number[];
	fetch?: typeof fetch;
	pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** Creates the sender of notices: one after the other, retried, and never in the way of anything else. */
export function createNotifier(options: NotifierOptions) {
	const { target, now, warn, pausesMs = longPausesMs } = options;
	// A service that has ended otherwise does not wait for a pause; a command does.
	const ref = options.pausesMs !== undefined;
	const { pause = (ms, signal) => sleep(ms, undefined, { signal, ref }) } = options;
	const { fetch = createFetch({ allowPrivate: true, timeoutMs: 10_000, maxBytes: 100_000 }) } = options;
	const ending = new AbortController();
	const { signal } = ending;
	const oneByOne = pLimit(1);

	async function sendOnce(body: Uint8Array<ArrayBuffer>): Promise<string | null> {
		const timestamp = now().toISOString();
		const path = new URL(target.url).pathname;
		const signature = await sign(target.secret, { path, sender: notifier, timestamp, body });
		const headers = {
			...{ Authorization: signature, TimeStamp: timestamp, Sender: notifier },
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

	async function send(notice: Notice): Promise<void> {
		const body = new TextEncoder().encode(JSON.stringify(shortened(notice)));
		for (const ms of [...pausesMs, null]) {
			const trouble = await sendOnce(body);
			if (trouble === null || signal.aborted) return;
			// The address may have a secret in its path.
			if (ms === null) return warn(`NOTIFY_URL: a notice (${notice.event}) was not delivered: ${trouble}`);
			await pause(ms, signal).catch(() => undefined);
			if (signal.aborted) return;
		}
	}

	return {
		/** Sends a notice in its turn. Never rejects. @returns a promise of its end, which no one has to await */
		async notify(notice: Notice): Promise<void> {
			if (signal.aborted || Object.values(notice).some((value) => value.length === 0)) return;
			if (oneByOne.pendingCount >= maxWaiting)
				return warn(`NOTIFY_URL: too many notices wait, so one (${notice.event}) is left out`);
			await oneByOne(() => send(notice)).catch((error: Error) => warn(`NOTIFY_URL: ${error.message}`));
		},
		close: () => ending.abort(),
	};
}

function shortened(notice: Notice): Notice {
	if (notice.event !== "repair") return { ...notice, layers: notice.layers.slice(0, maxListed) } as Notice;
	const repairs = notice.repairs.slice(0, maxListed);
	return {
		...notice,
		repairs: repairs.map((one) => ({ ...one, smallkeys: one.smallkeys.slice(0, maxListed) })),
	};
}
