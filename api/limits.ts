/** Returns the seconds to wait; 0 allows the write. */
export type LimitWrites = (address: string) => number | Promise<number>;

/** Long enough for a catalogue that is registered at once. */
const windowMs = 300_000;

const maxAddresses = 100_000;

export function createWriteLimit(perMinute: number, now = () => performance.now()) {
	const maxWrites = (perMinute * windowMs) / 60_000;
	const counts = new Map<string, number>();
	let endMs = 0;
	return (address: string): number => {
		const nowMs = now();
		if (nowMs >= endMs || counts.size === maxAddresses) {
			counts.clear();
			endMs = nowMs + windowMs;
		}
		const count = counts.get(address) ?? 0;
		if (count === maxWrites) return Math.ceil((endMs - nowMs) / 1000);
		counts.set(address, count + 1);
		return 0;
	};
}

/** An address, and its site's network of 48 bits (RFC 6177). Empty: no limit. */
export type Client = readonly string[];

/** An address may hold an eighth of an empty room, a site a quarter. */
const shareDivisors = [8, 4];

/**
 * A client may hold a fixed fraction of what is free (dynamic thresholds, Choudhury and Hahne 1998): room is
 * left for a small body when dozens of addresses hold what they can.
 */
export class Room {
	#held = 0;
	readonly #byName = new Map<string, number>();

	constructor(readonly max: number) {}

	hold(client: Client) {
		let amountHeld = 0;
		const add = (amount: number) => {
			amountHeld += amount;
			this.#held += amount;
			for (const name of client) {
				const sum = (this.#byName.get(name) ?? 0) + amount;
				if (sum > 0) this.#byName.set(name, sum);
				else this.#byName.delete(name);
			}
		};
		/** @returns false if the room, or the client's share, is full */
		const take = (amount: number): boolean => {
			const free = this.max - this.#held - amount;
			const fits = (name: string, index: number) => {
				const held = (this.#byName.get(name) ?? 0) + amount;
				return held * ((shareDivisors[index] as number) - 1) <= free;
			};
			if (free < 0 || !client.every(fits)) return false;
			add(amount);
			return true;
		};
		return { take, end: () => add(-amountHeld) };
	}
}
