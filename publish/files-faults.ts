/** The layers whose rendered files could not be written: told once, until all is in step again. */
export class FilesFaults {
	/** Their smallkeys. */
	readonly smallkeys = new Set<string>();
	readonly #warn: (text: string) => void;
	#reason: string | null = null;

	/** @param warn told once when files cannot be written, and once when all are in step again */
	constructor(warn: (text: string) => void) {
		this.#warn = warn;
	}

	/** Why files cannot be written; null where they can. */
	get reason(): string | null {
		return this.#reason;
	}

	/** Notes layers whose files could not be written. */
	add(smallkeys: Iterable<string>, reason: string): void {
		for (const smallkey of smallkeys) this.smallkeys.add(smallkey);
		if (this.#reason === null) this.#warn(`the rendered files cannot be written: ${reason}`);
		this.#reason = reason;
	}

	/** Forgets layers whose files are written now, or are tried again. */
	remove(smallkeys: Iterable<string>): void {
		for (const smallkey of smallkeys) this.smallkeys.delete(smallkey);
	}

	/** Notes that all is in step. */
	end(): void {
		if (this.#reason !== null) this.#warn("the rendered files are in step again");
		this.#reason = null;
	}
}
