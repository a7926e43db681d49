import { readRecords } from "../../git/run.ts";

/**
 * Most bytes of one object, of a commit and of all that one push brings, unpacked, and most objects. A pack of kilobytes can hold
 * gigabytes, as deltas, and what is stored once costs every later look at the repository.
 */
const maxBytes = 64 << 20;
const maxCommitBytes = 1 << 20;
const maxTotalBytes = 4 * 2 ** 30;
const maxObjects = 2_000_000;

/**
 * What is too large among the objects of a push; null where nothing is. Git says how large each is without making any.
 * @param quarantine the folder in which git keeps what is pushed (git-receive-pack(1), "Quarantine environment")
 */
export async function findTooLarge(repository: string, quarantine: string): Promise<string | null> {
	const format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
	const args = ["cat-file", "--batch-all-objects", "--unordered", format];
	// Those of the repository itself are not listed.
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
