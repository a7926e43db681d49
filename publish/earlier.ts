import { readBlobs } from "../git/blobs.ts";
import { runGit } from "../git/run.ts";
import { judgeFile } from "../registry/judge.ts";
import type { Registration } from "../registry/registration.ts";
import { layerPath, parseLayerPath } from "../registry/smallkey.ts";

/** How many earlier contents of a wrong file are looked at for one that can be served. */
const maxEarlier = 50;

/** A content of a file that is in order; the registration where it is that of a layer. */
export interface GoodContent {
	id: string;
	registration: Registration | null;
}

/**
 * The newest earlier content of a layer's file that is in order, of its last fifty up to where it was removed: what was
 * removed stays removed.
 * @param commit full id; its own content comes first
 * @returns null where there is none
 */
export async function findGoodContent(
	repository: string,
	commit: string,
	path: string,
): Promise<GoodContent | null> {
	if (!parseLayerPath(path)) return null;
	const args = ["log", "-n", String(maxEarlier), "--format=", "--raw", "--no-abbrev", commit, "--", path];
	const output = (await runGit(repository, args)).toString("utf8");
	for (const line of output.split("\n").filter(Boolean)) {
		const [, mode = "", , id = "", status = ""] = line.split(/[ \t]/);
		if (status === "D") return null;
		// A link's content is a path.
		if (!mode.startsWith("100")) continue;
		for await (const blobs of readBlobs(repository, [id])) {
			for (const bytes of blobs) {
				const { registration, problems } = judgeFile({ path, kind: "file", bytes }, "stored");
				if (problems.length === 0) return { id, registration };
			}
		}
	}
	return null;
}

/** The newest earlier registration of a layer whose file is wrong at a commit, or null. @param commit full id */
export async function findEarlier(
	repository: string,
	commit: string,
	smallkey: string,
): Promise<Registration | null> {
	return (await findGoodContent(repository, commit, layerPath(smallkey)))?.registration ?? null;
}
