import { access, constants, statfs } from "node:fs/promises";

/** Bytes below which a disk counts as full: a checkpoint, its files and a repack still fit. */
const leastFreeBytes = 64 << 20;
/** How often a disk is looked at, in milliseconds. */
const lookEveryMs = 10_000;

/** The bytes that a folder's disk has left. @throws {Error} where the folder cannot be looked at */
export type FreeBytes = (folder: string) => Promise<number>;

async function statFreeBytes(folder: string): Promise<number> {
	const { bavail, bsize } = await statfs(folder);
	return bavail * bsize;
}

/** @throws {Error} where this process may not write to a folder, or its disk is read-only */
export type CheckWritable = (folder: string) => Promise<void>;

/** Whether a folder can be written and its disk has room, looked at from time to time: a disk that hangs holds up nobody. */
export class Disk {
	readonly #folder: string;
	readonly #freeBytes: FreeBytes;
	readonly #checkWritable: CheckWritable;
	#problem: string | null = null;
	#timer: NodeJS.Timeout | null = null;

	constructor(
		folder: string,
		freeBytes: FreeBytes = statFreeBytes,
		checkWritable: CheckWritable = (one) => access(one, constants.W_OK),
	) {
		this.#folder = folder;
		this.#freeBytes = freeBytes;
		this.#checkWritable = checkWritable;
	}

	/** Looks at it now, and then every ten seconds. */
	async start(): Promise<void> {
		this.#timer = setInterval(() => void this.look(), lookEveryMs).unref();
		await this.look();
	}

	/** Looks at it now. */
	async look(): Promise<void> {
		try {
			await this.#checkWritable(this.#folder);
		} catch (error) {
			this.#problem = `DATA_DIR cannot be written: ${codeOf(error)}`;
			return;
		}
		try {
			const free = await this.#freeBytes(this.#folder);
			const left = `${Math.floor(free / (1 << 20))} MB are left on the disk of DATA_DIR`;
			const least = `${leastFreeBytes / (1 << 20)} MB`;
			this.#problem = free < leastFreeBytes ? `only ${left}, and ${least} should be` : null;
		} catch (error) {
			this.#problem = `DATA_DIR cannot be looked at: ${codeOf(error)}`;
		}
	}

	/** Why there is no room, in one line; null where there is. */
	state(): string | null {
		return this.#problem;
	}

	stop(): void {
		if (this.#timer) clearInterval(this.#timer);
	}
}

function codeOf(error: unknown): string {
	return (error as NodeJS.ErrnoException).code ?? "the disk fails";
}
