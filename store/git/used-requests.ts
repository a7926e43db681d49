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
	/** A commit that the branch has. */
	head: () => string;
	/** The requests that the commits behind one carry out; null: behind none, the newest commits. */
	readCommits: (since: string | null) => Promise<RequestUse[]>;
}

/** Milliseconds, and requests, after which another period begins. */
const periodMs = 60_000;
const periodRequests = 30_000;

/** The requests of a period. They are forgotten together, and the files that were written in it removed. */
interface Period {
	uses: Map<string, Use>;
	files: string[];
	/** A commit that the branch had when it began; null where that is not known. */
	head: string | null;
	begunMs: number;
	/** When the latest of its requests was signed. */
	latestMs: number;
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
 * `Request`. Times that are forgotten are kept, so that a clock that steps back makes no request usable again.
 */
export class UsedRequests {
	readonly #options: UsedRequestsOptions;
	/** Oldest first; the last one is the current one. */
	readonly #periods: Period[] = [];
	#forgotten: TimeRange[] = [];
	/** Files whose requests are forgotten; they are removed once another file says so. */
	readonly #over: string[] = [];
	#number = 0;
	#file: FileHandle | null = null;
	/** The period that the file is of. */
	#written: Period | null = null;
	#lines: string[] = [];
	#writing: Promise<unknown> = Promise.resolve();
	#next: Promise<Period> | null = null;

	private constructor(options: UsedRequestsOptions) {
		this.#options = options;
	}

	/** Opens the log of earlier processes, and reads the commits behind it. @throws {Error} where it cannot be read */
	static async open(options: UsedRequestsOptions): Promise<UsedRequests> {
		const requests = new UsedRequests(options);
		await requests.#load();
		requests.#begin();
		// On a full disk the service starts all the same; the next write tries again.
		await requests.#write([]).catch(() => undefined);
		return requests;
	}

	/** What became of a request; null where it was not used, or is forgotten. */
	find(request: string): Use | null {
		for (const { uses } of this.#periods) {
			const use = uses.get(request);
			if (use) return use;
		}
		return null;
	}

	/** Whether a request signed at a time may have been used, and is forgotten. */
	isForgotten(timeMs: number): boolean {
		const wholeMs = Math.floor(timeMs);
		return this.#forgotten.some(([from, to]) => from <= wholeMs && wholeMs <= to);
	}

	/** Notes requests whose commits are on a branch. */
	noteCommitted(uses: readonly RequestUse[]): void {
		const period = this.#note(uses);
		// The log does not have these; but each period has a file, so that older ones can go.
		if (period.files.length === 0) this.#write([]).catch(() => undefined);
	}

	/**
	 * Notes requests that changed nothing: they are on the disk when this answers. The first use of a request stays.
	 * @throws {Error} where they could not be written; they are not noted then
	 */
	async keep(uses: readonly RequestUse[]): Promise<void> {
		const first = uses.filter(([request]) => !this.find(request));
		if (first.length === 0) return;
		const period = await this.#write(
			first.map(
				([request, { method, outcome, timeMs }]) => `${request} ${method} ${outcome} ${Math.floor(timeMs)}`,
			),
		);
		this.#note(first, period);
	}

	/** Ends once everything is written. */
	async close(): Promise<void> {
		await this.#next?.catch(() => undefined);
		await this.#writing.catch(() => undefined);
		await this.#file?.close();
		this.#file = null;
	}

	async #load(): Promise<void> {
		const { folder, readCommits, now } = this.#options;
		await mkdir(folder, { recursive: true });
		const files = (await readdir(folder)).filter((name) => filePattern.test(name));
		files.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
		this.#number = Number.parseInt(files.at(-1) ?? "0", 10);
		const found = new Map<string, Use>();
		let head: string | null = null;
		for (const file of files) {
			// What follows the last line break was cut off.
			for (const line of ((await readTextIfThere(join(folder, file))) ?? "").split("\n").slice(0, -1)) {
				const [, request, method = "", outcome = "", time] = usePattern.exec(line) ?? [];
				const status = outcome.length === 3 ? Number(outcome) : outcome;
				if (request && !found.has(request))
					found.set(request, { method, outcome: status, timeMs: Number(time) });
				const [, from, to] = forgottenPattern.exec(line) ?? [];
				if (from) this.#forgotten.push([Number(from), Number(to)]);
				head = headPattern.exec(line)?.[1] ?? head;
			}
		}
		for (const [request, use] of await readCommits(head)) if (!found.has(request)) found.set(request, use);
		const isOver = ([, { timeMs }]: RequestUse) => timeMs + this.#options.windowMs <= now();
		const all = [...found];
		this.#periods.push({ ...emptyPeriod(head, now()), files });
		this.#note(all.filter((use) => !isOver(use)));
		this.#forgotten.push(...all.filter(isOver).map(([, { timeMs }]) => [timeMs, timeMs] as const));
		this.#forgotten = joinRanges(this.#forgotten);
	}

	#note(uses: readonly RequestUse[], period = this.#current()): Period {
		for (const [request, use] of uses) {
			if (this.find(request)) continue;
			const timeMs = Math.floor(use.timeMs);
			period.uses.set(request, { ...use, timeMs });
			period.latestMs = Math.max(period.latestMs, timeMs);
		}
		return period;
	}

	#current(): Period {
		const last = this.#periods.at(-1) as Period;
		const isOver =
			Math.abs(this.#options.now() - last.begunMs) > periodMs || last.uses.size >= periodRequests;
		return isOver ? this.#begin() : last;
	}

	#begin(): Period {
		const period = emptyPeriod(this.#options.head(), this.#options.now());
		this.#periods.push(period);
		return period;
	}

	/** Forgets the oldest periods whose requests no longer are timely. */
	#forget(): void {
		const { now, windowMs } = this.#options;
		for (let first = this.#periods[0]; first; first = this.#periods[0]) {
			if (this.#periods.length === 1 || first.latestMs + windowMs > now()) break;
			this.#periods.shift();
			this.#over.push(...first.files);
			const times = Array.from(first.uses.values(), ({ timeMs }) => timeMs);
			if (times.length > 0) this.#forgotten.push([times.reduce(least), first.latestMs]);
		}
		this.#forgotten = joinRanges(this.#forgotten);
	}

	/** Writes lines, and puts them on the disk. Calls that come together share one turn. @returns the period of the file */
	#write(lines: readonly string[]): Promise<Period> {
		this.#lines.push(...lines);
		this.#next ??= this.#writing
			.catch(() => undefined)
			.then(() => {
				this.#next = null;
				const writing = this.#writeNow(this.#lines.splice(0));
				this.#writing = writing;
				return writing;
			});
		return this.#next;
	}

	async #writeNow(lines: readonly string[]): Promise<Period> {
		const { folder, sync = syncPath } = this.#options;
		const period = this.#current();
		try {
			if (this.#file && this.#written === period) {
				await append(this.#file, lines);
				return period;
			}
			await this.#file?.close();
			this.#forget();
			this.#number += 1;
			const name = `${String(this.#number).padStart(6, "0")}.log`;
			this.#file = await open(join(folder, name), "wx", 0o600);
			this.#written = period;
			period.files.push(name);
			// All that is not forgotten is behind that commit.
			const head = this.#periods[0]?.head;
			const known = this.#forgotten.map(([from, to]) => `forgotten ${from} ${to}`);
			await append(this.#file, [...known, ...(head ? [`head ${head}`] : []), ...lines]);
			await sync(folder);
		} catch (error) {
			// Another file follows: a line that is cut off is the last one of its file.
			await this.#file?.close().catch(() => undefined);
			this.#file = null;
			throw error;
		}
		for (const name of this.#over.splice(0)) await rm(join(folder, name), { force: true });
		return period;
	}
}

function emptyPeriod(head: string | null, begunMs: number): Period {
	return { uses: new Map(), files: [], head, begunMs, latestMs: Number.NEGATIVE_INFINITY };
}

async function append(file: FileHandle, lines: readonly string[]): Promise<void> {
	await file.appendFile(lines.map((line) => `${line}\n`).join(""), "latin1");
	await file.datasync();
}

function least(a: number, b: number): number {
	return Math.min(a, b);
}

/** The fewest ranges, sorted, that cover all given ones; those nearest to each other become one where there are too many. */
export function joinRanges(ranges: readonly TimeRange[], most = 64): TimeRange[] {
	const apart: TimeRange[] = [];
	for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
		const last = apart.at(-1);
		if (last && from <= last[1] + 1) apart[apart.length - 1] = [last[0], Math.max(last[1], to)];
		else apart.push([from, to]);
	}
	const gapBefore = (index: number) => (apart[index] as TimeRange)[0] - (apart[index - 1] as TimeRange)[1];
	const gaps = apart.map((_, index) => index).slice(1);
	const widest = new Set(gaps.sort((a, b) => gapBefore(b) - gapBefore(a)).slice(0, most - 1));
	return apart.reduce<TimeRange[]>((joined, range, index) => {
		const last = joined.at(-1);
		if (last && !widest.has(index)) joined[joined.length - 1] = [last[0], range[1]];
		else joined.push(range);
		return joined;
	}, []);
}
