import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs a task with the path of a new folder, which only this user may read and which is removed after it. */
export async function withTemporaryFolder<T>(prefix: string, task: (path: string) => Promise<T>): Promise<T> {
	const path = await mkdtemp(join(tmpdir(), prefix));
	try {
		return await task(path);
	} finally {
		await rm(path, { recursive: true, force: true });
	}
}
