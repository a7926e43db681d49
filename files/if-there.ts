import { readFile } from "node:fs/promises";

/** Whether a call failed because there is nothing at its path. */
function isMissing(error: unknown): boolean {
	return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/**
 * What a call of the file system says of a path where something need not be: null where there is nothing.
 * @throws {Error} with the path, and the reason as cause, where the call fails otherwise: a fault of the disk or of
 * rights is no absent file
 */
export async function ifThere<T>(path: string, call: Promise<T>): Promise<T | null> {
	return call.catch((error: Error) => {
		if (isMissing(error)) return null;
		throw new Error(`${path}: cannot be read`, { cause: error });
	});
}

/** The same of a call that does not wait; nothing is at a path either whose folder is a file. */
export function ifThereSync<T>(path: string, call: () => T): T | null {
	try {
		return call();
	} catch (error) {
		if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return null;
		throw new Error(`${path}: cannot be read`, { cause: error });
	}
}

/** The bytes of a file, as `ifThere` says. */
export async function readIfThere(path: string): Promise<Buffer | null> {
	return ifThere(path, readFile(path));
}

/** The text of a file in UTF-8, as `ifThere` says. */
export async function readTextIfThere(path: string): Promise<string | null> {
	return ifThere(path, readFile(path, "utf8"));
}
