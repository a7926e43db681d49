import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Syncs a file, or the names in a folder, to the disk. */
export type Sync = (path: string) => Promise<void>;

export class DiskTimeout extends Error {
	override name = "DiskTimeout";
}

/** @returns throws DiskTimeout if the disk takes too long */
export function syncWithin(maxMs: number, sync: Sync): Sync {
	return async (path) => {
		const late = new AbortController();
		const limit = sleep(maxMs, undefined, late).then(() => {
			throw new DiskTimeout(`${path}: was not on the disk within ${maxMs / 1000} s`);
		});
		await Promise.race([sync(path), limit]).finally(() => {
			limit.catch(() => undefined);
			late.abort();
		});
	};
}

/** Errors of folders that cannot be synced by themselves: network file systems, Windows, a parent of another user. */
const unsupported = ["EACCES", "EINVAL", "EISDIR", "ENOTSUP", "EPERM"];

export async function syncPath(path: string): Promise<void> {
	try {
		await using file = await open(path, "r");
		await file.sync();
	} catch (error) {
		if (!unsupported.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
	}
}
