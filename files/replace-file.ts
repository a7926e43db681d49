import type { FileHandle } from "node:fs/promises";
import * as promises from "node:fs/promises";
import { dirname } from "node:path";
import { ifThere } from "./if-there.ts";

/** The calls that a replacement makes; a test hands in some that fail. */
export type FileCalls = Pick<typeof promises, "open" | "rename" | "rm" | "stat">;

/**
 * Replaces a file by a text, or leaves it as it was, whatever happens meanwhile: the text goes to a file beside it, and
 * to the disk, before it takes the name. The file keeps its owner and mode, unless everybody may read it; a new one belongs to the owner of its folder,
 * who alone may read it. So root can change the file of a service that runs as another user.
 * @throws {Error} where it cannot be written, or not for its owner; then nothing has changed
 */
export async function replaceFile(path: string, text: string, calls: FileCalls = promises): Promise<void> {
	const aside = `${path}.${process.pid}.tmp`;
	const kept = await ifThere(path, calls.stat(path));
	const { uid, gid } = kept ?? (await calls.stat(dirname(path)));
	try {
		await writeAndClose(await calls.open(aside, "w", 0o600), async (file) => {
			const made = await file.stat();
			// A new file may keep the group of this user; a file that is there may be read through its group.
			if (made.uid !== uid || (kept && made.gid !== gid)) await giveTo(file, uid, gid, path);
			// The file may be that of a process which ended half-way, with other rights.
			await file.chmod(kept && (kept.mode & 0o007) === 0 ? kept.mode & 0o770 : 0o600);
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

async function giveTo(file: FileHandle, uid: number, gid: number, path: string): Promise<void> {
	await file.chown(uid, gid).catch((error: NodeJS.ErrnoException) => {
		if (error.code !== "EPERM") throw error;
		throw new Error(`${path}: belongs to the user ${uid}, and only that user or root may change it`);
	});
}

async function writeAndClose(file: FileHandle, write: (file: FileHandle) => Promise<void>): Promise<void> {
	try {
		await write(file);
	} finally {
		await file.close();
	}
}
