import { type FileHandle, mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readTextIfThere } from "../../files/if-there.ts";
import { type SyncPath, syncPath } from "../../git/sync.ts";

/** First and last moment, in milliseconds since 1970. */
type TimeRange = readonly [fromMs: number, toMs: number];

/** The result of a signed request. */
export interface Use {
	/** `PUT` or `DELETE`, since the method is not signed; `""` if only its commit is known. */
	method: string;
	/** When it was signed, in milliseconds since 1970. A fraction is dropped. */
	timeMs: number;
	/** The commit in its answer, or the status of its refusal. */
	outcome: string | number;
}

/** A request and its use. */
export type RequestUse = readonly [request: string, use: Use];

/** The dependencies of `UsedRequests`. */
export interface UsedRequestsOptions {
	/** The folder of the log, which is made if it does not exist. */
	folder: string;
	/** How far a timestamp may be from the clock, in milliseconds. */
	windowMs: number;
	/** The clock: milliseconds since 1970. */
	now: () => number;
	sync?: SyncPath;
	/** The published commit, and the requests that commits after a given one carry out. */
	branch: { readonly commit: string; requestsSince(commit: string | null): Promise<RequestUse[]> };
}

/** A new file of the log begins after so many milliseconds. */
const periodMs = 60_000;

/** A use in memory. */
interface Remembered {
	use: Use;
	/** A commit that the branch had before the use; null if none is known. */
	head: string | null;
	/** Whether the log has the use; otherwise its commit has it. */
	isLogged: boolean;
}

/** `<request> <method> <outcome> <timeMs>`; earlier versions wrote one more field. */
const usePattern = /^([0-9a-f]{64}) (\S+) (\d{3}|[0-9a-f]{40,64}) (\d{13,})(?: \d+)?$/;
/** `forgotten <fromMs> <toMs>`: requests that were signed in this range are forgotten. */
const forgottenPattern = /^forgotten (-?\d+) (-?\d+)$/;
/** `head <commit>`: commits after this one carry out requests that the log does not have. */
const headPattern = /^head ([0-9a-f]{40,64})$/;
const filePattern = /^\d{6,}\.log$/;

/**
 * Remembers signed requests that have a final answer, so that an attacker cannot repeat one. A request is forgotten once
 * its timestamp is too old to be accepted. The ranges of forgotten times are kept: if the clock is set back, no request
 * becomes usable again. A log on the disk has the requests that changed nothing; the commits have all others, in their
 * trailer `Request`. The log is one file. At each start, and after a minute, a new file with the whole state replaces it.
 */
export class UsedRequests {
	readonly #options: UsedRequestsOptions;
	/** In the order of their first use. */
	readonly #uses = new Map<string, Remembered>();
	#forgotten: TimeRange[] = [];
	#file: FileHandle | null = null;
	/** Names of the files that the next file replaces; the last one is the current file. */
	#names: string[] = [];
	#begunMs = Number.NEGATIVE_INFINITY;
	/** The published commit when the file began. */
	#head: string | null = null;
	/** The uses for the next write; that write, if it waits; and the last write, which never rejects here. */
	#unwritten: RequestUse[] = [];
	#next: Promise<void> | null = null;
	#written: Promise<void> = Promise.resolve();

	private constructor(options: UsedRequestsOptions) {
		this.#options = options;
	}

	/** Opens the log of earlier processes, and reads the later commits. @throws {Error} if the log cannot be read */
	static async open(options: UsedRequestsOptions): Promise<UsedRequests> {
		const requests = new UsedRequests(options);
		await requests.#load();
		// The service also starts on a full disk; the next write retries.
		await requests.#write([]).catch(() => undefined);
		return requests;
	}

	/** The use of a request; null if it was not used, or is forgotten. */
	find(request: string): Use | null {
		return this.#uses.get(request)?.use ?? null;
	}

	/** Whether requests that were signed at this time are forgotten: they may have been used. */
	isForgotten(timeMs: number): boolean {
		const wholeMs = Math.floor(timeMs);
		return this.#forgotten.some(([from, to]) => from <= wholeMs && wholeMs <= to);
	}

	/** Remembers requests whose commits are on a branch. */
	noteCommitted(uses: readonly RequestUse[]): void {
		this.#note(uses, false);
		// The log does not need them, but a new file forgets old requests.
		if (this.#isFileOld()) this.#write([]).catch(() => undefined);
	}

	/**
	 * Remembers requests that changed nothing: they are on the disk when this resolves. The first use of a request stays.
	 * @throws {Error} if they cannot be written; they are not remembered then
	 */
	async keep(uses: readonly RequestUse[]): Promise<void> {
		const first = uses.filter(([request]) => !this.#uses.has(request));
		if (first.length > 0) await this.#write(first);
	}

	/** Waits for the last write, and closes the file. */
	async close(): Promise<void> {
		await this.#written;
		await this.#file?.close();
		this.#file = null;
	}

	async #load(): Promise<void> {
		const { folder, branch } = this.#options;
		await mkdir(folder, { recursive: true });
		this.#names = (await readdir(folder)).filter((name) => filePattern.test(name));
		this.#names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
		const logged: RequestUse[] = [];
		for (const file of this.#names) {
			// The text after the last line break is an incomplete line.
			for (const line of ((await readTextIfThere(join(folder, file))) ?? "").split("\n").slice(0, -1)) {
				const [, request, method = "", outcome = "", time] = usePattern.exec(line) ?? [];
				const status = outcome.length === 3 ? Number(outcome) : outcome;
				if (request) logged.push([request, { method, outcome: status, timeMs: Number(time) }]);
				const [, from, to] = forgottenPattern.exec(line) ?? [];
				if (from) this.#forgotten.push([Number(from), Number(to)]);
				this.#head = headPattern.exec(line)?.[1] ?? this.#head;
			}
		}
		this.#note(logged, true);
		this.#note(await branch.requestsSince(this.#head), false);
	}

	#note(uses: readonly RequestUse[], isLogged: boolean): void {
		for (const [request, use] of uses) {
			if (this.#uses.has(request)) continue;
			const rounded = { ...use, timeMs: Math.floor(use.timeMs) };
			this.#uses.set(request, { use: rounded, head: this.#head, isLogged });
		}
	}

	#isFileOld(): boolean {
		return Math.abs(this.#options.now() - this.#begunMs) > periodMs;
	}

	/** Forgets the requests whose timestamps are too old to be accepted. */
	#forget(): void {
		const { now, windowMs } = this.#options;
		const ranges: [number, number][] = [];
		for (const [request, { use }] of this.#uses) {
			const { timeMs } = use;
			if (timeMs + windowMs > now()) continue;
			this.#uses.delete(request);
			const last = ranges.at(-1);
			if (!last || Math.abs(timeMs - last[1]) > periodMs) ranges.push([timeMs, timeMs]);
			else ranges[ranges.length - 1] = [Math.min(last[0], timeMs), Math.max(last[1], timeMs)];
		}
		this.#forgotten = joinRanges([...this.#forgotten, ...ranges]);
	}

	/** Writes uses to the disk, and then remembers them. Calls during a write share the next one. */
	#write(uses: readonly RequestUse[]): Promise<void> {
		this.#unwritten.push(...uses);
		this.#next ??= this.#written.then(() => {
			this.#next = null;
			return this.#writeNow(this.#unwritten.splice(0));
		});
		this.#written = this.#next.catch(() => undefined);
		return this.#next;
	}

	async #writeNow(uses: readonly RequestUse[]): Promise<void> {
		try {
			if (!this.#file || this.#isFileOld()) await this.#replaceFile(uses);
			else await append(this.#file, uses.map(lineOf));
		} catch (error) {
			// The next write begins a new file, so that an incomplete line is always the last one of its file.
			await this.#file?.close().catch(() => undefined);
			this.#file = null;
			throw error;
		}
		this.#note(uses, true);
	}

	/** Replaces the file by a new one, with all remembered uses and with new ones. */
	async #replaceFile(uses: readonly RequestUse[]): Promise<void> {
		const { folder, sync = syncPath, now, branch } = this.#options;
		await this.#file?.close();
		this.#forget();
		this.#begunMs = now();
		this.#head = branch.commit;
		const old = this.#names;
		const name = `${String(Number.parseInt(old.at(-1) ?? "0", 10) + 1).padStart(6, "0")}.log`;
		this.#names = [...old, name];
		this.#file = await open(join(folder, name), "wx", 0o600);
		const [oldest] = this.#uses.values();
		// All commits of remembered requests are after this one.
		const since = oldest ? oldest.head : this.#head;
		const logged = [...this.#uses].filter(([, { isLogged }]) => isLogged);
		await append(this.#file, [
			...this.#forgotten.map(([from, to]) => `forgotten ${from} ${to}`),
			...(since === null ? [] : [`head ${since}`]),
			...logged.map(([request, { use }]) => lineOf([request, use])),
			...uses.map(lineOf),
		]);
		await sync(folder);
		for (const other of old) await rm(join(folder, other), { force: true });
		this.#names = [name];
	}
}

function lineOf([request, { method, outcome, timeMs }]: RequestUse): string {
	return `${request} ${method} ${outcome} ${Math.floor(timeMs)}`;
}

async function append(file: FileHandle, lines: readonly string[]): Promise<void> {
	await file.appendFile(lines.map((line) => `${line}\n`).join(""), "latin1");
	await file.datasync();
}

/** Joins ranges that overlap or touch, and sorts them. While there are more than `max`, it joins the two nearest ones. */
export function joinRanges(ranges: readonly TimeRange[], max = 64): TimeRange[] {
	const joined: TimeRange[] = [];
	for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
		const last = joined.at(-1);
		if (last && from <= last[1] + 1) joined[joined.length - 1] = [last[0], Math.max(last[1], to)];
		else joined.push([from, to]);
	}
	while (joined.length > max) {
		const gaps = joined.slice(1).map(([from], at) => from - (joined[at] as TimeRange)[1]);
		const at = gaps.indexOf(Math.min(...gaps));
		const [[from], [, to]] = joined.slice(at, at + 2) as [TimeRange, TimeRange];
		joined.splice(at, 2, [from, to]);
	}
	return joined;
}
