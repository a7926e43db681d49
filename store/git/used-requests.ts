import { type SyncPath, syncPath } from "../../git/sync.ts";
import { Journal } from "./journal.ts";
import { Spans } from "./spans.ts";

/** What became of a signed request. */
export interface Use {
	/** `PUT` or `DELETE`: the method is not signed. */
	method: string;
	/** When it was signed, in milliseconds since 1970. */
	timeMs: number;
	/** The commit that its answer named, or the status of its refusal. */
	outcome: string | number;
}

/** A request whose change was under way when its process ended. */
export interface Intent {
	request: string;
	method: string;
	timeMs: number;
	/** A commit that the branch had before: if the change was made, it is behind that. */
	base: string;
}

/** What used requests need from outside. */
export interface UsedRequestsOptions {
	/** The folder that they are kept in; made where there is none. */
	folder: string;
	/** How far a timestamp may be from the clock, in milliseconds. */
	windowMs: number;
	/** The clock: milliseconds since 1970. */
	now: () => number;
	sync?: SyncPath;
}

/** Bytes, and milliseconds, after which another file goes on. */
const maxFileBytes = 4 << 20;
const maxFileMs = 60_000;

/** The requests of one file. */
interface Segment {
	file: string;
	uses: Map<string, Use>;
	/** The first and the last timestamp in it: once that is out of the window, all are. */
	earliestMs: number;
	latestMs: number;
	/** When it was begun; by the latest time that was seen. */
	begunMs: number;
}

/**
 * The signed requests that were answered for good, in memory and on the disk until no clock can make them timely
 * again: a captured one must not take effect later. Time is counted by the latest that was seen, and what is
 * forgotten stays forbidden: a clock that goes ahead and back again brings no request back.
 */
export class UsedRequests {
	readonly #options: UsedRequestsOptions;
	/** Oldest first; the last one is written to. */
	readonly #segments: Segment[] = [];
	/** Requests under way when an earlier process ended. */
	readonly #intents = new Map<string, Intent>();
	/** What was signed then may have been used, and is forgotten. */
	readonly #forgotten = new Spans();
	/** The latest time that was seen. */
	#nowMs = Number.NEGATIVE_INFINITY;
	#journal!: Journal;

	private constructor(options: UsedRequestsOptions) {
		this.#options = options;
	}

	/** Opens what an earlier process has kept. @throws {Error} where it cannot be read */
	static async open(options: UsedRequestsOptions): Promise<UsedRequests> {
		const requests = new UsedRequests(options);
		const { folder, sync = syncPath } = options;
		requests.#journal = await Journal.open(folder, sync, (file, lines) => requests.#load(file, lines));
		return requests;
	}

	/** Requests under way when an earlier process ended: whether they took effect, only the branch knows. */
	get intents(): Intent[] {
		return [...this.#intents.values()];
	}

	/** What became of a request; null where it was not used, or is forgotten. */
	find(request: string): Use | null {
		for (const { uses } of this.#segments) {
			const use = uses.get(request);
			if (use) return use;
		}
		return null;
	}

	/** Whether what was signed at a time is forgotten: such a request may have been used. */
	isForgotten(timeMs: number): boolean {
		this.#see(this.#options.now());
		return this.#forgotten.has(timeMs);
	}

	/** Notes that a change is about to be made: after a crash, it counts as used where the branch has it. */
	expect({ request, method, timeMs, base }: Intent): void {
		const now = this.#options.now();
		this.#see(now);
		widen(this.#current(), timeMs);
		this.#journal.append([`${request} ${method} ?${base} ${timeMs} ${now}`]);
	}

	/** Keeps what became of a request; the first use stays. It is on the disk after the next `sync`. */
	add(request: string, use: Use): void {
		if (this.find(request)) return;
		const now = this.#options.now();
		this.#see(now);
		this.#keep(this.#current(), request, use);
		this.#journal.append([`${request} ${use.method} ${use.outcome} ${use.timeMs} ${now}`]);
	}

	/** Puts everything that was noted on the disk. @throws {Error} where that fails; it is then noted with the next one */
	sync(): Promise<void> {
		return this.#journal.sync();
	}

	/** Puts everything on the disk, and ends. */
	close(): Promise<void> {
		return this.#journal.close();
	}

	/** The segment that is written; another one from time to time, so that old ones can go. */
	#current(): Segment {
		const last = this.#segments.at(-1);
		const isOpen = last?.file === this.#journal.file;
		const isFull = this.#journal.bytes > maxFileBytes || this.#nowMs - (last?.begunMs ?? 0) > maxFileMs;
		if (last && isOpen && !isFull) return last;
		if (isOpen) this.#journal.rotate();
		return this.#begin(this.#journal.file);
	}

	#begin(file: string): Segment {
		const none = { earliestMs: Number.POSITIVE_INFINITY, latestMs: Number.NEGATIVE_INFINITY };
		const segment = { file, uses: new Map(), begunMs: this.#nowMs, ...none };
		this.#segments.push(segment);
		return segment;
	}

	#keep(segment: Segment, request: string, use: Use): void {
		segment.uses.set(request, use);
		widen(segment, use.timeMs);
	}

	/** Takes note of a time, and forgets what is out of the window for good. */
	#see(now: number): void {
		this.#nowMs = Math.max(this.#nowMs, now);
		for (let first = this.#segments[0]; first && this.#isOver(first); first = this.#segments[0]) {
			this.#segments.shift();
			this.#forget(first);
		}
	}

	#forget({ file, earliestMs, latestMs }: Segment): void {
		if (earliestMs <= latestMs) this.#forgotten.add([earliestMs, latestMs]);
		this.#journal.append(this.#forgotten.all.map(([from, to]) => `forgotten ${from} ${to}`));
		// Once that is on the disk the file is not missed; one that stays is read again, and does no harm.
		void this.sync().then(
			() => this.#journal.remove(file),
			() => undefined,
		);
	}

	#isOver({ file, latestMs }: Segment): boolean {
		return file !== this.#journal.file && latestMs + this.#options.windowMs <= this.#nowMs;
	}

	#load(file: string, lines: readonly string[]): void {
		const segment = this.#begin(file);
		for (const line of lines) {
			const [request = "", method = "", outcome = "", time = "", seen = ""] = line.split(" ");
			if (request === "forgotten") this.#forgotten.add([Number(method), Number(outcome)]);
			// A line that was cut off has no whole number at its end.
			if (!/^[0-9a-f]{64}$/.test(request) || !/^\d{13,}$/.test(seen)) continue;
			const timeMs = Number(time);
			this.#nowMs = Math.max(this.#nowMs, Number(seen));
			if (outcome.startsWith("?")) {
				this.#intents.set(request, { request, method, timeMs, base: outcome.slice(1) });
				widen(segment, timeMs);
				continue;
			}
			this.#intents.delete(request);
			if (this.find(request)) continue;
			const status = /^\d{3}$/.test(outcome) ? Number(outcome) : outcome;
			this.#keep(segment, request, { method, timeMs, outcome: status });
		}
	}
}

function widen(segment: Segment, timeMs: number): void {
	segment.earliestMs = Math.min(segment.earliestMs, timeMs);
	segment.latestMs = Math.max(segment.latestMs, timeMs);
}
