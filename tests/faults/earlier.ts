import { execFile } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../process.ts";

/**
 * Makes a folder a `DATA_DIR` as an earlier version left it, which knew neither used requests, nor hooks, nor a checksum
 * of what it kept: with the layers `one` and `two`, and `gone`, which was removed.
 */
export async function restoreEarlier(folder: string): Promise<void> {
	for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
	const archive = join(root, "tests/fixtures/earlier-data-dir.tar.gz");
	await promisify(execFile)("tar", ["-xzf", archive, "-C", folder]);
}
