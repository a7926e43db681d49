/** Most pieces that wait; what comes beyond is done at once, so that nobody fills the memory. */
const maxWaiting = 5_000;

/**
 * Work that lets others go first: some pieces of it in each turn of the event loop, in their order. Between two turns
 * new connections are accepted and reads are answered, so that whoever floods waits behind those who read; where nobody
 * else is there, nobody waits.
 */
export class PacedQueue {
	readonly #perTurn: number;
	#waiting: (() => void)[] = [];

	/** @param perTurn pieces that are done in one turn, one at least */
	constructor(perTurn: number) {
		this.#perTurn = perTurn;
	}

	/** Does a piece of work in its turn; it never throws. */
	add(piece: () => void): void {
		if (this.#waiting.length >= maxWaiting) return piece();
		if (this.#waiting.push(piece) === 1) setImmediate(this.#takeTurn);
	}

	/** Resolves when it is a caller's turn. */
	turn(): Promise<void> {
		return new Promise((resolve) => this.add(resolve));
	}

	readonly #takeTurn = (): void => {
		const pieces = this.#waiting.splice(0, this.#perTurn);
		// What a piece adds has asked for a turn already where nothing else waits.
		if (this.#waiting.length > 0) setImmediate(this.#takeTurn);
		for (const piece of pieces) piece();
	};
}
