import { readdirSync } from "node:fs";
// Tests replace `open` and `rename` of the module.
import files, { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export async function withTemporaryFolder<T>(prefix: string, task: (path: string) => Promise<T>): Promise<T> {
	const path = await mkdtemp(join(tmpdir(), prefix));
	try {
		return await task(path);
	} finally {
		await rm(path, { recursive: true, force: true });
	}
}

/**
 * Files of root would lock out the folder's user.
 * @param command for that user to run instead
 * @returns why root may not write there, or null
 */
export async function findForeignRoot(folder: string, command: string, uid = process.getuid?.()) {
	const { uid: owner, gid } = await stat(folder);
	if (uid !== 0 || owner === 0) return null;
	return `DATA_DIR: ${folder} belongs to the user ${owner}, whom files of root would lock out: run this as that user: setpriv --reuid ${owner} --regid ${gid} --clear-groups ${command}`;
}

/** @returns null if the path does not exist @throws {Error} with the path and a cause */
export async function ifThere<T>(path: string, call: Promise<T>): Promise<T | null> {
	return call.catch((error) => nullIfMissing(path, error));
}

export function ifThereSync<T>(path: string, call: () => T): T | null {
	try {
		return call();
	} catch (error) {
		return nullIfMissing(path, error as NodeJS.ErrnoException);
	}
}

function nullIfMissing(path: string, error: NodeJS.ErrnoException): null {
	if (["ENOENT", "ENOTDIR"].includes(error.code ?? "")) return null;
	throw new Error(`${path}: cannot be read`, { cause: error });
}

export const readIfThere = (path: string) => ifThere(path, readFile(path));

export const readTextIfThere = (path: string) => ifThere(path, readFile(path, "utf8"));

/** Byte order marks, apart from UTF-8's (Encoding Standard, section 6). */
const marks = new Map([
	["fffe", "utf-16le"],
	["feff", "utf-16be"],
]);

/** Windows PowerShell redirects an output as UTF-16, with a byte order mark. */
export function utf8Of(bytes: Buffer): Buffer {
	const encoding = marks.get(bytes.toString("hex", 0, 2));
	return encoding === undefined ? bytes : Buffer.from(new TextDecoder(encoding).decode(bytes));
}

/** Unordered. Faster than Node's recursive `readdir`, which calls `stat` for each name. */
export function filesBelow(folder: string): string[] {
	return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
		if (!entry.isDirectory()) return [entry.name];
		return filesBelow(`${folder}/${entry.name}`).map((path) => `${entry.name}/${path}`);
	});
}

/** Atomic and durable. @param mode regardless of the umask @throws {Error} the old file stays */
export async function replaceFile(path: string, text: string, mode = 0o600): Promise<void> {
	// The rename would replace a device such as /dev/null.
	if ((await ifThere(path, stat(path)))?.isFile() === false) throw new Error(`${path}: must be a plain file`);
	const temporary = `${path}.${process.pid}.tmp`;
	try {
		await writeTemporary();
		await files.rename(temporary, path);
	} catch (error) {
		await rm(temporary, { force: true }).catch(() => undefined);
		if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
		const message = `${path}: there is no room on the disk, and the file stays as it was`;
		throw Object.assign(new Error(message, { cause: error }), { code: "ENOSPC" });
	}
	await using folder = await files.open(dirname(path), "r");
	await folder.sync();

	async function writeTemporary(): Promise<void> {
		await using file = await files.open(temporary, "w", mode);
		// A killed process may have left it with another mode.
		await file.chmod(mode);
		await file.writeFile(text);
		await file.sync();
	}
}
