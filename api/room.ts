/** A part of a client's address, and how much of a room it may hold: one in `parts` while no other client holds anything. */
interface Share {
	name: string;
	parts: number;
}

/** The shares that limit a client; empty for one without a limit. The first one names the client itself. */
export type Client = readonly Share[];

/** What a client holds of a room. */
export interface Holding {
	/** @returns why there is no room for so much more: `client` holds its share, or `all` clients hold the rest; else null */
	take(amount: number): "client" | "all" | null;
	/** Gives all of it back. */
	end(): void;
}

/**
 * Room that clients share, such as bytes in memory. A client may hold a fixed fraction of what is free (dynamic thresholds,
 * Choudhury and Hahne 1998): one alone gets its share, and each further one leaves less to the next. Room for a small body
 * is left when dozens of addresses hold what they can.
 */
export class Room {
	#held = 0;
	readonly #byName = new Map<string, number>();

	constructor(readonly max: number) {}

	hold(client: Client): Holding {
		let own = 0;
		const add = (amount: number) => {
			own += amount;
			this.#held += amount;
			for (const { name } of client) {
				const sum = (this.#byName.get(name) ?? 0) + amount;
				if (sum > 0) this.#byName.set(name, sum);
				else this.#byName.delete(name);
			}
		};
		const take: Holding["take"] = (amount) => {
			const free = this.max - this.#held - amount;
			if (free < 0) return "all";
			const isFull = ({ name, parts }: Share) =>
				((this.#byName.get(name) ?? 0) + amount) * (parts - 1) > free;
			const full = client.find(isFull);
			if (full) return this.#byName.has(full.name) ? "client" : "all";
			add(amount);
			return null;
		};
		return { take, end: () => add(-own) };
	}
}
