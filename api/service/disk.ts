// access and statfs by the module: tests replace them.
import files, { constants } from "node:fs/promises";

/** A checkpoint, its files and a repack still fit. */
const minFreeBytes = 64 << 20;
const mebibyte = 1 << 20;
const checkEveryMs = 10_000;

/** `/readyz` reads only the last result, so that a hanging disk does not block it. */
export class Disk {
	#problem: string | null = null;
	#timer: NodeJS.Timeout | undefined;

	constructor(readonly folder: string) {}

	async start(): Promise<void> {
		this.#timer = setInterval(() => this.check(), checkEveryMs).unref();
		await this.check();
	}

	async check(): Promise<void> {
		this.#problem = await findProblem(this.folder);
	}

	/** In one line for `/readyz`; null if it can be written. */
	state(): string | null {
		return this.#problem;
	}

	stop(): void {
		clearInterval(this.#timer);
	}
}

async function findProblem(folder: string): Promise<string | null> {
	let verb = "written";
	try {
		await files.access(folder, constants.W_OK);
		verb = "checked";
		const { bavail, bsize } = await files.statfs(folder);
		const free = bavail * bsize;
		const room = `only ${Math.floor(free / mebibyte)} MB are left on the disk of DATA_DIR`;
		return free < minFreeBytes ? `${room}, and ${minFreeBytes / mebibyte} MB should be` : null;
	} catch (error) {
		return `DATA_DIR cannot be ${verb}: ${(error as NodeJS.ErrnoException).code ?? "the disk fails"}`;
	}
}
