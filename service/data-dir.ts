import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Creates the data folder if it does not exist.
 * @throws {Error} that names the setting, if the folder cannot be created
 */
export async function makeDataDir(folder: string): Promise<void> {
	try {
		await makeFolder(folder);
	} catch (error) {
		throw new Error(`DATA_DIR: must be a folder that this user may write, and ${folder} is not`, {
			cause: error,
		});
	}
}

/** Does the same as `mkdir -p`. Node's `recursive` never returns below /proc, where no folder can be created. */
async function makeFolder(folder: string): Promise<void> {
	const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return null;
		throw error;
	});
	if (found && !found.isDirectory()) throw new Error("it is a file");
	if (found) return;
	await makeFolder(dirname(folder));
	await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
		// Another process has created the folder meanwhile.
		if (error.code !== "EEXIST") throw error;
	});
}
