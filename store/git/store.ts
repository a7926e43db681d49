import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CatFile } from "../../git/cat-file.ts";
import { type SyncPath, syncPath } from "../../git/sync.ts";
import type { Log } from "../log.ts";
import {
	type Commit,
	type Edit,
	type Edits,
	type Layer,
	type LayerIds,
	type Meta,
	maxClockSkewMs,
	type Refusal,
	type Store,
	StoreBusy,
	type UsedRequest,
} from "../store.ts";
import type { MeasureGit } from "./base.ts";
import { Branch, type Publish } from "./branch.ts";
import type { StoreContext } from "./context.ts";
import { commitSeed, readHead } from "./first-commit.ts";
import { GroupWriter } from "./groups.ts";
import { WriteHealth } from "./health.ts";
import type { Pending } from "./judge.ts";
import { defaultLimits, type StoreLimits } from "./limits.ts";
import { Packs } from "./packs.ts";
import { describePush } from "./pushes.ts";
import { type Guard, openRepository, startTask, writeProbe } from "./repository.ts";
import { UsedRequests } from "./used-requests.ts";
import { Writer } from "./writer.ts";

/** The dependencies of a local store. */
export interface GitStoreOptions {
	/** Path of the bare repository, which is made if it does not exist. `requests` beside it has the used requests. */
	repository: string;
	/** The clock. */
	now: () => Date;
	/**
	 * Publishes a range of commits. The range's changes are answered after that. It gets pushed commits, too, in the order
	 * of the branch. After a failure it gets the same range again.
	 */
	publish: Publish;
	/** Gets repairs, pushed commits, and errors that no answer shows. */
	log: Log;
	/** Syncs a file, or the names in a folder, to the disk; `syncPath` by default. */
	sync?: SyncPath;
	limits?: Partial<StoreLimits>;
	measure?: MeasureGit;
	/** Installs the hook that judges pushes. */
	guard?: Guard | undefined;
}

/**
 * A store of layers in a bare git repository on this machine. One loop takes all waiting changes as a group, judges each
 * of them, stores the group as one pack with a commit for each change, moves the branch, publishes, and answers. Other
 * processes may push to the repository at any time. A git process that hangs is ended and replaced.
 */
export class GitStore implements Store {
	readonly published = true;
	readonly #context: StoreContext;
	readonly #groups: GroupWriter;
	#waiting: Pending[] = [];
	/** Changes without an answer. */
	#open = 0;
	#isPollDue = false;
	#working: Promise<void> | null = null;
	#timer: NodeJS.Timeout | null = null;
	/** End of the pause after a failed poll, by the monotonic clock: a failing poll is not repeated at once. */
	#pausedUntilMs = Number.NEGATIVE_INFINITY;
	#probedMs = Number.NEGATIVE_INFINITY;
	#isClosed = false;

	private constructor(context: StoreContext) {
		this.#context = context;
		this.#groups = new GroupWriter(context);
	}

	/**
	 * Opens the repository, and removes files that a killed writer left. On first use, the repository is made and seeded.
	 * @param seed returns the files of the first commit; called only if the branch has no commit
	 * @throws {Error} if git is missing or too old, or the repository cannot be used
	 */
	static async open(options: GitStoreOptions, seed: () => Promise<Edit[]>): Promise<GitStore> {
		const { repository, log, guard, publish, measure = () => undefined, sync = syncPath } = options;
		const limits = { ...defaultLimits, ...options.limits };
		const base = { repository, log, now: () => options.now().getTime(), sync, limits, measure };
		await openRepository(base, guard);
		const catFile = new CatFile(repository, limits.silenceMs, limits.maxReaderReads);
		const writer = new Writer(base);
		try {
			const tip =
				(await startTask(repository, () => readHead(repository, catFile))) ??
				(await commitSeed(base, writer, await seed()));
			const branch: Branch = new Branch(base, catFile, tip, {
				publish,
				beforePush: async ({ from }) => requests.noteCommitted(await branch.requestsSince(from)),
				onPush: (range) => {
					void describePush(repository, range).then(
						(push) => push && log.info({ push }),
						(error) => log.error(error),
					);
				},
			});
			const requests = await UsedRequests.open({
				...base,
				folder: join(dirname(repository), "requests"),
				windowMs: maxClockSkewMs,
				branch,
			});
			const health = new WriteHealth(log, () => catFile.renew());
			const packs = new Packs(base, writer, catFile);
			await packs.count();
			return new GitStore({ ...base, catFile, branch, requests, health, writer, packs });
		} catch (error) {
			catFile.kill();
			writer.kill();
			throw error;
		}
	}

	/** The branch that is served. */
	get branch(): Branch {
		return this.#context.branch;
	}

	/** The commit that is served. */
	get tip(): string {
		return this.branch.commit;
	}

	/** Why changes cannot be made, or commits of the branch are not served, in a few words; null if neither is so. */
	state(): string | null {
		return this.#context.health.reason ?? this.branch.behind;
	}

	/** How many changes are waiting or running. */
	get waiting(): number {
		return this.#open;
	}

	/** Starts the timer that looks for pushes and checks the writer. */
	start(): void {
		this.#timer ??= setInterval(() => {
			if (this.#working || performance.now() < this.#pausedUntilMs) return;
			this.#isPollDue = true;
			this.#work();
		}, this.#context.limits.pollMs);
	}

	read(smallkey: string): Promise<Layer | null> {
		return this.branch.readerAt(this.tip).read(smallkey);
	}

	ids(smallkey: string): Promise<LayerIds | null> {
		return this.branch.readerAt(this.tip).ids(smallkey);
	}

	keys(folder: string): Promise<string[]> {
		return this.branch.readerAt(this.tip).keys(folder);
	}

	async change(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		if (this.#isClosed) throw closingError();
		this.#open += 1;
		const outcome = new Promise<Commit | Refusal>((resolve, reject) => {
			this.#waiting.push({ edits, meta, sinceMs: performance.now(), resolve, reject });
			this.#work();
		});
		return outcome.finally(() => {
			this.#open -= 1;
		});
	}

	/** Stores a signed request that was refused before the store was called: see `Store`. */
	async remember({ request, method, time, status }: UsedRequest): Promise<boolean> {
		const { requests, health } = this.#context;
		const isFirst = !requests.find(request) && !requests.isForgotten(time);
		try {
			await requests.keep([[request, { method, timeMs: time, outcome: status }]]);
			return isFirst;
		} catch (error) {
			throw health.failed(error);
		}
	}

	/** Finishes the waiting changes, then ends git's processes. After `closeMs` it ends them in any case. */
	async close(): Promise<void> {
		this.#isClosed = true;
		if (this.#timer) clearInterval(this.#timer);
		const { limits, catFile, writer, requests, packs, log } = this.#context;
		const ended = async () => {
			while (this.#working) await this.#working;
			await this.#groups.idle();
			await packs.idle();
			await writer.renew();
			await catFile.close();
			return true;
		};
		const isInTime = await Promise.race([ended(), sleep(limits.closeMs, false, { ref: false })]);
		if (!isInTime) {
			for (const { reject } of this.#waiting.splice(0)) reject(closingError());
			writer.kill();
			catFile.kill();
		}
		await requests.close().catch((error) => log.error(error));
	}

	/** Starts the loop, unless it is running. */
	#work(): void {
		this.#working ??= this.#loop();
	}

	async #loop(): Promise<void> {
		const timer = setInterval(() => this.#refuseLate(), this.#context.limits.waitMs / 4);
		try {
			while (this.#waiting.length > 0 || this.#isPollDue) {
				if (this.#waiting.length === 0) await this.#poll();
				// Changes that arrive in the same iteration of the event loop share one group.
				else await new Promise(setImmediate).then(() => this.#writeWaiting());
			}
		} finally {
			clearInterval(timer);
			this.#working = null;
		}
	}

	/** Rejects changes that have waited too long. */
	#refuseLate(): void {
		const { limits, health } = this.#context;
		const isLate = (change: Pending) => performance.now() - change.sinceMs > limits.waitMs;
		const reason = health.reason ?? "the changes before this one take too long";
		for (const { reject } of this.#waiting.filter(isLate)) reject(new StoreBusy(reason, 5));
		this.#waiting = this.#waiting.filter((change) => !isLate(change));
	}

	/** Publishes pushed commits, and checks every `probeMs` whether changes can be made. */
	async #poll(): Promise<void> {
		this.#isPollDue = false;
		const { health, limits, writer, packs, repository } = this.#context;
		try {
			if (await this.branch.follow()) await packs.count();
			if (performance.now() - this.#probedMs >= limits.probeMs) {
				this.#probedMs = performance.now();
				const hasFailed = health.reason !== null;
				if (hasFailed) await writeProbe(join(repository, "probe"));
				await writer.probe(hasFailed);
				health.recovered();
			}
			await packs.repackIfMany();
		} catch (error) {
			health.failed(error);
			this.#pausedUntilMs = performance.now() + limits.probeMs;
			writer.kill();
		}
	}

	async #writeWaiting(): Promise<void> {
		const taken = this.#waiting.splice(0);
		const { packs, log } = this.#context;
		await packs.repackIfMany().catch((error) => log.error(error));
		await this.#groups.write(taken);
	}
}

function closingError(): StoreBusy {
	return new StoreBusy("the service is about to end", 5);
}
