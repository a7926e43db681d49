import { GitFailure } from "../../git/run.ts";

/**
 * What is said where a service cannot start with a repository, and the way out of it.
 * @param cause what git said of it
 */
export function damagedRepository(repository: string, cause: GitFailure): Error {
	const text = [
		`${repository}: cannot be read, and nothing was changed: "git -C ${repository} fsck" names what is damaged.`,
		`Put the repository back from a backup or a clone ("git clone --bare <clone> ${repository}")`,
	].join(" ");
	return new Error(text, { cause });
}

/** Does a task of a start. @throws {Error} that tells the way out where git cannot read the repository */
export async function startTask<T>(repository: string, task: () => Promise<T>): Promise<T> {
	try {
		return await task();
	} catch (error) {
		throw error instanceof GitFailure ? damagedRepository(repository, error) : error;
	}
}
