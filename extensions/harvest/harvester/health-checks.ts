import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import { sign } from "../../../api/senders.ts";
import { createFetch } from "../../../api/service/net/fetch.ts";
import { type Health, healthPath, parseHealth, type Sickness } from "../../../registry/health.ts";
import type { WaitingRepair } from "../../../registry/schemas/answers.ts";
import { textsOf } from "../../../registry/texts.ts";
import { isRefusal, type Log, type Meta, type Store } from "../../../store/store.ts";
import { type CheckResult, healthText, updateHealth, weekOf } from "../health.ts";
import { serviceMeta } from "./commit.ts";
import { createGroups, type Schedule } from "./schedule.ts";

/** What an operator is notified of (docs/repair.md). */
export type Notice =
	| { event: "sick"; layers: ({ smallkey: string } & Pick<Sickness, "state" | "since" | "cause">)[] }
	| { event: "repair"; repairs: ({ smallkeys: string[] } & Pick<WaitingRepair, "branch" | "sure">)[] };

const notifier = "fragment-publisher";

/** After attempts of a service that failed. */
const pausesMs = [1_000, 10_000, 60_000, 600_000];

/** Layers or repairs of a notice, and smallkeys of a repair. */
const maxListed = 100;

interface NotifierOptions {
	target: { url: string; secret: string };
	now: () => Date;
	warn: (line: string) => void;
	fetch?: typeof fetch;
	pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** Sends notices one after the other, with retries, and never in the way of anything else. */
export function createNotifier(options: NotifierOptions) {
	const { target, now, warn } = options;
	// A service that has ended otherwise does not wait for a pause.
	const { pause = (ms, signal) => sleep(ms, undefined, { signal, ref: false }) } = options;
	const { fetch = createFetch({ allowPrivate: true, timeoutMs: 10_000, maxBytes: 100_000 }) } = options;
	const ending = new AbortController();
	const { signal } = ending;
	const oneByOne = pLimit(1);

	async function sendOnce(body: Uint8Array<ArrayBuffer>): Promise<string | null> {
		const timestamp = now().toISOString();
		const path = new URL(target.url).pathname;
		const headers = {
			Authorization: await sign(target.secret, { path, sender: notifier, timestamp, body }),
			TimeStamp: timestamp,
			Sender: notifier,
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
		const shorten = (_name: string, value: unknown) =>
			Array.isArray(value) ? value.slice(0, maxListed) : value;
		const body = new TextEncoder().encode(JSON.stringify(notice, shorten));
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
		/** Never rejects. The end needs no await. */
		async notify(notice: Notice): Promise<void> {
			if (signal.aborted || Object.values(notice).some((value) => value.length === 0)) return;
			await oneByOne(() => send(notice)).catch((error: Error) => warn(`NOTIFY_URL: ${error.message}`));
		},
		close: () => ending.abort(),
	};
}

export interface HealthOptions extends Pick<Schedule, "timers" | "now"> {
	store: Store;
	readHealth: () => Promise<string | null>;
	log: Log;
	notify?: ((notice: Notice) => unknown) | undefined;
}

/** No change, no commit. @throws {Error} if the health cannot be read or stored */
export async function commitHealth(
	{ store, readHealth, now }: HealthOptions,
	change: (before: Health) => { after: Health } & Pick<Meta, "subject">,
): Promise<void> {
	const before = await readHealth();
	const { after, ...words } = change(parseHealth(before));
	const text = healthText(after);
	if (text === before) return;
	const meta = { ...serviceMeta(now), ...words, smallkey: null };
	const outcome = await store.change(async () => [{ path: healthPath, text }], meta);
	if (isRefusal(outcome)) throw new Error(`${healthPath}: ${textsOf(outcome.errors).join("; ")}`);
}

/** Results of this time share a commit. */
const collectMs = 600_000;

/** Stores which layers are sick. `add`: null is healthy. */
export function createHealthGroups(options: HealthOptions & Pick<Schedule, "allKeys">) {
	const { now, allKeys, timers, log } = options;
	const groups = createGroups<CheckResult | null>({ timers, ms: collectMs, max: Infinity }, store);

	async function store(group: ReadonlyMap<string, CheckResult | null>): Promise<void> {
		try {
			const layers: ({ smallkey: string } & Sickness)[] = [];
			await commitHealth(options, (before) => {
				const registered = new Set(allKeys());
				const after = updateHealth(before, group, weekOf(now()), (smallkey) => registered.has(smallkey));
				// A layer that has become sick has no repair yet.
				for (const [smallkey, sickness] of after)
					if (!before.has(smallkey)) layers.push({ smallkey, ...sickness });
				const subject = `health: ${after.size} ${after.size === 1 ? "layer is" : "layers are"} sick`;
				return { after, subject };
			});
			options.notify?.({ event: "sick", layers });
		} catch (error) {
			groups.addAgain(group);
			log.error(error);
		}
	}

	return groups;
}
