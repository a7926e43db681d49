/** The log of a running service. */
export interface Log {
	/** Writes what happened, as one JSON line. */
	info(fields: object): void;
	/** Writes a warning: what is wrong, or what was repaired. */
	warn(text: string): void;
	/** Writes an error whose details no answer contains. */
	error(error: unknown): void;
}
