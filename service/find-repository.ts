import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { runGit } from "../git/run.ts";
import { healthPath } from "../registry/health.ts";
import { repositoryPath } from "./open-store.ts";

/** The repository that a command works on. */
export interface FoundRepository {
	path: string;
	/** For messages: `the repository of DATA_DIR, /var/lib/fragments/repository.git`. */
	name: string;
}

/** The branch that is served. */
export const servedRef = "refs/heads/main";

/**
 * The repository that a command line names; otherwise the one in `DATA_DIR`, if it exists; otherwise this checkout's.
 * @throws {Error} if there is no repository with the branch main
 */
export async function findRepository(named: string | undefined, dataDir: string): Promise<FoundRepository> {
	const found = pick(named, dataDir);
	await runGit(found.path, ["rev-parse", "--verify", "--quiet", "--end-of-options", servedRef]).catch(() => {
		throw new Error(
			`${named === undefined ? "" : "--repo: "}${found.name}: is no git repository with a branch main`,
		);
	});
	return found;
}

function pick(named: string | undefined, dataDir: string): FoundRepository {
	if (named !== undefined) return { path: resolve(named), name: `the repository ${named}` };
	const own = repositoryPath(resolve(dataDir));
	if (existsSync(own)) return { path: own, name: `the repository of DATA_DIR, ${own}` };
	return { path: resolve("."), name: "the repository of this checkout" };
}

/** Reads `layers/health.json` at a commit; null if the commit has no such file. @throws {Error} if git fails */
export async function readHealth(repository: string, commit = servedRef): Promise<string | null> {
	const listed = await runGit(repository, ["ls-tree", commit, "--", healthPath]);
	if (listed.length === 0) return null;
	return (await runGit(repository, ["cat-file", "blob", `${commit}:${healthPath}`])).toString("utf8");
}
