import { readBlobs } from "../git/blobs.ts";
import { runGit } from "../git/run.ts";
import { judgeFile } from "../registry/judge.ts";
import type { Registration } from "../registry/registration.ts";
import { layerPath } from "../registry/smallkey.ts";

/** How many earlier contents of a wrong file are looked at for one that can be served. */
const mostEarlier = 50;

/** An earlier content of a file. */
export interface EarlierContent {
	id: string;
	bytes: Uint8Array;
}

/**
 * The last fifty contents of a file, newest first, up to where it was removed: what was removed stays removed.
 * @param commit full id; its own content comes first
 */
export async function* earlierContents(
	repository: string,
	commit: string,
	path: string,
): AsyncGenerator<EarlierContent> {
	const args = ["log", "-n", String(mostEarlier), "--format=", "--raw", "--no-abbrev", commit, "--", path];
	const output = (await runGit(repository, args)).toString("utf8");
	for (const line of output.split("\n").filter(Boolean)) {
		const [, mode = "", , id = "", status = ""] = line.split(/[ \t]/);
		if (status === "D") return;
		// A link's content is a path.
		if (!mode.startsWith("100")) continue;
		for await (const blobs of readBlobs(repository, [id])) {
			for (const bytes of blobs) yield { id, bytes };
		}
	}
}

/**
 * The newest earlier registration of a layer whose file is wrong at a commit; null where there is none in its last
 * fifty contents.
 * @param commit full id
 */
export async function findEarlier(
	repository: string,
	commit: string,
	smallkey: string,
): Promise<Registration | null> {
	const path = layerPath(smallkey);
	for await (const { bytes } of earlierContents(repository, commit, path)) {
		const { registration } = judgeFile({ path, kind: "file", bytes }, "stored");
		if (registration) return registration;
	}
	return null;
}
