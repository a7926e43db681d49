import pLimit from "p-limit";
import { servedBranch, serviceAuthor } from "../naming.ts";
import {
	type Commit,
	type Decide,
	type Edit,
	type Meta,
	type Refusal,
	StoreBusy,
	type UsedRequest,
} from "../store.ts";
import { defaultLimits, type StoreBase, type StoreLimits, type Sync } from "./base.ts";
import { Branch, type Publish, readHead } from "./branch.ts";
import { CatFile } from "./commands/cat-file.ts";
import { findLastCommit } from "./commands/commits.ts";
import { type PendingChange, type StoreContext, writeChanges } from "./groups.ts";
import { WriteHealth } from "./health.ts";
import { type Guard, Maintenance, openRepository, startTask } from "./repository.ts";
import { openRequestLog } from "./request-log.ts";
import { GroupWriter, syncPath, syncWithin } from "./writer.ts";

export interface GitStoreOptions extends Pick<StoreBase, "repository" | "log"> {
	now: () => Date;
	/** Gets pushed commits, too, in order, and after a failure the same range again. */
	publish: Publish;
	sync?: Sync;
	limits?: Partial<StoreLimits> | undefined;
	guard?: Guard | undefined;
}

/**
 * Waiting changes are judged as a group. One `git fast-import` stores a commit of each as one pack, and moves
 * the branch; then they are published and answered. A git that hangs is ended, and its changes are refused.
 * @param seed the files of the first commit
 * @throws {Error} if git is missing or too old, or the repository is unusable
 */
export async function openGitStore(options: GitStoreOptions, seed: () => Promise<Edit[]>) {
	const { repository, log, guard } = options;
	const limits = { ...defaultLimits, ...options.limits };
	const now = () => options.now().getTime();
	const sync = syncWithin(limits.silenceMs, options.sync ?? syncPath);
	const base: StoreBase = { repository, log, now, sync, limits };
	await startTask(repository, () => openRepository(base, guard));
	const catFile = new CatFile(repository, limits.silenceMs);
	try {
		const head = await startTask(repository, () => readHead(repository, catFile));
		const writer = new GroupWriter(base);
		const tip = head ?? (await commitSeed(writer, now(), await seed()));
		const requests = await openRequestLog(base);
		const branch = new Branch(base, catFile, tip, options.publish);
		return new GitStore({ ...base, writer, catFile, branch, requests, health: new WriteHealth(base) });
	} catch (error) {
		await catFile.close();
		throw error;
	}
}

async function commitSeed(writer: GroupWriter, time: number, edits: Edit[]): Promise<string> {
	const subject = `seed ${edits.length} files`;
	const meta = {
		smallkey: null,
		author: serviceAuthor,
		subject,
		time,
		request: null,
		review: false,
	};
	const [id = ""] = await writer.write(servedBranch, null, [{ edits, meta }]);
	await writer.persist();
	return id;
}

export class GitStore {
	readonly branch: Branch;
	readonly #maintenance: Maintenance;
	readonly #waiting: PendingChange[] = [];
	readonly #open = new Set<Promise<unknown>>();
	readonly #inOrder = pLimit(1);
	#isPolling = false;
	#timer: NodeJS.Timeout | undefined;
	/** Groups and pushes since the last look at the packs. */
	#newPacks = Number.POSITIVE_INFINITY;
	#isClosed = false;

	constructor(readonly context: StoreContext) {
		this.branch = context.branch;
		this.#maintenance = new Maintenance(context, context.catFile);
	}

	get tip() {
		return this.branch.commit;
	}

	get waiting() {
		return this.#open.size;
	}

	/** Why changes cannot be made, or commits are not served. */
	readonly state = () => this.context.health.reason ?? this.branch.behind;
	readonly lastCommit = (smallkey: string) => findLastCommit(this.context.repository, smallkey, this.tip);
	readonly served = async () => this.branch.readerAt(this.tip);

	start(): void {
		this.#timer ??= setInterval(() => {
			if (!this.#isPolling) void this.#inOrder(() => this.#poll());
			this.#isPolling = true;
		}, this.context.limits.pollMs);
	}

	async change(decide: Decide, meta: Meta): Promise<Commit | Refusal> {
		if (this.#isClosed) throw new StoreBusy("busy", 5, "the service is shutting down");
		const outcome = new Promise<Commit | Refusal>((resolve, reject) => {
			this.#waiting.push({ decide, meta, resolve, reject });
		});
		this.#open.add(outcome);
		void this.#inOrder(() => this.#writeWaiting());
		return outcome.finally(() => this.#open.delete(outcome));
	}

	async remember(used: UsedRequest): Promise<boolean> {
		const { requests, health } = this.context;
		const isFirst = !requests.used.find(used.request);
		await requests.keep([used]).catch((error) => {
			throw health.noteFailure(error);
		});
		return isFirst;
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		clearInterval(this.#timer);
		await this.#inOrder(() => Promise.allSettled(this.#open));
		await this.#maintenance.close();
		await this.context.catFile.close();
		await this.context.requests.close();
	}

	async #poll(): Promise<void> {
		const { limits, catFile, health } = this.context;
		this.#isPolling = false;
		try {
			const { tip } = this;
			await this.branch.follow();
			if (tip !== this.tip) this.#newPacks += 1;
			if (this.#newPacks < limits.maxPacks) return;
			this.#newPacks = 0;
			await this.#maintenance.start();
		} catch (error) {
			health.noteFailure(error);
			void catFile.renew();
		}
	}

	async #writeWaiting(): Promise<void> {
		if (this.#waiting.length === 0) return;
		// Changes of one iteration of the event loop share a group.
		await new Promise(setImmediate);
		await writeChanges(this.context, this.#waiting.splice(0));
		this.#newPacks += 1;
	}
}
