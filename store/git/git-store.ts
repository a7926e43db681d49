import pLimit from "p-limit";
import {
	type Commit,
	type Edit,
	type Edits,
	type Meta,
	type Refusal,
	StoreBusy,
	serviceAuthor,
	type UsedRequest,
} from "../store.ts";
import { findLastCommit, openBranch, type Publish, readHead } from "./branch.ts";
import { openCatFile } from "./commands/cat-file.ts";
import { openWriter, type PendingChange, type StoreContext } from "./groups.ts";
import { createHealth } from "./health.ts";
import { createMaintenance, type Guard, openRepository, startTask } from "./repository.ts";
import { openRequestLog } from "./used-requests.ts";
import {
	branchName,
	defaultLimits,
	openImport,
	type StoreBase,
	type StoreLimits,
	syncPath,
	syncWithin,
} from "./writer.ts";

export interface GitStoreOptions extends Pick<StoreBase, "repository" | "log"> {
	now: () => Date;
	/** Gets pushed commits, too, in the order of the branch, and after a failure the same range again. */
	publish: Publish;
	sync?: StoreBase["sync"];
	limits?: Partial<StoreLimits> | undefined;
	guard?: Guard | undefined;
}

export type GitStore = Awaited<ReturnType<typeof openGitStore>>;

/**
 * One queue takes all waiting changes as a group, judges each of them, and starts one `git fast-import`, which stores the group
 * as one pack with a commit for each change, and moves the branch; then it publishes and answers. A git process that hangs is
 * ended, and its changes are refused for now.
 * @param seed the files of the first commit
 * @throws {Error} if git is missing or too old, or the repository cannot be used
 */
export async function openGitStore(options: GitStoreOptions, seed: () => Promise<Edit[]>) {
	const { repository, log, guard } = options;
	const limits = { ...defaultLimits, ...options.limits };
	const now = () => options.now().getTime();
	const base: StoreBase = {
		repository,
		log,
		now,
		sync: syncWithin(limits.silenceMs, options.sync ?? syncPath),
		limits,
	};
	await startTask(repository, () => openRepository(base, guard));
	const catFile = openCatFile(repository, limits.silenceMs);
	try {
		const head = await startTask(repository, () => readHead(repository, catFile));
		const tip = head ?? (await commitSeed(base, await seed()));
		const requests = await openRequestLog(base);
		const branch = openBranch(base, catFile, tip, options.publish);
		const health = createHealth(repository, log, limits.failureMs);
		return storeOf({ ...base, catFile, branch, requests, health });
	} catch (error) {
		await catFile.close();
		throw error;
	}
}

async function commitSeed(base: StoreBase, edits: Edit[]): Promise<string> {
	const subject = `seed ${edits.length} files`;
	const meta = { smallkey: null, author: serviceAuthor, subject, trailers: [], request: null, review: false };
	const { importGroup, persist } = openImport(base);
	const [id = ""] = await importGroup(branchName, null, [{ edits, meta: { ...meta, time: base.now() } }]);
	await persist();
	return id;
}

function storeOf(context: StoreContext) {
	const { repository, limits, catFile, branch, requests, health } = context;
	const write = openWriter(context);
	const maintenance = createMaintenance(context, catFile.renew);
	let waiting: PendingChange[] = [];
	const open = new Set<Promise<unknown>>();
	const inOrder = pLimit(1);
	let isPolling = false;
	let timer: NodeJS.Timeout | undefined;
	let changedMs = Number.NEGATIVE_INFINITY;
	let isClosed = false;

	function start(): void {
		timer ??= setInterval(() => {
			if (!isPolling) void inOrder(poll);
			isPolling = true;
		}, limits.pollMs);
	}

	async function change(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		if (isClosed) throw new StoreBusy("busy", 5, "the service is shutting down");
		const outcome = new Promise<Commit | Refusal>((resolve, reject) => {
			waiting.push({ edits, meta, resolve, reject });
		});
		open.add(outcome);
		void inOrder(writeWaiting);
		return outcome.finally(() => open.delete(outcome));
	}

	async function remember(used: UsedRequest): Promise<boolean> {
		const isFirst = !requests.used.find(used.request);
		await requests.keep([used]).catch((error) => {
			throw health.failed(error);
		});
		return isFirst;
	}

	async function close(): Promise<void> {
		isClosed = true;
		clearInterval(timer);
		await inOrder(() => Promise.allSettled(open));
		await maintenance.close();
		await catFile.close();
		await requests.close();
	}

	async function poll(): Promise<void> {
		isPolling = false;
		try {
			await branch.follow();
			await maintenance.startIfDue(performance.now() - changedMs > limits.restMs);
		} catch (error) {
			health.failed(error);
			void catFile.renew();
		}
	}

	async function writeWaiting(): Promise<void> {
		if (waiting.length === 0) return;
		// Changes that arrive in the same iteration of the event loop share one group.
		await new Promise(setImmediate);
		const group = waiting;
		waiting = [];
		await write(group);
		changedMs = performance.now();
	}

	const served = () => branch.readerAt(branch.commit);
	return {
		published: true,
		branch,
		get tip() {
			return branch.commit;
		},
		get waiting() {
			return open.size;
		},
		/** Why changes cannot be made, or commits are not served, in a few words. */
		state: () => health.reason() ?? branch.behind,
		lastCommit: (smallkey: string) => findLastCommit(repository, smallkey, branch.commit),
		read: (smallkey: string) => served().read(smallkey),
		ids: (smallkey: string) => served().ids(smallkey),
		spellings: (smallkey: string) => served().spellings(smallkey),
		start,
		change,
		remember,
		close,
	};
}
