import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs a task with the path of a new folder. Only this user may read the folder; it is removed after the task. */
export async function withTemporaryFolder<T>(prefix: string, task: (path: string) => Promise<T>): Promise<T> {
	const path = await mkdtemp(join(tmpdir(), prefix));
	try {
		return await task(path);
	} finally {
		await rm(path, { recursive: true, force: true });
	}
}
