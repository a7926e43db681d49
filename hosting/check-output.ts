import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isFolderLocked } from "../service/lock.ts";

/** Files that every output of a build has, and hardly any other folder. */
const marks = ["v0.9", "_headers"];

/**
 * Checks that a build may write to a folder.
 * @throws {Error} where a running service writes it, or where it has files that are not a build's
 */
export async function checkOutput(out: string): Promise<void> {
	if (await isFolderLocked(dirname(out))) {
		throw new Error(`--out: a service runs on ${dirname(out)}, and writes ${out} itself`);
	}
	const names = await readdir(out).catch((error: NodeJS.ErrnoException): string[] => {
		if (error.code === "ENOENT") return [];
		throw new Error(`--out: ${out} must be a folder`, { cause: error });
	});
	if (names.length === 0 || marks.some((name) => names.includes(name))) return;
	throw new Error(
		`--out: ${join(out, names[0] as string)} is from no build; name an empty folder, or the output of an earlier build`,
	);
}
