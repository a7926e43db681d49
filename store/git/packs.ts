import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { CatFile } from "../../git/cat-file.ts";
import { runGit } from "../../git/run.ts";
import { measured, type StoreBase } from "./base.ts";
import type { Writer } from "./writer.ts";

/** A repack has a lower priority than answers to readers and publishers. */
const niceness = 5;

/**
 * Repacks a repository. Each group of commits and each push leaves a pack, and git looks for every object that it writes
 * in all packs.
 */
export class Packs {
	readonly #base: StoreBase;
	readonly #writer: Writer;
	readonly #catFile: CatFile;
	#count = 0;
	#lastChangeMs = Number.NEGATIVE_INFINITY;
	#repacking: Promise<void> | null = null;

	/** @param writer is ended before a repack, since git leaves the packs of a running fast-import out of a repack */
	constructor(base: StoreBase, writer: Writer, catFile: CatFile) {
		this.#base = base;
		this.#writer = writer;
		this.#catFile = catFile;
	}

	/** Records that this process has written a pack. */
	written(): void {
		this.#count += 1;
		this.#lastChangeMs = performance.now();
	}

	/** Counts the packs in the repository. */
	async count(): Promise<void> {
		const names = await readdir(join(this.#base.repository, "objects", "pack"));
		this.#count = names.filter((name) => name.endsWith(".pack")).length;
	}

	/** Starts a repack in the background if there are many packs. To be called only while no change is running. */
	async repackIfMany(): Promise<void> {
		const { limits, log } = this.#base;
		const { maxIdlePacks, maxPacks, restMs } = limits;
		const isIdle = performance.now() - this.#lastChangeMs > restMs;
		if (this.#repacking || this.#count < (isIdle ? maxIdlePacks : maxPacks)) return;
		this.#count = 0;
		await this.#writer.renew();
		this.#repacking = this.#repack()
			.catch((error) => log.error(error))
			.finally(() => {
				this.#repacking = null;
			});
	}

	/** Resolves when no repack is running. */
	async idle(): Promise<void> {
		await this.#repacking;
	}

	async #repack(): Promise<void> {
		const { repository, limits } = this.#base;
		await measured(this.#base, "repack", () =>
			runGit(repository, ["repack", "-q", "-d", "-l", "--geometric=2", "--threads=1"], {
				limitMs: limits.repackMs,
				niceness,
			}),
		);
		this.#writer.markOutdated();
		this.#catFile.renew();
		await this.count();
	}
}

/**
 * Removes incomplete packs, and the `.keep` files that exclude a pack of fast-import from repacks until its refs are
 * written. No git process may write to the repository meanwhile.
 */
export async function clearPacks(repository: string): Promise<void> {
	const folder = join(repository, "objects", "pack");
	for (const name of await readdir(folder).catch(() => [])) {
		const path = join(folder, name);
		const isKeepFile = name.endsWith(".keep") && (await readFile(path, "utf8")).startsWith("fast-import");
		if (isKeepFile || name.startsWith("tmp_") || name.startsWith(".tmp-")) await rm(path, { force: true });
	}
}
