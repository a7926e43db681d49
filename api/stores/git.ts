import { dirname, join } from "node:path";
import { CatFile } from "../git/cat-file.ts";
import { commitOnce, FastImport, serviceName } from "../git/fast-import.ts";
import { runGit } from "../git/run.ts";
import { type SyncPath, syncPath } from "../git/sync.ts";
import { diffTree, listTree, type PathChange } from "../git/tree.ts";
import {
	batchBranch,
	type Commit,
	type Edit,
	type Edits,
	isRefusal,
	type Layer,
	type Meta,
	type Refusal,
	requestMemory,
	reviewBranch,
	type Store,
	StoreBusy,
	usedBefore,
} from "../store.ts";
import { Branch } from "./git/branch.ts";
import { type Decided, Decider, type Waiting } from "./git/decider.ts";
import { CommitFolders, CommitReader } from "./git/reader.ts";
import { clearLock, countPacks, openRepository } from "./git/repository.ts";
import { RequestMemory } from "./git/request-memory.ts";

/** What a local store needs from outside. */
export interface GitStoreOptions {
	/** Path of the bare repository; made where there is none. */
	repository: string;
	/** The clock. */
	now: () => Date;
	/**
	 * Makes a step readable; its changes are answered after it. Told of pushes too, in the order of the branch, and of
	 * the same step again where it fails.
	 */
	publish: (step: Step) => Promise<Published>;
	/** Told of what went wrong where nobody waits for an answer. */
	report: (error: unknown) => void;
	/** Puts a file, or the names in a folder, on the disk; `fsync` without it. */
	sync?: SyncPath;
}

/** From one commit that is served to the next. */
export interface Step {
	/** The commit that was served before; null: none, everything is new. */
	from: string | null;
	to: string;
	/** The paths under `layers/` that differ, sorted; null where there are more than a thousand. */
	changes: readonly PathChange[] | null;
	/** What is stored at `to`. */
	at: CommitReader;
}

/** A step that can be read. */
export interface Published {
	/** What its senders should know, once everything that is derived from it is in step, or is known not to be. */
	warnings: Promise<string[]>;
}

/** Paths up to which a step names each of them. */
const mostChanges = 1_000;
/** Name of the branch that is served. */
const branchName = "main";
/** Checkpoints in a row before others get their turn at the repository: reviews, pushes, a repack. */
const mostInARow = 50;
/** How often a change is built anew on a branch that others keep moving. */
const mostTries = 20;
/** How often the branch is looked at for pushes, in milliseconds. */
const lookEvery = 200;
/** Commits that are looked through for requests at the start: more than five minutes of them. */
const commitsRemembered = 20_000;
/** Packs that are left to gather, and the rest after the last write, in milliseconds, before a repack. */
const packsKept = 50;
const restBeforeRepack = 3_000;
/** Packs after which a repack no longer waits for rest: every object that is written is looked for in all of them. */
const packsAtMost = 200;

/**
 * Layers in a bare git repository on this machine. One `git fast-import` writes; the changes that wait while one
 * checkpoint runs share the next, one commit each. Others may push to the repository at any time.
 */
export class GitStore implements Store {
	readonly published = true;
	readonly #options: GitStoreOptions;
	readonly #catFile: CatFile;
	readonly #branch: Branch;
	readonly #requests = new RequestMemory(requestMemory);
	#tip: string;
	#writer: FastImport | null = null;
	#queue: Waiting[] = [];
	/** Decides what arrives now, while groups are written. */
	#decider: Decider | null = null;
	/** Called for each change that arrives. */
	#arrived: () => void = () => undefined;
	#pumping = false;
	/** The state of the last commit that landed, for what is served. */
	#landed: CommitReader;
	/** Groups that the branch has, and that are not answered yet. */
	readonly #answering = new Set<Promise<void>>();
	/** The end of what has the repository to itself now. */
	#turn: Promise<unknown> = Promise.resolve();
	#timer: NodeJS.Timeout | null = null;
	#packs = 0;
	#lastWrite = 0;

	private constructor(options: GitStoreOptions, tip: string) {
		this.#options = options;
		this.#catFile = new CatFile(options.repository);
		this.#branch = new Branch(options.repository, this.#catFile, branchName);
		this.#tip = tip;
		this.#landed = this.#readerAt(tip);
	}

	/**
	 * Opens the repository, made and seeded on first use, after clearing what a killed writer left behind.
	 * @param seed the files of the first commit; asked only where the branch has no commit
	 */
	static async open(options: GitStoreOptions, seed: () => Promise<Edit[]>): Promise<GitStore> {
		await openRepository(options.repository, branchName, options.sync);
		const catFile = new CatFile(options.repository);
		const head = await catFile.read(`refs/heads/${branchName}`);
		await catFile.close();
		const tip = head?.id ?? (await commitSeed(options, await seed()));
		const store = new GitStore(options, tip);
		if (!head) await store.#syncNames();
		store.#packs = await countPacks(options.repository);
		// By number, not by date: one commit with an old date would hide all before it.
		await store.#remember(["-n", String(commitsRemembered), "--branches"]);
		return store;
	}

	/** The commit that is served. */
	get tip(): string {
		return this.#tip;
	}

	/**
	 * The step from an earlier commit to the one that is served.
	 * @returns null where that commit is not in its history: the repository may be another one, or an older copy
	 */
	async stepSince(commit: string): Promise<Step | null> {
		if (!(await this.#branch.isAncestor(commit, this.#tip))) return null;
		return this.#stepBetween(commit, this.#tip);
	}

	/** The step from nothing to the commit that is served. */
	async firstStep(): Promise<Step> {
		const to = this.#tip;
		const changes = await listTree(this.#options.repository, to, "layers/", mostChanges);
		return { from: null, to, changes, at: this.#readerAt(to) };
	}

	async #stepBetween(from: string, to: string): Promise<Step> {
		const changes = await diffTree(this.#options.repository, from, to, "layers", mostChanges);
		return { from, to, changes, at: this.#readerAt(to) };
	}

	#readerAt(commit: string): CommitReader {
		return new CommitReader(new CommitFolders(this.#catFile, commit));
	}

	/** Starts to look for pushes. */
	start(): void {
		this.#timer = setInterval(() => this.#look(), lookEvery);
	}

	read(smallkey: string): Promise<Layer | null> {
		return this.#readerAt(this.#tip).read(smallkey);
	}

	keys(folder: string): Promise<string[]> {
		return this.#readerAt(this.#tip).keys(folder);
	}

	change(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		if (meta.review) return this.#alone(() => this.#changeForReview(edits, meta));
		return new Promise((resolve, reject) => {
			const waiting = { edits, meta, resolve, reject };
			this.#queue.push(waiting);
			this.#decider?.prefetch(waiting);
			this.#arrived();
			if (!this.#pumping) void this.#pump();
		});
	}

	/** Finishes what waits, then ends git's processes. */
	async close(): Promise<void> {
		if (this.#timer) clearInterval(this.#timer);
		while (this.#pumping) await this.#turn;
		await Promise.all(this.#answering);
		await this.#alone(async () => {
			await this.#closeWriter();
			await this.#catFile.close();
		});
	}

	/** Runs a task when nobody else works on the branch. */
	#alone<T>(task: () => Promise<T>): Promise<T> {
		const result = this.#turn.then(task);
		this.#turn = result.catch(() => undefined);
		return result;
	}

	async #pump(): Promise<void> {
		this.#pumping = true;
		while (this.#queue.length > 0) {
			await this.#alone(() => this.#writeQueue()).catch((error) => {
				this.#options.report(error);
				for (const waiting of this.#queue.splice(0)) waiting.reject(error);
			});
		}
		this.#pumping = false;
	}

	/** Writes what waits, group after group: what arrives while one checkpoint runs is decided and shares the next. */
	async #writeQueue(): Promise<void> {
		if (this.#packs >= packsAtMost) await this.#repack().catch(this.#options.report);
		await this.#follow();
		this.#decider = this.#newDecider();
		let group = await this.#decideAll(this.#decider, this.#queue.splice(0));
		for (let groups = 1; group.length > 0; groups += 1) {
			const landing = this.#commit(group);
			const next = await this.#decideWhile(landing, this.#decider, groups < mostInARow);
			const published = await landing;
			if (!published) {
				this.#decider = null;
				const again = [...group, ...next].map(({ waiting }) => waiting);
				return this.#changeAgain(again).catch((error) => {
					for (const { reject } of again) reject(error);
				});
			}
			this.#answer(group, published);
			group = next;
		}
		this.#decider = null;
	}

	#newDecider(): Decider {
		const folders = new CommitFolders(this.#catFile, this.#tip);
		this.#landed = new CommitReader(folders);
		return new Decider({
			folders,
			requests: this.#requests,
			now: () => this.#options.now().getTime(),
			write: (commit) => this.#write().commit(commit),
		});
	}

	async #decideAll(decider: Decider, batch: Waiting[]): Promise<Decided[]> {
		for (const waiting of batch) decider.prefetch(waiting);
		const decided: Decided[] = [];
		for (const waiting of batch) {
			const one = await decider.decide(waiting);
			if (one) decided.push(one);
		}
		return decided;
	}

	/** Decides what arrives until `landing` ends. */
	async #decideWhile(landing: Promise<unknown>, decider: Decider, open: boolean): Promise<Decided[]> {
		const decided: Decided[] = [];
		let landed = false;
		const end = landing.then(() => {
			landed = true;
		});
		while (!landed) {
			const waiting = open ? this.#queue.shift() : undefined;
			const one = waiting && (await decider.decide(waiting));
			if (one) decided.push(one);
			if (!waiting) await Promise.race([end, new Promise<void>((resolve) => (this.#arrived = resolve))]);
		}
		return decided;
	}

	/** Makes changes whose group did not reach the branch: built anew on what is there now. */
	async #changeAgain(batch: Waiting[]): Promise<void> {
		let waiting = batch;
		for (let tries = 0; tries < mostTries && waiting.length > 0; tries += 1) {
			const before = this.#tip;
			await this.#closeWriter();
			await this.#follow();
			// A pusher that was killed holds the branch for ever.
			if (this.#tip === before)
				await clearLock(join(this.#options.repository, "refs/heads", `${branchName}.lock`));
			// What reached the branch although the writer failed is not written a second time.
			const landed = await this.#remember([`${before}..${this.#tip}`]);
			if (landed.size > 0) await this.#syncNames();
			waiting = waiting.filter((one) => !this.#answerLanded(one, landed));
			const decided = await this.#decideAll(this.#newDecider(), waiting);
			const published = await this.#commit(decided);
			if (published) return this.#answer(decided, published);
		}
		for (const { reject } of waiting)
			reject(new StoreBusy("the branch cannot be moved, or others keep moving it", 2));
	}

	#answerLanded(waiting: Waiting, landed: Map<string, string>): boolean {
		const commit = waiting.meta.request ? landed.get(waiting.meta.request) : undefined;
		if (commit === undefined) return false;
		waiting.resolve({ commit, changed: true });
		return true;
	}

	#write(): FastImport {
		this.#writer ??= new FastImport(this.#options.repository, branchName, this.#tip);
		return this.#writer;
	}

	async #closeWriter(): Promise<void> {
		await this.#writer?.close();
		this.#writer = null;
	}

	/** Makes the decided commits durable and readable; null where the branch does not have them all. */
	async #commit(decided: Decided[]): Promise<Published | null> {
		const last = decided.findLast((one) => one.commit !== null);
		if (!last?.commit) return nothingPublished;
		try {
			await this.#write().checkpoint();
			const id = await last.commit;
			this.#packs += 1;
			this.#lastWrite = performance.now();
			// Others may have moved the branch first: the checkpoint says nothing of it.
			if (!(await this.#branch.has(id))) return null;
			await this.#syncNames();
			const edits = decided.flatMap((one) => one.edits);
			this.#landed.overlay(edits);
			return await this.#publish({
				from: this.#tip,
				to: id,
				changes: changesOf(edits),
				at: this.#landed,
			});
		} catch (error) {
			this.#options.report(error);
			return null;
		}
	}

	/** Puts the branch on the disk as it is now: its packs first, then the name that leads to them. */
	async #syncNames(...folders: string[]): Promise<void> {
		const { repository, sync = syncPath } = this.#options;
		for (const folder of ["objects/pack", ...folders, "refs/heads"]) await sync(join(repository, folder));
	}

	/** Answers a group that the branch has; the next one need not wait for that. */
	#answer(decided: Decided[], published: Published): void {
		const time = this.#options.now().getTime();
		const tip = this.#tip;
		for (const { waiting } of decided) {
			// A refused request is used, too: it must not take effect once the layers have changed.
			if (waiting.meta.request) this.#requests.add(waiting.meta.request, time, time);
		}
		const answering = published.warnings.then(async (warnings) => {
			for (const { waiting, refusal, commit } of decided) {
				if (refusal) waiting.resolve(refusal);
				else if (commit === null) waiting.resolve({ commit: tip, changed: false });
				else waiting.resolve({ commit: await commit, changed: true, warnings });
			}
		});
		this.#answering.add(answering);
		void answering.finally(() => this.#answering.delete(answering));
	}

	/** One commit on a branch of its own, for a reviewer to merge. */
	async #changeForReview(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		await this.#follow();
		const name = meta.smallkey === null ? batchBranch(meta.author) : reviewBranch(meta.smallkey);
		const own = await this.#reviewHead(name);
		const base = own ?? this.#tip;
		const outcome = await edits(this.#readerAt(base));
		if (isRefusal(outcome)) return outcome;
		if (outcome.length === 0) return { commit: base, changed: false, ...(own ? { branch: name } : {}) };
		const committed = this.#options.now().getTime();
		if (meta.request && this.#requests.has(meta.request, committed)) return usedBefore;
		const commit = await commitOnce(this.#options.repository, name, base, {
			edits: outcome,
			meta,
			committed,
		});
		const head = await this.#catFile.read(`refs/heads/${name}`);
		if (head?.id !== commit) throw new StoreBusy(`others changed the branch ${name}`, 2);
		await this.#syncNames(dirname(join("refs/heads", name)));
		if (meta.request) this.#requests.add(meta.request, committed, committed);
		this.#packs += 1;
		return { commit, changed: true, branch: name };
	}

	/** The commit that a review branch goes on from; null where there is none that still waits to be merged. */
	async #reviewHead(name: string): Promise<string | null> {
		const own = await this.#catFile.read(`refs/heads/${name}`);
		return own && !(await this.#branch.has(own.id)) ? own.id : null;
	}

	/** Takes over what others have pushed. */
	async #follow(): Promise<void> {
		const head = await this.#branch.head();
		if (head === this.#tip) return;
		const before = this.#tip;
		await this.#publish(await this.#stepBetween(before, head));
		await this.#remember([`${before}..${head}`]);
		// The writer builds on the commit it wrote last, which is no longer the branch's.
		await this.#closeWriter();
	}

	async #publish(step: Step): Promise<Published> {
		const published = await this.#options.publish(step);
		this.#tip = step.to;
		return published;
	}

	/** Keeps the requests that commits carry out; each with its commit. */
	async #remember(range: string[]): Promise<Map<string, string>> {
		const found = await this.#branch.requests(range);
		const now = this.#options.now().getTime();
		for (const { request, time } of found.reverse()) this.#requests.add(request, time, now);
		return new Map(found.map(({ request, commit }) => [request, commit]));
	}

	#look(): void {
		if (this.#pumping) return;
		void this.#alone(async () => {
			await this.#follow();
			await this.#repackAtRest();
		}).catch(this.#options.report);
	}

	async #repackAtRest(): Promise<void> {
		const rested = performance.now() - this.#lastWrite > restBeforeRepack;
		if (rested && this.#packs >= packsKept) await this.#repack();
	}

	/** Gathers the packs that checkpoints left, never under the writer. */
	async #repack(): Promise<void> {
		await this.#closeWriter();
		this.#packs = 0;
		await runGit(this.#options.repository, ["repack", "-q", "-d", "-l", "--geometric=2"]);
	}
}

const nothingPublished: Published = { warnings: Promise.resolve([]) };

/** The paths that edits change, each once, sorted. */
function changesOf(edits: readonly Edit[]): PathChange[] {
	const modes = new Map(edits.map(({ path, text }) => [path, text === null ? null : "100644"]));
	const sorted = [...modes].sort(([a], [b]) => (a < b ? -1 : 1));
	return sorted.map(([path, mode]) => ({ path, mode, id: null }));
}

/** The first commit of the branch. */
async function commitSeed(options: GitStoreOptions, edits: Edit[]): Promise<string> {
	const time = options.now().getTime();
	const subject = `seed ${edits.length} files`;
	const meta = {
		smallkey: null,
		author: serviceName,
		time,
		subject,
		trailers: [],
		request: null,
		review: false,
	};
	return commitOnce(options.repository, branchName, null, { edits, meta, committed: time });
}
