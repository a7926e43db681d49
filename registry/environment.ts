/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The parts of the process that a command uses. Tests replace them. */
export interface Io {
	/** Prints a line, or several, on standard output. */
	print(text: string): void;
	/** Prints a line, or several, on standard error. */
	warn(text: string): void;
	now(): Date;
	/** Asks the person at the terminal; `hidden` does not echo the answer. Null without a terminal. */
	ask(question: string, hidden?: boolean): Promise<string | null>;
	/** Returns a signal that aborts at the first Ctrl-C, SIGTERM or SIGHUP (the terminal was closed). Without this call they end the process. */
	interrupted(): AbortSignal;
}

/** An error that ends a command with its message and exit code 1: something is wrong, or refused. */
export class WrongError extends Error {}
