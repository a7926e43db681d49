import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Environment } from "../../api/configuration.ts";
import { repositoryPath } from "../../api/service/data-dir.ts";
import { readConfiguration } from "../../api/service/settings.ts";
import { healthPath } from "../../registry/smallkey.ts";
import { runGit } from "../../store/git/commands/run.ts";

export const servedRef = "refs/heads/main";

/**
 * Finds the service's repository in `dataDir`, else that of the current folder.
 * @returns `name`: for messages
 * @throws {Error} if it has no branch main
 */
export async function findRepository(dataDir: string): Promise<{ path: string; name: string }> {
	const local = repositoryPath(resolve(dataDir));
	const repository = existsSync(local)
		? { path: local, name: `the repository of DATA_DIR, ${local}` }
		: { path: resolve("."), name: "the repository of this checkout" };
	try {
		await runGit(repository.path, ["rev-parse", "--verify", "--quiet", "--end-of-options", servedRef]);
	} catch {
		throw new Error(`${repository.name}: is no git repository with a branch main`);
	}
	return repository;
}

/** Finds the repository of the settings. @throws {Error} as `findRepository`, and for a wrong setting */
export async function findRepositoryOf(environment: Environment) {
	const settings = readConfiguration(environment);
	const { path: repository, name } = await findRepository(settings.dataDir);
	return { settings, repository, name };
}

/** Null if no layer is sick. @throws {GitFailure} */
export async function readHealth(repository: string, commit = servedRef): Promise<string | null> {
	return (await readFileAt(repository, commit, healthPath))?.toString("utf8") ?? null;
}

/** Null if the commit has no such file. @throws {GitFailure} if there is no such commit */
export async function readFileAt(repository: string, commit: string, path: string): Promise<Buffer | null> {
	const entry = await runGit(repository, ["ls-tree", commit, "--", path]);
	return entry.length === 0 ? null : runGit(repository, ["cat-file", "blob", `${commit}:${path}`]);
}
