import { access, constants, statfs } from "node:fs/promises";

/** Below this many free bytes a disk is reported as full. A checkpoint, its files and a repack still fit into them. */
const minFreeBytes = 64 << 20;
/** How often a disk is checked, in milliseconds. */
const checkEveryMs = 10_000;

/** Checks or measures a folder. @throws {Error} if that is not possible */
export type FolderCheck<T> = (folder: string) => Promise<T>;

const statFreeBytes: FolderCheck<number> = async (folder) => {
	const { bavail, bsize } = await statfs(folder);
	return bavail * bsize;
};

const checkAccess: FolderCheck<void> = (folder) => access(folder, constants.W_OK);

/**
 * Checks periodically whether a folder can be written and its disk has space. `/readyz` reads only the last result, so
 * that a hanging disk does not block it.
 */
export function createDisk(folder: string, freeBytes = statFreeBytes, checkWritable = checkAccess) {
	let problem: string | null = null;
	let timer: NodeJS.Timeout | undefined;

	async function check(): Promise<void> {
		try {
			await checkWritable(folder);
		} catch (error) {
			problem = `DATA_DIR cannot be written: ${codeOf(error)}`;
			return;
		}
		try {
			const free = await freeBytes(folder);
			const left = `${Math.floor(free / (1 << 20))} MB are left on the disk of DATA_DIR`;
			const min = `${minFreeBytes / (1 << 20)} MB`;
			problem = free < minFreeBytes ? `only ${left}, and ${min} should be` : null;
		} catch (error) {
			problem = `DATA_DIR cannot be checked: ${codeOf(error)}`;
		}
	}

	/** Checks now, and then every ten seconds. */
	async function start(): Promise<void> {
		timer = setInterval(() => void check(), checkEveryMs).unref();
		await check();
	}

	/** `state`: the problem in one line, or null. */
	return { check, start, state: () => problem, stop: () => clearInterval(timer) };
}

function codeOf(error: unknown): string {
	return (error as NodeJS.ErrnoException).code ?? "the disk fails";
}
