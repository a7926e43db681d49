import { access, constants, statfs } from "node:fs/promises";

/** Below this many free bytes a disk is reported as full: a checkpoint, its files and a repack still fit. */
const minFreeBytes = 64 << 20;
/** How often a disk is checked, in milliseconds. */
const lookEveryMs = 10_000;

/** Reads something of a folder. @throws {Error} where that is not possible */
export type Look<T> = (folder: string) => Promise<T>;

const statFreeBytes: Look<number> = async (folder) => {
	const { bavail, bsize } = await statfs(folder);
	return bavail * bsize;
};

const checkAccess: Look<void> = (folder) => access(folder, constants.W_OK);

/** Checks periodically whether a folder can be written and its disk has space, so that a hanging disk blocks nothing. */
export class Disk {
	readonly #folder: string;
	readonly #freeBytes: Look<number>;
	readonly #checkWritable: Look<void>;
	#problem: string | null = null;
	#timer: NodeJS.Timeout | undefined;

	constructor(folder: string, freeBytes = statFreeBytes, checkWritable = checkAccess) {
		this.#folder = folder;
		this.#freeBytes = freeBytes;
		this.#checkWritable = checkWritable;
	}

	/** Checks now, and then every ten seconds. */
	async start(): Promise<void> {
		this.#timer = setInterval(() => void this.look(), lookEveryMs).unref();
		await this.look();
	}

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
			const min = `${minFreeBytes / (1 << 20)} MB`;
			this.#problem = free < minFreeBytes ? `only ${left}, and ${min} should be` : null;
		} catch (error) {
			this.#problem = `DATA_DIR cannot be checked: ${codeOf(error)}`;
		}
	}

	/** The problem in one line, or null. */
	state(): string | null {
		return this.#problem;
	}

	stop(): void {
		clearInterval(this.#timer);
	}
}

function codeOf(error: unknown): string {
	return (error as NodeJS.ErrnoException).code ?? "the disk fails";
}
