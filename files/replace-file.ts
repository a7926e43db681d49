import type { FileHandle } from "node:fs/promises";
import * as promises from "node:fs/promises";
import { dirname } from "node:path";

/** The calls that a replacement makes; a test hands in some that fail. */
export type FileCalls = Pick<typeof promises, "open" | "rename" | "rm">;

/**
 * Replaces a file by a text, or leaves it as it was, whatever happens meanwhile: the text goes to a file beside it, and
 * to the disk, before it takes the name. Its owner alone may read it.
 * @throws {Error} where it cannot be written; then nothing has changed
 */
export async function replaceFile(path: string, text: string, calls: FileCalls = promises): Promise<void> {
	const aside = `${path}.${process.pid}.tmp`;
	try {
		await writeAndClose(await calls.open(aside, "w", 0o600), async (file) => {
			// The file may be that of a process which ended half-way, with other rights.
			await file.chmod(0o600);
			await file.writeFile(text);
			await file.sync();
		});
		await calls.rename(aside, path);
	} catch (error) {
		await calls.rm(aside, { force: true });
		throw error;
	}
	// The new name is on the disk only with its folder.
	await writeAndClose(await calls.open(dirname(path), "r"), (folder) => folder.sync());
}

async function writeAndClose(file: FileHandle, write: (file: FileHandle) => Promise<void>): Promise<void> {
	try {
		await write(file);
	} finally {
		await file.close();
	}
}
