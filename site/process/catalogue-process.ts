import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { repositoryPath } from "../../api/service/data-dir.ts";
import { readReviews, servedRef } from "../../api/service/repository.ts";
import type { Published } from "../../api/service/senders-file.ts";
import { isShallow, readLog } from "../../store/git/commands/commits.ts";
import { GitFailure, lowerPriority } from "../../store/git/commands/run.ts";
import { authorOf, type Log } from "../../store/store.ts";
import { historyCommit } from "../data/history.ts";
import type { CatalogueOrder, CatalogueReport } from "../data/update.ts";
import type { CatalogueOptions } from "./site-settings.ts";

/**
 * The layers that each sender registered last, and its changes that wait for a reviewer, by its id; null if there is no
 * repository with its whole history.
 */
export async function readPublished(dataDir: string): Promise<ReadonlyMap<string, Published> | null> {
	const repository = repositoryPath(dataDir);
	if (!existsSync(repository)) return null;
	return readFrom(repository).catch((error: unknown) => {
		if (error instanceof GitFailure) return null;
		throw error;
	});
}

async function readFrom(repository: string): Promise<ReadonlyMap<string, Published> | null> {
	if (await isShallow(repository)) return null;
	/** Smallkey → the sender who registered it last; null: it arrived in another way. */
	const senders = new Map<string, string | null>();
	// Not only first parents: the commit of a merge is its reviewer's.
	for await (const commit of readLog(repository, ["--reverse", "--topo-order", servedRef, "--", "layers"])) {
		const { layers, registered, sender } = historyCommit(commit);
		for (const { smallkey, kind } of layers) {
			if (kind === "removed") senders.delete(smallkey);
			else if (registered.has(smallkey)) senders.set(smallkey, sender);
		}
	}
	const published = new Map<string, { layers: string[]; waiting: string[] }>();
	const of = (id: string) => {
		const changes = published.get(id) ?? { layers: [], waiting: [] };
		published.set(id, changes);
		return changes;
	};
	for (const smallkey of [...senders.keys()].sort()) {
		const id = senders.get(smallkey);
		if (id) of(id).layers.push(smallkey);
	}
	for (const { branch, mail } of await readReviews(repository, "waiting")) {
		const id = authorOf(mail);
		if (id) of(id).waiting.push(branch);
	}
	return published;
}

const defaultLimits = {
	/** How long changes are collected before an update. */
	collectMs: 50,
	/** Between the starts of two updates. The pause after an update is never shorter than the update. */
	everyMs: 3_000,
	checkMs: 60_000,
	/** Pauses after a failure. Each is twice the one before. */
	retryMs: 1_000,
	maxRetryMs: 60_000,
};

interface ServiceCatalogueOptions {
	repository: string;
	out: string;
	/** Calls `serveOrder`. */
	worker: URL;
	/** Called for each update: the senders may have changed. */
	options: () => CatalogueOptions;
	/** Gets one warning when the catalogue cannot be written, and another when it is current again. */
	log: Log;
	limits?: Partial<typeof defaultLimits> | undefined;
}

/** Lower than the priority of the process that answers. */
const niceness = 10;

/**
 * The catalogue of a running service. For each update, a process of its own writes it, and ends: its memory
 * is not kept. If an update fails, reads and writes of layers continue, and it is tried again.
 */
export function openCatalogue(given: ServiceCatalogueOptions) {
	const { repository, out, worker: module, options, log } = given;
	const { collectMs, everyMs, checkMs, retryMs, maxRetryMs } = { ...defaultLimits, ...given.limits };
	const closing = new AbortController();
	const { signal } = closing;
	let worker: ChildProcess | null = null;
	let target: string | null = null;
	let updatedTo: string | null = null;
	let restUntilMs = Number.NEGATIVE_INFINITY;
	let failure: string | null = null;
	let working: Promise<void> | null = null;

	function work(): void {
		if (signal.aborted) return;
		working ??= runRounds()
			.catch(log.error)
			.finally(() => {
				working = null;
			});
	}

	async function runRounds(): Promise<void> {
		for (let failures = 0; target !== null && target !== updatedTo; ) {
			await pause(Math.max(collectMs, restUntilMs - performance.now()));
			if (signal.aborted) return;
			const startMs = performance.now();
			const isDone = await update(target);
			const tookMs = performance.now() - startMs;
			restUntilMs = startMs + Math.max(everyMs, 2 * tookMs);
			failures = isDone ? 0 : failures + 1;
			if (!isDone) await pause(Math.min(retryMs * 2 ** (failures - 1), maxRetryMs));
		}
	}

	async function pause(ms: number): Promise<void> {
		await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
	}

	async function update(commit: string): Promise<boolean> {
		const reason = await updateNow(commit).catch(({ message }: Error) => message);
		if (reason !== null) {
			updatedTo = null;
			if (failure === null && !signal.aborted) log.warn(`the catalogue cannot be updated: ${reason}`);
			failure = reason;
			return false;
		}
		if (failure !== null) log.warn("the catalogue is current again");
		failure = null;
		updatedTo = commit;
		return true;
	}

	async function updateNow(commit: string): Promise<CatalogueReport> {
		const order = { repository, commit, out, options: options() };
		const { readUsable } = await import("../data/output.ts");
		return readUsable(out, order.options)?.commit === commit ? null : runWorker(order);
	}

	/** @throws {Error} if the process cannot be started, or ends without an answer */
	async function runWorker(order: CatalogueOrder): Promise<CatalogueReport> {
		const started = fork(module, {
			execArgv: ["--optimize-for-size", "--import", import.meta.resolve("tsx")],
			serialization: "advanced",
			// This process's environment is not inherited: it holds secrets.
			env: { PATH: process.env.PATH },
		});
		worker = started;
		if (started.pid !== undefined) lowerPriority(started.pid, niceness);
		const over = new AbortController();
		// Both reject if the process cannot be started: then there is an `error` event, and no `exit`.
		const answered = once(started, "message", over).then(([{ report }]) => report as CatalogueReport);
		const ended = once(started, "exit", over).then(([code, name]) => {
			throw new Error(`its process ended with ${name ?? code}`);
		});
		// Without a channel the process has not started, or has ended: an event follows, as when `send` fails.
		if (started.connected) started.send(order, () => undefined);
		started.on("error", () => undefined);
		return Promise.race([answered, ended]).finally(() => {
			over.abort();
			started.kill("SIGKILL");
			worker = null;
		});
	}

	const timer = setInterval(() => {
		// Someone may have removed files, or the name of a sender may have changed.
		updatedTo = null;
		work();
	}, checkMs).unref();

	return {
		changed(commit: string): void {
			target = commit;
			work();
		},
		/** Null if it is not known what the files show. */
		get updatedTo(): string | null {
			return updatedTo;
		},
		/** What it was writing is written again by the next service. */
		async close(): Promise<void> {
			closing.abort();
			clearInterval(timer);
			worker?.kill("SIGKILL");
			await working;
		},
	};
}
