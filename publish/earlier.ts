import { readBlobs } from "../git/blobs.ts";
import { runGit } from "../git/run.ts";
import { type CheckedLayer, type JudgedFile, judgeFile } from "../registry/judge.ts";
import { descriptionPath, layerPath } from "../registry/smallkey.ts";

/** Most commits of a layer's files among which valid contents are looked for. */
const maxCommits = 200;

/**
 * The last valid form of a layer whose file is wrong at a commit: of the registration and of the description their
 * newest valid content, up to where the file was removed, since what was removed stays removed.
 * @param commit full id
 * @returns null where the registration has no valid content
 */
export async function findEarlier(
	repository: string,
	commit: string,
	smallkey: string,
): Promise<CheckedLayer | null> {
	const paths = [layerPath(smallkey), descriptionPath(smallkey)];
	const words = [
		"log",
		"-n",
		String(maxCommits),
		"--format=",
		"--raw",
		"--no-abbrev",
		commit,
		"--",
		...paths,
	];
	const lines = (await runGit(repository, words)).toString("utf8").split("\n").filter(Boolean);
	const [registered, described] = await Promise.all(paths.map((path) => findValid(repository, lines, path)));
	const registration = registered?.registration ?? null;
	return registration && { smallkey, registration, description: described?.description ?? null };
}

/** The newest valid content of a file; null where there is none. @param lines of `git log --raw` */
async function findValid(
	repository: string,
	lines: readonly string[],
	path: string,
): Promise<JudgedFile | null> {
	for (const line of lines) {
		const [, mode = "", , id = "", status = "", name] = line.split(/[ \t]/);
		if (name !== path) continue;
		if (status === "D") return null;
		// A link's content is a path.
		if (!mode.startsWith("100")) continue;
		for await (const [bytes = Buffer.alloc(0)] of readBlobs(repository, [id])) {
			const judged = judgeFile({ path, kind: "file", bytes }, "stored");
			if (judged.problems.length === 0) return judged;
		}
	}
	return null;
}
