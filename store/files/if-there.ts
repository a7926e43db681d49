import { readFile } from "node:fs/promises";

function isMissing(error: unknown): boolean {
	return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/**
 * The result of a file system call; null if the path does not exist.
 * @throws {Error} with the path, and the reason as cause, for any other failure, such as of the disk or of permissions
 */
export async function ifThere<T>(path: string, call: Promise<T>): Promise<T | null> {
	return call.catch((error: Error) => {
		if (isMissing(error)) return null;
		throw new Error(`${path}: cannot be read`, { cause: error });
	});
}

/** The same for a synchronous call; also null if a folder in the path is a file. */
export function ifThereSync<T>(path: string, call: () => T): T | null {
	try {
		return call();
	} catch (error) {
		if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return null;
		throw new Error(`${path}: cannot be read`, { cause: error });
	}
}

/** Reads the bytes of a file; null if it does not exist. @throws {Error} like `ifThere` */
export async function readIfThere(path: string): Promise<Buffer | null> {
	return ifThere(path, readFile(path));
}

/** Reads a file as UTF-8 text; null if it does not exist. @throws {Error} like `ifThere` */
export async function readTextIfThere(path: string): Promise<string | null> {
	return ifThere(path, readFile(path, "utf8"));
}
