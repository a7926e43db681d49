import type { Slabs } from "./slabs.ts";

/** Most answers that wait, and most bytes of them: what is put together early is still in the cache when it is written. */
const maxAnswers = 64;
const maxBytes = 192 * 1024;

/** Writes an answer out, and returns its body where the operating system has all of it; null where somebody reads it yet. */
type Write = () => Uint8Array | null;

/**
 * The answers to reads, which are written one right after the other at the end of a turn of the event loop. To write
 * wakes whoever waits at the other end: written each by itself, a proxy on this machine that asks for much is woken for
 * each answer, which costs more than to put ten fragments together, and sleeps again meanwhile. Who asks alone has an
 * answer as soon as it is there.
 */
export class Outgoing {
	readonly #slabs: Slabs;
	#waiting: Write[] = [];
	#bytes = 0;
	#hasTurn = false;

	/** @param slabs where bodies may come from: their room is given back there */
	constructor(slabs: Slabs) {
		this.#slabs = slabs;
	}

	/** Writes an answer before this turn ends. @param write never throws */
	add(bytes: number, write: Write): void {
		this.#waiting.push(write);
		this.#bytes += bytes;
		if (this.#waiting.length >= maxAnswers || this.#bytes >= maxBytes) return this.#writeAll();
		if (this.#hasTurn) return;
		this.#hasTurn = true;
		setImmediate(this.#endTurn);
	}

	readonly #endTurn = (): void => {
		this.#hasTurn = false;
		this.#writeAll();
	};

	#writeAll(): void {
		const waiting = this.#waiting;
		this.#waiting = [];
		this.#bytes = 0;
		const bodies = waiting.map((write) => write());
		// Room is given back in the other order than it was taken.
		for (const body of bodies.reverse()) if (body) this.#slabs.giveBack(body);
	}
}
