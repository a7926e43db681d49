import { readdirSync } from "node:fs";
// open and rename by the module: tests replace them.
import files, { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Only this user may read the folder, which is removed after the task. */
export async function withTemporaryFolder<T>(prefix: string, task: (path: string) => Promise<T>): Promise<T> {
	const path = await mkdtemp(join(tmpdir(), prefix));
	try {
		return await task(path);
	} finally {
		await rm(path, { recursive: true, force: true });
	}
}

/**
 * Files of root would lock another user out of its data folder, or of a repository in it.
 * @param command which that user should run instead
 * @returns why root may not write there, or null
 */
export async function findForeignRoot(folder: string, command: string, uid = process.getuid?.()) {
	const { uid: owner } = await stat(folder);
	if (uid !== 0 || owner === 0) return null;
	return `DATA_DIR: ${folder} belongs to the user ${owner}, whom files of root would lock out: run this as that user: runuser -u $(id -nu ${owner}) -- ${command}`;
}

/** @returns null if the path does not exist @throws {Error} with the path, and any other failure as cause */
export async function ifThere<T>(path: string, call: Promise<T>): Promise<T | null> {
	return call.catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return null;
		throw new Error(`${path}: cannot be read`, { cause: error });
	});
}

export function ifThereSync<T>(path: string, call: () => T): T | null {
	try {
		return call();
	} catch (error) {
		if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
		throw new Error(`${path}: cannot be read`, { cause: error });
	}
}

export const readIfThere = (path: string) => ifThere(path, readFile(path));

export const readTextIfThere = (path: string) => ifThere(path, readFile(path, "utf8"));

/** The encodings that a byte order mark shows, apart from UTF-8 (Encoding Standard, section 6). */
const marks = new Map([
	["fffe", "utf-16le"],
	["feff", "utf-16be"],
]);

/** Windows PowerShell writes UTF-16, with a byte order mark, where it redirects an output. */
export function utf8Of(bytes: Buffer): Buffer {
	const encoding = marks.get(bytes.toString("hex", 0, 2));
	return encoding === undefined ? bytes : Buffer.from(new TextDecoder(encoding).decode(bytes));
}

/**
 * Relative paths with slashes, unordered. Faster than Node's recursive `readdir`, which calls `stat` for each name.
 * @throws {Error} if the folder does not exist
 */
export function filesBelow(folder: string): string[] {
	return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
		if (!entry.isDirectory()) return [entry.name];
		return filesBelow(`${folder}/${entry.name}`).map((path) => `${entry.name}/${path}`);
	});
}

/**
 * Replaces a file atomically and durably.
 * @param mode regardless of the umask
 * @throws {Error} if the file cannot be written; the old file stays
 */
export async function replaceFile(path: string, text: string, mode = 0o600): Promise<void> {
	const temporary = `${path}.${process.pid}.tmp`;
	try {
		await writeTemporary();
		await files.rename(temporary, path);
	} catch (error) {
		await rm(temporary, { force: true }).catch(() => undefined);
		if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
		const text = `${path}: there is no room on the disk, and the file stays as it was`;
		throw Object.assign(new Error(text, { cause: error }), { code: "ENOSPC" });
	}
	await using folder = await files.open(dirname(path), "r");
	await folder.sync();

	async function writeTemporary(): Promise<void> {
		await using file = await files.open(temporary, "w", mode);
		// An earlier process that was killed may have left the temporary file, with another mode.
		await file.chmod(mode);
		await file.writeFile(text);
		await file.sync();
	}
}
