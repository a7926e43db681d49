import { dirname, join } from "node:path";
import { CatFile } from "../../git/cat-file.ts";
import { GitFailure } from "../../git/run.ts";
import { type SyncPath, syncPath } from "../../git/sync.ts";
import type { Log } from "../log.ts";
import {
	type Commit,
	clockSkew,
	type Edit,
	type Edits,
	type Layer,
	type LayerIds,
	type Meta,
	type Refusal,
	type Store,
	StoreBusy,
	type UsedRequest,
} from "../store.ts";
import { Branch } from "./branch.ts";
import type { MeasureGit, StoreContext } from "./context.ts";
import { commitSeed, readHead } from "./first-commit.ts";
import { GroupWriter } from "./group-writer.ts";
import { WriteHealth } from "./health.ts";
import type { Pending } from "./judge.ts";
import { ordinaryLimits, type StoreLimits } from "./limits.ts";
import { Packs } from "./packs.ts";
import { type CommitRange, type Publish, PublishedHead } from "./published-head.ts";
import { describePush } from "./pushes.ts";
import { type Guard, openRepository, startTask, writeProbe } from "./repository.ts";
import { changeForReview } from "./reviews.ts";
import { UsedRequests } from "./used-requests.ts";
import { Writer } from "./writer.ts";

export type { GitOperation, MeasureGit } from "./context.ts";
export type { StoreLimits } from "./limits.ts";
export type { CommitRange, Published } from "./published-head.ts";
export { startTask } from "./repository.ts";

/** What a local store needs from outside. */
export interface GitStoreOptions {
	/** Path of the bare repository; made where there is none. Beside it, `requests` keeps what signatures were used. */
	repository: string;
	/** The clock. */
	now: () => Date;
	/**
	 * Makes a range of commits readable; its changes are answered after that. It gets pushes, too, in the order of the
	 * branch, and the same range again where it fails.
	 */
	publish: Publish;
	/** Gets what was repaired, what others have brought to the branch, and errors that no answer shows. */
	log: Log;
	/** Puts a file, or the names in a folder, on the disk; `fsync` without it. */
	sync?: SyncPath;
	limits?: Partial<StoreLimits>;
	/** Receives how long git took for what others wait for. */
	measure?: MeasureGit;
	/** Installs the hook that judges what is pushed. */
	guard?: Guard | undefined;
}

/** Name of the branch that is served. */
const branchName = "main";

/**
 * Layers in a bare git repository on this machine. One loop writes: it takes what waits, judges each change, stores the
 * group as one pack of a commit each, moves the branch, publishes, and answers. Others may push to the repository at any
 * time. A git process that hangs is ended and replaced.
 */
export class GitStore implements Store {
	readonly published = true;
	readonly #context: StoreContext;
	readonly #head: PublishedHead;
	readonly #packs: Packs;
	#waiting: Pending[] = [];
	/** Changes without an answer. */
	#open = 0;
	#isLookDue = false;
	#working: Promise<void> | null = null;
	/** Whether a review branch may have a commit whose request is not noted. */
	#isUncertain = false;
	readonly #groups: GroupWriter;
	#timer: NodeJS.Timeout | null = null;
	/** Until when it does not look, by the monotonic clock: what fails now is not tried several times a second. */
	#restsUntilMs = Number.NEGATIVE_INFINITY;
	#probedMs = Number.NEGATIVE_INFINITY;
	#isClosed = false;

	private constructor(context: StoreContext, head: PublishedHead, packs: Packs) {
		this.#context = context;
		this.#head = head;
		this.#packs = packs;
		this.#groups = new GroupWriter(context, head, packs);
	}

	/**
	 * Opens the repository, made and seeded on first use, after clearing what a killed writer left behind.
	 * @param seed the files of the first commit; asked only where the branch has no commit
	 * @throws {Error} where git is missing or too old, or the repository cannot be used
	 */
	static async open(options: GitStoreOptions, seed: () => Promise<Edit[]>): Promise<GitStore> {
		const { repository, log, guard, sync = syncPath } = options;
		const limits = { ...ordinaryLimits, ...options.limits };
		await openRepository({ repository, branch: branchName, sync, lockMs: limits.lockMs, guard, log });
		const catFile = new CatFile(repository, { silenceMs: limits.silenceMs, maxReads: limits.readerReads });
		const writer = new Writer({ repository, sync, limits });
		try {
			const now = () => options.now().getTime();
			const { measure = () => undefined, publish } = options;
			const branch = new Branch(repository, catFile, branchName, limits.commandMs);
			const tip =
				(await startTask(repository, () => readHead(repository, branchName, catFile))) ??
				(await commitSeed({ repository, writer, sync }, branchName, await seed(), now()));
			const head = new PublishedHead(
				{
					repository,
					catFile,
					branch,
					measure,
					publish,
					following: async ({ from }) => requests.noteCommitted(await branch.requestsSince(from)),
					followed: (range) => {
						void describePush(repository, range).then(
							(push) => push && log.info({ push }),
							(error) => log.error(error),
						);
					},
				},
				tip,
			);
			const requests = await UsedRequests.open({
				folder: join(dirname(repository), "requests"),
				windowMs: clockSkew,
				now,
				sync,
				head: () => head.commit,
				readCommits: (since) => branch.requestsSince(since),
			});
			const health = new WriteHealth({ log, damaged: () => catFile.renew() });
			const packs = new Packs({
				repository,
				limits,
				log,
				measure,
				before: () => writer.renew(),
				after: () => {
					writer.outdate();
					catFile.renew();
				},
			});
			await packs.count();
			const shared = {
				repository,
				log,
				now,
				sync,
				limits,
				catFile,
				branch,
				requests,
				health,
				writer,
				measure,
			};
			return new GitStore(shared, head, packs);
		} catch (error) {
			catFile.kill();
			writer.kill();
			throw error;
		}
	}

	/** The commit that is served. */
	get tip(): string {
		return this.#head.commit;
	}

	/** Why changes cannot be made now, or what the branch has is not served, in a few words; null where all is well. */
	state(): string | null {
		return this.#context.health.reason ?? this.#head.behind;
	}

	/** How many changes wait, or are under way. */
	get waiting(): number {
		return this.#open;
	}

	/** How many commits of the branch are not served yet. @throws {Error} where git fails */
	commitsBehind(): Promise<number> {
		return this.#head.commitsBehind();
	}

	/**
	 * The range from an earlier commit to the one that is served.
	 * @returns null where that commit is not in its history: the repository may be another one, or an older copy
	 */
	rangeSince(commit: string): Promise<CommitRange | null> {
		return this.#head.rangeSince(commit);
	}

	/** Goes back to an earlier commit on the branch: what came after it cannot be read yet, and is tried again. */
	goBackTo(commit: string): void {
		this.#head.goBackTo(commit);
	}

	/** The range from nothing to the commit that is served. */
	firstRange(): Promise<CommitRange> {
		return this.#head.firstRange();
	}

	/** Starts to look for pushes, and after itself. */
	start(): void {
		this.#timer ??= setInterval(() => {
			if (this.#working || performance.now() < this.#restsUntilMs) return;
			this.#isLookDue = true;
			this.#work();
		}, this.#context.limits.lookMs);
	}

	read(smallkey: string): Promise<Layer | null> {
		return this.#head.readerAt(this.tip).read(smallkey);
	}

	ids(smallkey: string): Promise<LayerIds | null> {
		return this.#head.readerAt(this.tip).ids(smallkey);
	}

	keys(folder: string): Promise<string[]> {
		return this.#head.readerAt(this.tip).keys(folder);
	}

	async change(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		if (this.#isClosed) throw ending();
		this.#open += 1;
		const outcome = new Promise<Commit | Refusal>((resolve, reject) => {
			this.#waiting.push({ edits, meta, sinceMs: performance.now(), resolve, reject });
			this.#work();
		});
		return outcome.finally(() => {
			this.#open -= 1;
		});
	}

	/** Keeps a signed request that was refused before the store was asked: see `Store`. */
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

	/** Finishes what waits, then ends git's processes: in any case, within `closeMs`. */
	async close(): Promise<void> {
		this.#isClosed = true;
		if (this.#timer) clearInterval(this.#timer);
		const { limits, catFile, writer, requests, log } = this.#context;
		const isInTime = await within(limits.closeMs, async () => {
			while (this.#working) await this.#working;
			await this.#groups.idle();
			await this.#packs.idle();
			await writer.renew();
			await catFile.close();
		});
		if (!isInTime) {
			for (const { reject } of this.#waiting.splice(0)) reject(ending());
			writer.kill();
			catFile.kill();
		}
		await requests.close().catch((error) => log.error(error));
	}

	/** Starts the loop, unless it runs. */
	#work(): void {
		this.#working ??= this.#loop();
	}

	async #loop(): Promise<void> {
		const timer = setInterval(() => this.#refuseLate(), this.#context.limits.waitMs / 4);
		try {
			while (this.#waiting.length > 0 || this.#isLookDue) {
				if (this.#waiting.length === 0) await this.#look();
				// What has come in the same turn of the event loop shares the group.
				else await new Promise(setImmediate).then(() => this.#writeWaiting());
			}
		} finally {
			clearInterval(timer);
			this.#working = null;
		}
	}

	/** Refuses what has waited too long for its turn. */
	#refuseLate(): void {
		const { limits, health } = this.#context;
		const isLate = (one: Pending) => performance.now() - one.sinceMs > limits.waitMs;
		const reason = health.reason ?? "the changes before this one take too long";
		for (const one of this.#waiting.filter(isLate)) one.reject(new StoreBusy(reason, 5));
		this.#waiting = this.#waiting.filter((one) => !isLate(one));
	}

	/** Follows pushes, and looks whether changes can be made. */
	async #look(): Promise<void> {
		this.#isLookDue = false;
		const { health, limits, writer } = this.#context;
		try {
			if (await this.#head.follow()) await this.#packs.count();
			await writer.probe();
			if (health.reason !== null) await this.#probe();
			await this.#packs.repackIfMany();
		} catch (error) {
			health.failed(error);
			this.#restsUntilMs = performance.now() + limits.probeMs;
			writer.kill();
		}
	}

	/** Tries whether changes can be made again: room on the disk, and a writer that answers. */
	async #probe(): Promise<void> {
		const { limits, repository, health, writer } = this.#context;
		if (performance.now() - this.#probedMs < limits.probeMs) return;
		this.#probedMs = performance.now();
		await writeProbe(join(repository, "probe"));
		await writer.restart();
		health.recovered();
	}

	async #writeWaiting(): Promise<void> {
		const taken = this.#waiting.splice(0);
		await this.#packs.repackIfMany().catch((error) => this.#context.log.error(error));
		const group = taken.filter(({ meta }) => !meta.review);
		if (group.length > 0) await this.#groups.write(group);
		for (const one of taken) if (one.meta.review) await this.#writeReview(one);
	}

	async #writeReview(pending: Pending): Promise<void> {
		const { health, writer, requests, branch } = this.#context;
		/** What the change's own code failed with. */
		let own: unknown = null;
		const edits: Edits = (now) =>
			pending.edits(now).catch((error) => {
				if (!(error instanceof GitFailure)) own = error;
				throw error;
			});
		try {
			if (this.#isUncertain) requests.noteCommitted(await branch.requestsSince(this.tip));
			this.#isUncertain = false;
			pending.resolve(await changeForReview({ ...pending, edits }, this.#context, this.#head));
			this.#packs.written();
		} catch (error) {
			this.#isUncertain = error !== own;
			if (this.#isUncertain && !(error instanceof StoreBusy)) writer.kill();
			pending.reject(error === own ? error : health.failed(error));
		}
	}
}

function ending(): StoreBusy {
	return new StoreBusy("the service is about to end", 5);
}

/** Whether a task ended within a time, in milliseconds. */
async function within(ms: number, task: () => Promise<void>): Promise<boolean> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<boolean>((resolve) => {
		timer = setTimeout(() => resolve(false), ms);
	});
	const isInTime = await Promise.race([task().then(() => true), late]);
	clearTimeout(timer);
	return isInTime;
}
