import { PacedQueue } from "./paced-queue.ts";

/** Refusals that are sent in one turn of the event loop. */
const perTurn = 8;
/** Most refusals that are slowed at once; what comes beyond is not. */
const maxSlowed = 5_000;

/**
 * Sends refusals behind what others read. A client that does not wait when it is told to, or guesses signatures, sends
 * again as soon as it has its answer: it gets that later, and so it costs less.
 */
export class Refusals {
	readonly #queue = new PacedQueue(perTurn);
	readonly #delayMs: number;
	#slowed = 0;

	/** @param delayMs what a slowed one waits before its turn */
	constructor(delayMs: number) {
		this.#delayMs = delayMs;
	}

	/** Sends a refusal in its turn; `write` never throws. */
	send(write: () => void): void {
		this.#queue.add(write);
	}

	/** Sends one later; resolves then, so that nothing behind it on its connection is looked at before. */
	async sendSlowly(write: () => void): Promise<void> {
		if (this.#slowed < maxSlowed) await this.#delay();
		await this.#queue.turn();
		write();
	}

	#delay(): Promise<void> {
		this.#slowed += 1;
		return new Promise((resolve) => {
			const end = () => {
				this.#slowed -= 1;
				resolve();
			};
			// Its connection keeps the process going; where there is none any more, nobody waits.
			setTimeout(end, this.#delayMs).unref();
		});
	}
}
