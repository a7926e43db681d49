import { readBlobs } from "../../api/git/blobs.ts";
import { runGit } from "../../api/git/run.ts";
import { checkRegistrationFile } from "../../registry/catalogue.ts";
import type { Registration } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";

/** How many earlier texts of a wrong file are looked at for one that can be served. */
const mostEarlier = 50;

/**
 * The newest earlier registration of a layer whose file is wrong at a commit; null where there is none in its last
 * fifty texts. What was removed in between stays removed.
 * @param commit full id
 */
export async function findEarlier(
	repository: string,
	commit: string,
	smallkey: string,
): Promise<Registration | null> {
	const path = layerPath(smallkey);
	const args = ["log", "-n", String(mostEarlier), "--format=", "--raw", "--no-abbrev", commit, "--", path];
	const output = (await runGit(repository, args)).toString("utf8");
	for (const line of output.split("\n").filter(Boolean)) {
		const [, , , id = "", status = ""] = line.split(/[ \t]/);
		if (status === "D") return null;
		for await (const blobs of readBlobs(repository, [id])) {
			for (const bytes of blobs) {
				const { registration } = checkRegistrationFile({ path, kind: "file", bytes }, "stored");
				if (registration) return registration;
			}
		}
	}
	return null;
}
