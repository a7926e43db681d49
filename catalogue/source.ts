import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { runGit } from "../git/run.ts";
import { readManifest, type Source } from "../publish/build.ts";
import { resolveCommit } from "../publish/collect.ts";
import type { CatalogueLayers } from "./read-layers.ts";

/**
 * The layers of a build, for the catalogue. For a folder in a checkout without uncommitted changes it gives the last
 * commit instead, so that the catalogue has a history.
 * @param out output of the build; its manifest names the commit of the fragments
 */
export async function catalogueSource(source: Source, out: string): Promise<CatalogueLayers> {
	if ("folder" in source) return (await committedFolder(source.folder).catch(() => null)) ?? source;
	// The branch may have newer commits than the fragments.
	const { repository, ref } = source;
	return { repository, commit: readManifest(out)?.commit ?? (await resolveCommit(repository, ref)) };
}

/** The commit of a folder `layers` in a repository; null for another folder, or with uncommitted changes. */
async function committedFolder(folder: string): Promise<{ repository: string; commit: string } | null> {
	const git = async (...args: string[]) => (await runGit(folder, args)).toString("utf8").trim();
	const repository = await git("rev-parse", "--show-toplevel");
	if (join(await realpath(repository), "layers") !== (await realpath(folder))) return null;
	if ((await git("status", "--porcelain", "--untracked-files=all", "--ignored", "--", ".")) !== "")
		return null;
	return { repository, commit: await git("rev-parse", "--verify", "HEAD^{commit}") };
}
