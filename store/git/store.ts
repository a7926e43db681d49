import { join } from "node:path";
import { CatFile } from "../../git/cat-file.ts";
import { type SyncPath, syncPath } from "../../git/sync.ts";
import {
	type Commit,
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
import { ordinaryLimits, type StoreLimits } from "./limits.ts";
import type { MeasureGit } from "./measure.ts";
import { openParts } from "./open-parts.ts";
import type { Parts } from "./parts.ts";
import { writeProbe } from "./probe.ts";
import type { Push } from "./pushes.ts";
import { ChangeQueue } from "./queue.ts";
import { type Guard, openRepository } from "./repository.ts";
import { Reviews } from "./reviews.ts";
import type { Publish, Step } from "./served.ts";
import { Writer } from "./writer.ts";

export { startTask } from "./damage.ts";
export type { StoreLimits } from "./limits.ts";
export type { GitOperation, MeasureGit } from "./measure.ts";
export type { Push } from "./pushes.ts";
export type { Published, Step } from "./served.ts";

/** What a local store needs from outside. */
export interface GitStoreOptions {
	/** Path of the bare repository; made where there is none. Beside it, `requests` keeps what signatures were used. */
	repository: string;
	/** The clock. */
	now: () => Date;
	/**
	 * Makes a step readable; its changes are answered after it. Told of pushes too, in the order of the branch, and of
	 * the same step again where it fails.
	 */
	publish: Publish;
	/** Told of what went wrong where nobody waits for an answer. */
	report: (error: unknown) => void;
	/** Told, in a line for the log, what was mended. */
	tell?: (line: string) => void;
	/** Puts a file, or the names in a folder, on the disk; `fsync` without it. */
	sync?: SyncPath;
	limits?: Partial<StoreLimits>;
	/** Told how long git took for what others wait for. */
	measure?: MeasureGit;
	/** Puts the hook in place that judges what is pushed. */
	guard?: Guard | undefined;
	/** Told of what others have brought to the branch, once it is served. */
	pushed?: (push: Push) => void;
}

/** Name of the branch that is served. */
const branchName = "main";

/**
 * Layers in a bare git repository on this machine. One writes (store/git/queue.ts); others may push to the
 * repository at any time. A git process that hangs is ended and replaced.
 */
export class GitStore implements Store {
	readonly published = true;
	readonly #parts: Parts;
	readonly #writer: Writer;
	readonly #queue: ChangeQueue;
	readonly #reviews: Reviews;
	#timer: NodeJS.Timeout | null = null;
	#isLooking = false;
	/** Until when it does not look, by the monotonic clock: what fails now is not tried several times a second. */
	#restsUntilMs = Number.NEGATIVE_INFINITY;
	#probedMs = Number.NEGATIVE_INFINITY;
	#isClosed = false;

	private constructor(parts: Parts) {
		this.#parts = parts;
		this.#writer = new Writer({ ...parts, branch: branchName }, parts.served.tip);
		this.#queue = new ChangeQueue(parts, branchName, this.#writer);
		this.#reviews = new Reviews(parts);
		// A process that has a removed pack open keeps its room on the disk, and all of them in memory.
		parts.packs.whenGathered(() => {
			this.#writer.renew();
			parts.catFile.renew();
		});
	}

	/**
	 * Opens the repository, made and seeded on first use, after clearing what a killed writer left behind.
	 * @param seed the files of the first commit; asked only where the branch has no commit
	 * @throws {Error} where git is missing or too old, or the repository cannot be used
	 */
	static async open(options: GitStoreOptions, seed: () => Promise<Edit[]>): Promise<GitStore> {
		const { repository, sync = syncPath, measure = () => undefined } = options;
		const limits = { ...ordinaryLimits, ...options.limits };
		const { guard, tell = () => undefined } = options;
		await openRepository({ repository, branch: branchName, sync, lockMs: limits.lockMs, guard, tell });
		const reading = { silenceMs: limits.silenceMs, maxReads: limits.readerReads };
		const catFile = new CatFile(repository, reading);
		try {
			return new GitStore(await openParts({ ...options, sync, measure, limits, branchName, catFile }, seed));
		} catch (error) {
			catFile.kill();
			throw error;
		}
	}

	/** The commit that is served. */
	get tip(): string {
		return this.#parts.served.tip;
	}

	/**
	 * Why changes cannot be made now, or what the branch has is not served, in a few words; null where all is well.
	 */
	state(): string | null {
		return this.#parts.condition.reason ?? this.#parts.served.behind;
	}

	/** How many changes wait, or are under way. */
	get waiting(): number {
		return this.#queue.size;
	}

	/** How many commits of the branch are not served yet. @throws {Error} where git fails */
	commitsBehind(): Promise<number> {
		return this.#parts.served.commitsBehind();
	}

	/**
	 * The step from an earlier commit to the one that is served.
	 * @returns null where that commit is not in its history: the repository may be another one, or an older copy
	 */
	stepSince(commit: string): Promise<Step | null> {
		return this.#parts.served.stepSince(commit);
	}

	/** Goes back to an earlier commit on the branch: what came after it cannot be read yet, and is tried again. */
	goBackTo(commit: string): void {
		this.#parts.served.goBackTo(commit);
	}

	/** The step from nothing to the commit that is served. */
	firstStep(): Promise<Step> {
		return this.#parts.served.firstStep();
	}

	/** Starts to look for pushes, and after itself. */
	start(): void {
		this.#timer ??= setInterval(() => void this.#look(), this.#parts.limits.lookMs);
	}

	read(smallkey: string): Promise<Layer | null> {
		return this.#parts.served.readerAt(this.tip).read(smallkey);
	}

	ids(smallkey: string): Promise<LayerIds | null> {
		return this.#parts.served.readerAt(this.tip).ids(smallkey);
	}

	keys(folder: string): Promise<string[]> {
		return this.#parts.served.readerAt(this.tip).keys(folder);
	}

	async change(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		if (this.#isClosed) throw new StoreBusy("the service is about to end", 5);
		if (!meta.review) return this.#queue.add(edits, meta);
		return this.#parts.turns.run(() => this.#reviews.change(edits, meta));
	}

	/** Keeps a signed request that was refused before the store was asked: see `Store`. */
	async remember({ request, method, time, status }: UsedRequest): Promise<boolean> {
		const { requests, condition } = this.#parts;
		const isFirst = !requests.find(request) && !requests.isForgotten(time);
		try {
			requests.add(request, { method, timeMs: time, outcome: status });
			await requests.sync();
			return isFirst;
		} catch (error) {
			throw condition.failed(error);
		}
	}

	/** Finishes what waits, then ends git's processes: in any case, within `closeMs`. */
	async close(): Promise<void> {
		this.#isClosed = true;
		if (this.#timer) clearInterval(this.#timer);
		const { limits, catFile, requests, packs, condition } = this.#parts;
		const ended = await within(limits.closeMs, async () => {
			await this.#queue.drain();
			await this.#parts.turns.idle();
			await packs.idle();
			await this.#writer.close();
			await catFile.close();
		});
		if (!ended) {
			this.#queue.refuseAll(new StoreBusy("the service is about to end", 5));
			this.#writer.kill();
			catFile.kill();
		}
		await requests.close().catch(condition.report);
	}

	async #look(): Promise<void> {
		if (this.#isLooking || !this.#queue.isIdle || performance.now() < this.#restsUntilMs) return;
		this.#isLooking = true;
		const { turns, served, packs, condition, limits } = this.#parts;
		await turns
			.run(async () => {
				if (await served.follow()) await packs.count();
				await this.#writer.probe();
				if (condition.reason !== null) await this.#probe();
				if (packs.areMany) packs.gather();
			})
			.catch(async (error) => {
				condition.failed(error);
				this.#restsUntilMs = performance.now() + limits.probeMs;
				await this.#writer.close();
			});
		this.#isLooking = false;
	}

	/** Tries whether changes can be made again: room on the disk, and a writer that answers. */
	async #probe(): Promise<void> {
		const { limits, repository, condition, served } = this.#parts;
		if (performance.now() - this.#probedMs < limits.probeMs) return;
		this.#probedMs = performance.now();
		await writeProbe(join(repository, "probe"));
		await this.#writer.close();
		this.#writer.goOnFrom(served.tip);
		await this.#writer.ping();
		condition.recovered();
	}
}

/** Whether a task ended within a time, in milliseconds. */
async function within(ms: number, task: () => Promise<void>): Promise<boolean> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<boolean>((resolve) => {
		timer = setTimeout(() => resolve(false), ms);
	});
	const inTime = await Promise.race([task().then(() => true), late]);
	clearTimeout(timer);
	return inTime;
}
