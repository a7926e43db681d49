import { open, rm } from "node:fs/promises";

/** Bytes that are written to see whether there is room on the disk. */
const probeBytes = 256 * 1024;

/** Writes a file to see whether there is room, and removes it. @throws {Error} where it cannot be put on the disk */
export async function writeProbe(path: string): Promise<void> {
	const file = await open(path, "w", 0o600);
	try {
		// `write` may write less than all, and does so where the disk becomes full.
		await file.writeFile(Buffer.alloc(probeBytes));
		await file.sync();
	} finally {
		await file.close();
		await rm(path, { force: true });
	}
}
