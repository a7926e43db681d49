import { execFile } from "node:child_process";
import { copyFileSync } from "node:fs";
import { mkdir, open, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Folder, temporaryFolder } from "../helpers/world.ts";

const run = promisify(execFile);

const imageBytes = 64 << 20;

/** @returns null if this machine may not mount a disk */
async function mounted<T>(mount: (folder: Folder) => Promise<T>): Promise<T | null> {
	const folder = await temporaryFolder();
	return mount(folder).catch(async () => {
		await folder.remove();
		return null;
	});
}

/** A small ext4 file system that can be copied as a power cut would leave it. */
export class LoopDisk implements AsyncDisposable {
	readonly #mounted: string[] = [];

	private constructor(
		readonly folder: string,
		readonly remove: () => Promise<void>,
	) {}

	get path() {
		return join(this.folder, "mounted");
	}

	static mount(): Promise<LoopDisk | null> {
		return mounted(async ({ path, remove }) => {
			const disk = new LoopDisk(path, remove);
			await writeFile(join(path, "image"), "");
			await truncate(join(path, "image"), imageBytes);
			await run("mkfs.ext4", ["-q", "-F", join(path, "image")]);
			await disk.#mount("image", "mounted");
			return disk;
		});
	}

	/** Mounts what the disk holds at this moment, and not memory, at another path. */
	async cutPower(name: string) {
		copyFileSync(join(this.folder, "image"), join(this.folder, `${name}.image`));
		return this.#mount(`${name}.image`, name);
	}

	async [Symbol.asyncDispose]() {
		// Lazily: after a failed test, processes may still be at work there.
		for (const path of this.#mounted) await run("umount", ["-l", path]);
		await this.remove();
	}

	async #mount(image: string, name: string) {
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

	static mount(): Promise<SmallDisk | null> {
		return mounted(async ({ path, remove }) => {
			await run("mount", ["-t", "tmpfs", "-o", `size=${16 << 20},nr_inodes=8000`, "tmpfs", path]);
			return new SmallDisk(path, remove);
		});
	}

	async fill() {
		const filler = await open(join(this.path, "filler"), "a");
		const append = (bytes: number) =>
			filler.write(Buffer.alloc(bytes)).then(({ bytesWritten }) => bytesWritten === bytes, falseIfFull);
		for (const bytes of [1 << 20, 1 << 16, 1 << 12]) while (await append(bytes));
		await filler.close();
	}

	async useInodes() {
		const folder = join(this.path, "inodes");
		await mkdir(folder);
		const make = (name: string) => writeFile(join(folder, name), "").then(() => true, falseIfFull);
		for (let number = 0; await make(String(number)); number += 1);
	}

	async free() {
		for (const name of ["filler", "inodes"])
			await rm(join(this.path, name), { recursive: true, force: true });
	}

	async setReadOnly(isReadOnly: boolean) {
		await run("mount", ["-o", `remount,${isReadOnly ? "ro" : "rw"}`, this.path]);
	}

	async [Symbol.asyncDispose]() {
		await run("umount", ["-l", this.path]);
		await this.remove();
	}
}

function falseIfFull(error: NodeJS.ErrnoException) {
	if (error.code === "ENOSPC") return false;
	throw error;
}
