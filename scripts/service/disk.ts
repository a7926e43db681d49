import { statfs } from "node:fs/promises";

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

/** Whether there is room on a folder's disk, looked at from time to time: a disk that hangs holds up nobody. */
export class Disk {
	readonly #folder: string;
	readonly #freeBytes: FreeBytes;
	#problem: string | null = null;
	#timer: NodeJS.Timeout | null = null;

	constructor(folder: string, freeBytes: FreeBytes = statFreeBytes) {
		this.#folder = folder;
		this.#freeBytes = freeBytes;
	}

	/** Looks at it now, and then every ten seconds. */
	async start(): Promise<void> {
		this.#timer = setInterval(() => void this.look(), lookEveryMs).unref();
		await this.look();
	}

	/** Looks at it now. */
	async look(): Promise<void> {
		try {
			const free = await this.#freeBytes(this.#folder);
			const left = `${Math.floor(free / (1 << 20))} MB are left on the disk of DATA_DIR`;
			const least = `${leastFreeBytes / (1 << 20)} MB`;
			this.#problem = free < leastFreeBytes ? `only ${left}, and ${least} should be` : null;
		} catch (error) {
			const { code } = error as NodeJS.ErrnoException;
			this.#problem = `DATA_DIR cannot be looked at: ${code ?? "the disk fails"}`;
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
