import { open } from "node:fs/promises";

/** Syncs a file, or the names in a folder, to the disk. @param path of the file or folder */
export type SyncPath = (path: string) => Promise<void>;

/** Errors of folders that cannot be synced by themselves: network file systems, Windows, a parent of another user. */
const unsupported: ReadonlySet<string | undefined> = new Set([
	"EACCES",
	"EINVAL",
	"EISDIR",
	"ENOTSUP",
	"EPERM",
]);

/**
 * Syncs a file, or the names in a folder, to the disk. Git syncs the files that it writes, but not the folders in which
 * it renames them. After a power cut, such a file may be missing (fsync(2): it "does not necessarily ensure that the
 * entry in the directory containing the file has also reached disk").
 */
export const syncPath: SyncPath = async (path) => {
	try {
		const file = await open(path, "r");
		await file.sync().finally(() => file.close());
	} catch (error) {
		if (!unsupported.has((error as NodeJS.ErrnoException).code)) throw error;
	}
};

/** The disk did not finish a sync within the time limit. */
export class DiskTimeout extends Error {
	constructor(path: string, limitMs: number) {
		super(`${path}: was not on the disk within ${limitMs / 1000} s`);
		this.name = "DiskTimeout";
	}
}

/** Syncs a path. @throws {DiskTimeout} if that takes longer than `limitMs` milliseconds */
export async function syncWithin(limitMs: number, sync: SyncPath, path: string): Promise<void> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new DiskTimeout(path, limitMs)), limitMs);
	});
	await Promise.race([sync(path), late]).finally(() => clearTimeout(timer));
}
