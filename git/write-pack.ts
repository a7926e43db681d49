import { randomBytes } from "node:crypto";
import { close, fsync, open, writeFile } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PackFiles } from "./pack.ts";
import type { SyncPath } from "./sync.ts";

// Not those of FileHandle, which cost half as much again.
const openFile = promisify(open);
const writeWhole = promisify(writeFile);
const syncFile = promisify(fsync);
const closeFile = promisify(close);

/** The disk did not write in its time. */
export class DiskTimeout extends Error {
	constructor(path: string, limitMs: number) {
		super(`${path}: was not on the disk within ${limitMs / 1000} s`);
		this.name = "DiskTimeout";
	}
}

/**
 * Puts a pack into a repository, and on the disk. Its objects are there once this has ended; nothing names them yet, and
 * after a power cut all of it is there, or nothing that git would see.
 * @param limitMs how long the disk may take, in milliseconds
 * @throws {DiskTimeout} where it takes longer
 */
export async function writePack(
	repository: string,
	files: PackFiles,
	sync: SyncPath,
	limitMs: number,
): Promise<void> {
	const folder = join(repository, "objects", "pack");
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new DiskTimeout(folder, limitMs)), limitMs);
	});
	try {
		await Promise.race([late, write(folder, files, sync)]);
	} finally {
		clearTimeout(timer);
	}
}

async function write(folder: string, { name, pack, index }: PackFiles, sync: SyncPath): Promise<void> {
	// Git removes what begins like this and is left by a killed process (git-gc(1)), and so does each start. An attempt that
	// was given up may still be at work: no two have one name.
	const attempt = randomBytes(6).toString("hex");
	const temporary = (kind: string) => join(folder, `tmp_${kind}_${attempt}`);
	const written = await Promise.allSettled([
		writeSynced(temporary("pack"), pack),
		writeSynced(temporary("idx"), index),
	]);
	const failed = written.find((one) => one.status === "rejected");
	if (failed) {
		for (const kind of ["pack", "idx"]) await rm(temporary(kind), { force: true });
		throw failed.reason;
	}
	// Git looks for the index, and takes its pack to be there.
	await rename(temporary("pack"), join(folder, `pack-${name}.pack`));
	await rename(temporary("idx"), join(folder, `pack-${name}.idx`));
	await sync(folder);
}

/** Writes a file that nobody may change afterwards, and syncs it. */
async function writeSynced(path: string, pieces: readonly Uint8Array[]): Promise<void> {
	const descriptor = await openFile(path, "wx", 0o444);
	try {
		// `write` may write less than all, and does so where the disk becomes full.
		await writeWhole(descriptor, Buffer.concat(pieces));
		await syncFile(descriptor);
	} finally {
		await closeFile(descriptor);
	}
}
