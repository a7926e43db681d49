import type { HarvestLine } from "./commit.ts";

/** The state of a layer's harvest. Times are in milliseconds since 1970. */
export type HarvestState =
	/** Queued or running. */
	| { state: "waiting" }
	/** `done`: at least one service answered. `failed`: none did, and the previous description is kept. */
	| { state: "done" | "failed"; at: number; findings: string[]; nextTry: number };

/** The end of one harvest. */
interface Ended {
	state: "done" | "failed";
	at: number;
	/** What the services report as wrong, each as `<JSON pointer>: <text>`. */
	findings: string[];
}

/** Most remembered results: those of the newest harvests. */
const maxRemembered = 20_000;

/** A map that forgets its oldest entries. */
export class Remembered<T> {
	readonly #entries = new Map<string, T>();

	get(name: string): T | undefined {
		return this.#entries.get(name);
	}

	set(name: string, value: T): void {
		// Deleted first, so that the map is ordered by age.
		this.#entries.delete(name);
		this.#entries.set(name, value);
		const [oldest] = this.#entries.keys();
		if (this.#entries.size > maxRemembered && oldest !== undefined) this.#entries.delete(oldest);
	}

	delete(name: string): void {
		this.#entries.delete(name);
	}
}

/** The states of all harvests since the start. */
export class HarvestStates {
	readonly #nextMoment: (smallkey: string) => number;
	readonly #waiting = new Set<string>();
	readonly #running = new Set<string>();
	readonly #ended = new Remembered<Ended & { nextTry: number | null }>();

	/** @param nextMoment when a layer is next due, in milliseconds since 1970 */
	constructor(nextMoment: (smallkey: string) => number) {
		this.#nextMoment = nextMoment;
	}

	/** The layer was queued. */
	wait(smallkey: string): void {
		this.#waiting.add(smallkey);
	}

	/** The harvest has begun. The layer may be queued again meanwhile. */
	begin(smallkey: string): void {
		this.#waiting.delete(smallkey);
		this.#running.add(smallkey);
	}

	/** The layer is gone, or no longer harvested. */
	forget(smallkey: string): void {
		this.#waiting.delete(smallkey);
		this.drop(smallkey);
	}

	/** The result was dropped, because the layer was changed or removed meanwhile. */
	drop(smallkey: string): void {
		this.#running.delete(smallkey);
		this.#ended.delete(smallkey);
	}

	/** A harvest has ended. @param nextTry time of the retry; null: when the layer is next due */
	end(smallkey: string, end: Ended, nextTry: number | null): void {
		this.#running.delete(smallkey);
		this.#ended.set(smallkey, { ...end, nextTry });
	}

	/** The state of a layer; null where it was not harvested since the start. */
	of(smallkey: string): HarvestState | null {
		if (this.#waiting.has(smallkey) || this.#running.has(smallkey)) return { state: "waiting" };
		const last = this.#ended.get(smallkey);
		return last ? { ...last, nextTry: last.nextTry ?? this.#nextMoment(smallkey) } : null;
	}
}

/** The summary of the harvests of a start, as a line of the log. */
export interface StartLine {
	harvested: number;
	changed: number;
	unchanged: number;
	dropped: number;
	failed: number;
	/** How many have findings. */
	findings: number;
	/** The command that prints their findings. */
	read: string;
}

/** The command that prints a layer's findings. */
const findingsCommand = "npx fragments check-services";

/** Most layers of one summary, so that a long start logs its progress. */
const maxLayers = 1_000;

/** Collects the results of the layers that a start harvests, so that they do not flood the log. */
export class StartSummary {
	readonly #log: (line: StartLine) => void;
	readonly #expected = new Set<string>();
	#isClosed = false;
	#line = emptyLine();

	constructor(log: (line: StartLine) => void) {
		this.#log = log;
	}

	/** Adds a layer of the start. */
	add(smallkey: string): void {
		this.#expected.add(smallkey);
	}

	/** Removes a layer, which was registered again or is gone. */
	remove(smallkey: string): void {
		if (this.#expected.delete(smallkey)) this.#logWhenFull();
	}

	/** Call after the last `add`. */
	close(): void {
		this.#isClosed = true;
		this.#logWhenFull();
	}

	/** Adds the result of a layer; false where the layer is not one of the start. */
	take({ harvest, outcome, findings }: HarvestLine): boolean {
		if (!this.#expected.delete(harvest)) return false;
		this.#line.harvested += 1;
		this.#line[outcome] += 1;
		if (findings) this.#line.findings += 1;
		this.#logWhenFull();
		return true;
	}

	#logWhenFull(): void {
		const { harvested } = this.#line;
		const isComplete = this.#isClosed && this.#expected.size === 0;
		if (harvested === 0 || (!isComplete && harvested < maxLayers)) return;
		this.#log(this.#line);
		this.#line = emptyLine();
	}
}

function emptyLine(): StartLine {
	return {
		harvested: 0,
		changed: 0,
		unchanged: 0,
		dropped: 0,
		failed: 0,
		findings: 0,
		read: findingsCommand,
	};
}
