import { execFile } from "node:child_process";
import { copyFileSync } from "node:fs";
import { type FileHandle, mkdir, open, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "../helpers/world.ts";

const run = promisify(execFile);

const imageBytes = 64 << 20;

/** A small ext4 file system on a loop device, whose disk can be copied as a power cut would leave it. */
export class LoopDisk {
	#mounted: string[] = [];

	private constructor(
		readonly folder: string,
		readonly remove: () => Promise<void>,
	) {}

	get path(): string {
		return join(this.folder, "mounted");
	}

	static async mount(): Promise<LoopDisk | null> {
		const { path, remove } = await temporaryFolder();
		const disk = new LoopDisk(path, remove);
		try {
			await writeFile(join(path, "image"), "");
			await truncate(join(path, "image"), imageBytes);
			await run("mkfs.ext4", ["-q", "-F", join(path, "image")]);
			await disk.#mount("image", "mounted");
			return disk;
		} catch {
			await remove();
			return null;
		}
	}

	/** What the disk holds at this moment, mounted anew at another path: nothing that only memory has. */
	async cutPower(name: string): Promise<string> {
		copyFileSync(join(this.folder, "image"), join(this.folder, `${name}.image`));
		return this.#mount(`${name}.image`, name);
	}

	async unmount(path: string): Promise<void> {
		await run("umount", [path]);
		this.#mounted = this.#mounted.filter((mounted) => mounted !== path);
	}

	async end(): Promise<void> {
		// Lazily: after a failed test, processes may still be at work there.
		for (const path of this.#mounted) await run("umount", ["-l", path]);
		await this.remove();
	}

	async #mount(image: string, name: string): Promise<string> {
		const path = join(this.folder, name);
		await mkdir(path);
		await run("mount", ["-o", "loop", join(this.folder, image), path]);
		this.#mounted.push(path);
		return path;
	}
}

export class SmallDisk implements AsyncDisposable {
	private constructor(
		readonly path: string,
		readonly remove: () => Promise<void>,
	) {}

	static async mount(): Promise<SmallDisk | null> {
		const { path, remove } = await temporaryFolder();
		try {
			await run("mount", ["-t", "tmpfs", "-o", `size=${16 << 20},nr_inodes=8000`, "tmpfs", path]);
			return new SmallDisk(path, remove);
		} catch {
			await remove();
			return null;
		}
	}

	async fill(): Promise<void> {
		const filler = await open(join(this.path, "filler"), "a");
		try {
			for (const bytes of [1 << 20, 1 << 16, 1 << 12]) while (await appended(filler, bytes));
		} finally {
			await filler.close();
		}
	}

	async useInodes(): Promise<void> {
		const folder = join(this.path, "inodes");
		await mkdir(folder);
		for (let number = 0; await made(join(folder, String(number))); number += 1);
	}

	async free(): Promise<void> {
		for (const name of ["filler", "inodes"])
			await rm(join(this.path, name), { recursive: true, force: true });
	}

	async setReadOnly(isReadOnly: boolean): Promise<void> {
		await run("mount", ["-o", `remount,${isReadOnly ? "ro" : "rw"}`, this.path]);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await run("umount", ["-l", this.path]);
		await this.remove();
	}
}

async function appended(file: FileHandle, bytes: number): Promise<boolean> {
	return file.write(Buffer.alloc(bytes)).then(({ bytesWritten }) => bytesWritten === bytes, falseIfFull);
}

async function made(path: string): Promise<boolean> {
	return writeFile(path, "").then(() => true, falseIfFull);
}

function falseIfFull(error: NodeJS.ErrnoException): false {
	if (error.code === "ENOSPC") return false;
	throw error;
}
