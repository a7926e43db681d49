import { readRecords } from "../../git/run.ts";

/**
 * Limits of a push: bytes of one object, of a commit or tag, and of all objects, unpacked; and the number of objects. A
 * pack of kilobytes can contain gigabytes as deltas, and accepted objects slow down every later command of git.
 */
const maxBytes = 64 << 20;
const maxCommitBytes = 1 << 20;
const maxTotalBytes = 4 * 2 ** 30;
const maxObjects = 2_000_000;

/**
 * Checks the objects of a push against the limits. Git reads their sizes without unpacking them.
 * @param quarantine the folder with the pushed objects (git-receive-pack(1), "Quarantine environment")
 * @returns the reason to refuse the push, or null
 */
export async function findTooLarge(repository: string, quarantine: string): Promise<string | null> {
	const format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
	const args = ["cat-file", "--batch-all-objects", "--unordered", format];
	// Lists only the pushed objects, not those of the repository itself.
	const environment = { GIT_OBJECT_DIRECTORY: quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: "" };
	let objects = 0;
	let total = 0;
	for await (const lines of readRecords(repository, args, "\n", { environment })) {
		for (const line of lines) {
			const [id, type, size] = line.split(" ");
			const bytes = Number(size);
			const limit = type === "commit" || type === "tag" ? maxCommitBytes : maxBytes;
			if (!(bytes <= limit)) return `${type} ${id} must have at most ${limit} bytes, not ${bytes}`;
			total += bytes;
		}
		objects += lines.length;
		if (objects > maxObjects) return `a push may bring at most ${maxObjects} objects: push it in parts`;
		if (total > maxTotalBytes)
			return `a push may bring at most ${maxTotalBytes} bytes, unpacked: push it in parts`;
	}
	return null;
}
