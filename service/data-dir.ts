import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes the data folder where it is not there.
 * @throws {Error} that names the setting and the way out, where there cannot be such a folder
 */
export async function makeDataDir(folder: string): Promise<void> {
	try {
		await makeFolder(folder);
	} catch (error) {
		throw new Error(`DATA_DIR: must be a folder that this user may write, and ${folder} is none`, {
			cause: error,
		});
	}
}

/** As `mkdir -p`. Not `recursive` of Node's: that never ends below /proc, where a folder is there and takes no other. */
async function makeFolder(folder: string): Promise<void> {
	const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return null;
		throw error;
	});
	if (found && !found.isDirectory()) throw new Error("it is a file");
	if (found) return;
	await makeFolder(dirname(folder));
	await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
		// Another process was faster.
		if (error.code !== "EEXIST") throw error;
	});
}
