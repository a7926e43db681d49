import { type FileHandle, mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readTextIfThere } from "../../files/if-there.ts";
import { type SyncPath, syncPath } from "../../git/sync.ts";

/** First and last moment, in milliseconds since 1970. */
type TimeRange = readonly [fromMs: number, toMs: number];

/** What became of a signed request. */
export interface Use {
	/** `PUT` or `DELETE`: the method is not signed. `""` where only its commit is known. */
	method: string;
	/** When it was signed, in milliseconds since 1970; kept without their fraction. */
	timeMs: number;
	/** The commit that its answer named, or the status of its refusal. */
	outcome: string | number;
}

/** A request and its use. */
export type RequestUse = readonly [request: string, use: Use];

/** What used requests need from outside. */
export interface UsedRequestsOptions {
	/** The folder of their log; made where there is none. */
	folder: string;
	/** How far a timestamp may be from the clock, in milliseconds. */
	windowMs: number;
	/** The clock: milliseconds since 1970. */
	now: () => number;
	sync?: SyncPath;
	/** The commit that is published, and the requests that the commits behind one carry out. */
	branch: { readonly commit: string; requestsSince(commit: string | null): Promise<RequestUse[]> };
}

/** Milliseconds after which another file of the log begins. */
const periodMs = 60_000;

/** A use that is remembered. */
interface Remembered {
	use: Use;
	/** A commit that the branch had before; null where that is not known. */
	head: string | null;
	/** Whether the log has it; of others the commits tell. */
	isLogged: boolean;
}

/** A request, what became of it, and when it was signed; earlier versions wrote one more field. */
const usePattern = /^([0-9a-f]{64}) (\S+) (\d{3}|[0-9a-f]{40,64}) (\d{13,})(?: \d+)?$/;
/** Requests signed from one time to another are forgotten. */
const forgottenPattern = /^forgotten (-?\d+) (-?\d+)$/;
/** The commit behind which commits tell of further requests. */
const headPattern = /^head ([0-9a-f]{40,64})$/;
const filePattern = /^\d{6,}\.log$/;

/**
 * The signed requests that were answered for good, until no clock can make them timely: a captured one must not take
 * effect later. The log on the disk has those that changed nothing; of the others the commits tell, in their trailer
 * `Request`. Times that are forgotten are kept, so that a clock that steps back makes no request usable again. The log is
 * one file: another one begins at each start and after a minute, with all that is remembered, and replaces it.
 */
export class UsedRequests {
	readonly #options: UsedRequestsOptions;
	/** The first that was used comes first. */
	readonly #uses = new Map<string, Remembered>();
	#forgotten: TimeRange[] = [];
	#file: FileHandle | null = null;
	/** Names of the files that the next one replaces; the last of them is the one that is written. */
	#names: string[] = [];
	#begunMs = Number.NEGATIVE_INFINITY;
	/** A commit that the branch had when the file began. */
	#head: string | null = null;
	/** What the next write puts on the disk, that write, and the end of the last one, well or not. */
	#unwritten: RequestUse[] = [];
	#next: Promise<void> | null = null;
	#written: Promise<void> = Promise.resolve();

	private constructor(options: UsedRequestsOptions) {
		this.#options = options;
	}

	/** Opens the log of earlier processes, and reads the commits behind it. @throws {Error} where it cannot be read */
	static async open(options: UsedRequestsOptions): Promise<UsedRequests> {
		const requests = new UsedRequests(options);
		await requests.#load();
		// On a full disk the service starts all the same; the next write tries again.
		await requests.#write([]).catch(() => undefined);
		return requests;
	}

	/** What became of a request; null where it was not used, or is forgotten. */
	find(request: string): Use | null {
		return this.#uses.get(request)?.use ?? null;
	}

	/** Whether a request signed at a time may have been used, and is forgotten. */
	isForgotten(timeMs: number): boolean {
		const wholeMs = Math.floor(timeMs);
		return this.#forgotten.some(([from, to]) => from <= wholeMs && wholeMs <= to);
	}

	/** Notes requests whose commits are on a branch. */
	noteCommitted(uses: readonly RequestUse[]): void {
		this.#note(uses, false);
		// The log does not have these; but what is too old is forgotten with another file.
		if (this.#isOver()) this.#write([]).catch(() => undefined);
	}

	/**
	 * Notes requests that changed nothing: they are on the disk when this answers. The first use of a request stays.
	 * @throws {Error} where they could not be written; they are not noted then
	 */
	async keep(uses: readonly RequestUse[]): Promise<void> {
		const first = uses.filter(([request]) => !this.#uses.has(request));
		if (first.length > 0) await this.#write(first);
	}

	/** Ends once everything is written. */
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
			// What follows the last line break was cut off.
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
			const whole = { ...use, timeMs: Math.floor(use.timeMs) };
			this.#uses.set(request, { use: whole, head: this.#head, isLogged });
		}
	}

	#isOver(): boolean {
		return Math.abs(this.#options.now() - this.#begunMs) > periodMs;
	}

	/** Forgets the requests that no longer are timely. */
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

	/** Puts uses on the disk, and notes them. Calls that come together share one write. */
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
			if (!this.#file || this.#isOver()) await this.#replaceFile(uses);
			else await append(this.#file, uses.map(lineOf));
		} catch (error) {
			// Another file follows: a line that is cut off is the last one of its file.
			await this.#file?.close().catch(() => undefined);
			this.#file = null;
			throw error;
		}
		this.#note(uses, true);
	}

	/** Begins another file, with all that is remembered and with further uses. */
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
		// The commits of all that is remembered are behind that one.
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

/** The fewest ranges, sorted, that cover all given ones; those nearest to each other become one where there are too many. */
export function joinRanges(ranges: readonly TimeRange[], most = 64): TimeRange[] {
	const apart: TimeRange[] = [];
	for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
		const last = apart.at(-1);
		if (last && from <= last[1] + 1) apart[apart.length - 1] = [last[0], Math.max(last[1], to)];
		else apart.push([from, to]);
	}
	while (apart.length > most) {
		const gaps = apart.slice(1).map(([from], at) => from - (apart[at] as TimeRange)[1]);
		const at = gaps.indexOf(Math.min(...gaps));
		const [[from], [, to]] = apart.slice(at, at + 2) as [TimeRange, TimeRange];
		apart.splice(at, 2, [from, to]);
	}
	return apart;
}
