import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { runGit } from "../git/run.ts";
import type { Source } from "../publish/build.ts";
import { resolveCommit } from "../publish/collect.ts";
import { readManifest } from "../publish/manifest.ts";
import type { CatalogueLayers } from "./read-layers.ts";

/**
 * The layers of a build, for the catalogue. A folder of a checkout without changes is its last commit, so that the
 * catalogue has its history.
 * @param out output of the build, which says what the fragments there are of
 */
export async function catalogueSource(source: Source, out: string): Promise<CatalogueLayers> {
	if ("folder" in source) return (await committedFolder(source.folder).catch(() => null)) ?? source;
	// The branch may have moved on since the fragments were built.
	const { repository, ref } = source;
	return { repository, commit: readManifest(out)?.commit ?? (await resolveCommit(repository, ref)) };
}

/** The commit of a folder; null where it has none, or has uncommitted changes. */
async function committedFolder(folder: string): Promise<{ repository: string; commit: string } | null> {
	const git = async (...args: string[]) => (await runGit(folder, args)).toString("utf8").trim();
	const repository = await git("rev-parse", "--show-toplevel");
	if (join(await realpath(repository), "layers") !== (await realpath(folder))) return null;
	if ((await git("status", "--porcelain", "--untracked-files=all", "--ignored", "--", ".")) !== "")
		return null;
	return { repository, commit: await git("rev-parse", "--verify", "HEAD^{commit}") };
}
