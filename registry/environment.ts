export type Environment = Readonly<Record<string, string | undefined>>;

/** The parts of the process that a command uses; tests replace them. */
export interface Io {
	print(text: string): void;
	warn(text: string): void;
	now(): Date;
	/** `hidden` does not echo the answer. Null without a terminal. */
	ask(question: string, hidden?: boolean): Promise<string | null>;
	/**
	 * Aborts at the first Ctrl-C, SIGTERM or SIGHUP (the terminal was closed). Without this call they end the
	 * process.
	 */
	interrupted(): AbortSignal;
}

/** Ends a command with its message and exit code 1. */
export class WrongError extends Error {}
