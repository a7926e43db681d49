import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { CatFile } from "../../git/cat-file.ts";
import { runGit } from "../../git/run.ts";
import { measured, type StoreBase } from "./base.ts";
import type { Writer } from "./writer.ts";

/** Readers and publishers come before a repack. */
const niceness = 5;

/**
 * The packs of a repository: each group of commits and each push leaves one, and every object that is written is looked
 * for in all of them.
 */
export class Packs {
	readonly #base: StoreBase;
	readonly #writer: Writer;
	readonly #catFile: CatFile;
	#count = 0;
	#lastChangeMs = Number.NEGATIVE_INFINITY;
	#repacking: Promise<void> | null = null;

	/** @param writer has packs open, as `catFile` has: git leaves those alone, so it is ended before a repack */
	constructor(base: StoreBase, writer: Writer, catFile: CatFile) {
		this.#base = base;
		this.#writer = writer;
		this.#catFile = catFile;
	}

	/** Notes a pack of this process. */
	written(): void {
		this.#count += 1;
		this.#lastChangeMs = performance.now();
	}

	/** Counts the packs that are there. */
	async count(): Promise<void> {
		const names = await readdir(join(this.#base.repository, "objects", "pack"));
		this.#count = names.filter((name) => name.endsWith(".pack")).length;
	}

	/** Starts a repack in the background where there are many packs; no change may be under way. */
	async repackIfMany(): Promise<void> {
		const { limits, log } = this.#base;
		const { packsAtRest, packsAtMost, restMs } = limits;
		const isAtRest = performance.now() - this.#lastChangeMs > restMs;
		if (this.#repacking || this.#count < (isAtRest ? packsAtRest : packsAtMost)) return;
		this.#count = 0;
		await this.#writer.renew();
		this.#repacking = this.#repack()
			.catch((error) => log.error(error))
			.finally(() => {
				this.#repacking = null;
			});
	}

	/** Ends when no repack runs. */
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
		this.#writer.outdate();
		this.#catFile.renew();
		await this.count();
	}
}

/**
 * Removes half-written packs, and the marks that keep a pack out of a repack until its refs are written; no git may
 * write to the repository meanwhile.
 */
export async function clearPacks(repository: string): Promise<void> {
	const folder = join(repository, "objects", "pack");
	for (const name of await readdir(folder).catch(() => [])) {
		const path = join(folder, name);
		const isMark = name.endsWith(".keep") && (await readFile(path, "utf8")).startsWith("fast-import");
		if (isMark || name.startsWith("tmp_") || name.startsWith(".tmp-")) await rm(path, { force: true });
	}
}
