import { execFile } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../helpers/process.ts";

/** A state of this project, and the `DATA_DIR` that it left: with a tag, or the commit where there was none yet. */
export const release = { commit: "66b32971fc2e8ac83c709a8d09e85369fc824311", data: "data-dir-0.1.0.tar.gz" };

/**
 * Makes a folder a `DATA_DIR` as an earlier version left it, which knew neither used requests, nor hooks, nor a checksum
 * of what it kept: with the layers `one` and `two`, and `gone`, which was removed.
 */
export async function restoreEarlier(folder: string, data = "earlier-data-dir.tar.gz"): Promise<void> {
	for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
	const archive = join(root, "tests/fixtures", data);
	await promisify(execFile)("tar", ["-xzf", archive, "-C", folder]);
}
