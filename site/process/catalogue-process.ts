import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { lowerPriority } from "../../store/git/commands/run.ts";
import type { Log } from "../../store/store.ts";
import type { CatalogueOrder } from "../data/update.ts";
import type { CatalogueOptions } from "./site-settings.ts";

const defaultLimits = {
	/** Between the starts of two updates; doubled after each failure, and never shorter than an update. */
	everyMs: 3_000,
	/** Files may have been removed, or a sender renamed. */
	checkMs: 60_000,
};

interface ServiceCatalogueOptions {
	repository: string;
	out: string;
	worker: URL;
	/** Called for each update. */
	options: () => CatalogueOptions;
	/** Warns when updates begin to fail, and when they succeed again. */
	log: Log;
	limits?: Partial<typeof defaultLimits> | undefined;
}

const niceness = 10;

/** A process writes each update, so that its memory is freed. A failed update is tried again. */
export class ServiceCatalogue {
	/** The commit that the files show; null if unknown. */
	updatedTo: string | null = null;
	#target: string | null = null;
	#isFailing = false;
	#waking = new AbortController();
	readonly #closing = new AbortController();
	readonly #limits: typeof defaultLimits;
	readonly #running: Promise<void>;

	constructor(readonly settings: ServiceCatalogueOptions) {
		this.#limits = { ...defaultLimits, ...settings.limits };
		this.#running = this.#run().catch(settings.log.error);
	}

	changed(commit: string): void {
		this.#target = commit;
		this.#waking.abort();
	}

	async close(): Promise<void> {
		this.#closing.abort();
		this.#waking.abort();
		await this.#running;
	}

	async #run() {
		const { everyMs, checkMs } = this.#limits;
		const { signal } = this.#closing;
		for (let failures = 0; !signal.aborted; ) {
			if (this.#target === null || this.#target === this.updatedTo) {
				this.#waking = new AbortController();
				await pause(checkMs, this.#waking.signal);
				this.updatedTo = null;
				continue;
			}
			const startMs = performance.now();
			const isDone = await this.#update(this.#target);
			const tookMs = performance.now() - startMs;
			failures = isDone ? 0 : failures + 1;
			await pause(Math.max(Math.min(everyMs * 2 ** failures, checkMs) - tookMs, tookMs), signal);
		}
	}

	async #update(commit: string): Promise<boolean> {
		const { log } = this.settings;
		const reason = await this.#write(commit).catch(({ message }: Error) => message);
		if (reason && !this.#isFailing && !this.#closing.signal.aborted)
			log.warn(`the catalogue cannot be updated: ${reason}`);
		if (!reason && this.#isFailing) log.warn("the catalogue is current again");
		this.#isFailing = Boolean(reason);
		this.updatedTo = reason ? null : commit;
		return !reason;
	}

	/** @returns why it failed; empty if it did not @throws {Error} if the process cannot be started */
	async #write(commit: string): Promise<string> {
		const { repository, out, options, worker } = this.settings;
		const order: CatalogueOrder = { repository, commit, out, options: options() };
		const { readUsable } = await import("../data/output.ts");
		if (readUsable(out, order.options)?.commit === commit) return "";
		const args = ["--optimize-for-size", "--import", import.meta.resolve("tsx"), fileURLToPath(worker)];
		const child = spawn(process.execPath, args, {
			stdio: ["pipe", "pipe", "inherit"],
			// This process's environment is not inherited: it holds secrets.
			env: { PATH: process.env.PATH },
			signal: this.#closing.signal,
			killSignal: "SIGKILL",
		});
		const ended = new Promise<[code: number | null, name: string | null]>((resolve, reject) => {
			child.once("close", (code, name) => resolve([code, name]));
			// An aborted process still has to end; without one, nothing closes.
			child.on("error", (error) => child.pid === undefined && reject(error));
		});
		if (child.pid !== undefined) lowerPriority(child.pid, niceness);
		child.stdin?.on("error", () => undefined).end(JSON.stringify(order));
		const [[code, name], printed] = await Promise.all([ended, text(child.stdout ?? [])]);
		return code === 0 ? "" : printed || `its process ended with ${name ?? code}`;
	}
}

async function pause(ms: number, signal: AbortSignal) {
	await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
