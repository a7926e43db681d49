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
 * @param writer is ended before a repack, since git leaves the packs of a running fast-import out of a repack
 */
export function createPacks(base: StoreBase, writer: Writer, catFile: CatFile) {
	const { repository, limits, log } = base;
	let repacking: Promise<void> | null = null;
	let pausedUntilMs = Number.NEGATIVE_INFINITY;

	/** Starts a repack in the background if there are many packs. To be called only while no change is running. */
	async function repackIfMany(isIdle: boolean): Promise<void> {
		if (repacking || performance.now() < pausedUntilMs) return;
		const names = await readdir(join(repository, "objects", "pack"));
		const packs = names.filter((name) => name.endsWith(".pack")).length;
		if (packs < (isIdle ? limits.maxIdlePacks : limits.maxPacks)) return;
		await writer.renew();
		repacking = repack();
	}

	async function repack(): Promise<void> {
		const args = ["repack", "-q", "-d", "-l", "--geometric=2", "--threads=1"];
		const options = { limitMs: limits.repackMs, niceness };
		try {
			await measured(base, "repack", () => runGit(repository, args, options));
			writer.markOutdated();
			catFile.renew();
		} catch (error) {
			log.error(error);
			pausedUntilMs = performance.now() + limits.repackMs;
		}
		repacking = null;
	}

	/** Resolves when no repack is running. */
	const idle = async () => {
		await repacking;
	};

	return { repackIfMany, idle };
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
