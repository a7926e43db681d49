import type { FileHandle } from "node:fs/promises";
import * as promises from "node:fs/promises";
import { dirname } from "node:path";

/** The calls of a replacement; tests replace them by failing ones. */
export type FileCalls = Pick<typeof promises, "open" | "rename" | "rm">;

/**
 * Replaces a file atomically and durably: the text is written to a temporary file and synced before it is renamed. Only
 * the owner may read the file.
 * @throws {Error} where it cannot be written; the file is then unchanged
 */
export async function replaceFile(path: string, text: string, calls: FileCalls = promises): Promise<void> {
	const aside = `${path}.${process.pid}.tmp`;
	try {
		await writeAndClose(await calls.open(aside, "w", 0o600), async (file) => {
			// The file may be left over from a killed process, with other permissions.
			await file.chmod(0o600);
			await file.writeFile(text);
			await file.sync();
		});
		await calls.rename(aside, path);
	} catch (error) {
		await calls.rm(aside, { force: true });
		throw error;
	}
	// Syncing the folder makes the new name durable.
	await writeAndClose(await calls.open(dirname(path), "r"), (folder) => folder.sync());
}

async function writeAndClose(file: FileHandle, write: (file: FileHandle) => Promise<void>): Promise<void> {
	try {
		await write(file);
	} finally {
		await file.close();
	}
}
