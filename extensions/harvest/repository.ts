import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Environment } from "../../api/configuration.ts";
import { repositoryPath } from "../../api/service/data-dir.ts";
import { readConfiguration } from "../../api/service/settings.ts";
import { healthPath } from "../../registry/smallkey.ts";
import { runGit } from "../../store/git/commands/run.ts";

export const servedRef = "refs/heads/main";

/** The repository of `DATA_DIR`, else of this checkout. `name`: for messages. @throws {Error} without a branch main */
export async function findRepository(dataDir: string) {
	const local = repositoryPath(resolve(dataDir));
	const repository = existsSync(local)
		? { path: local, name: `the repository of DATA_DIR, ${local}` }
		: { path: resolve("."), name: "the repository of this checkout" };
	await runGit(repository.path, ["rev-parse", "--verify", "--quiet", "--end-of-options", servedRef]).catch(
		() => {
			throw new Error(`${repository.name}: is no git repository with a branch main`);
		},
	);
	return repository;
}

/** That of `findRepository`, with the configuration of the service. */
export async function openRepository(environment: Environment) {
	const settings = readConfiguration(environment);
	const { path: repository, name } = await findRepository(settings.dataDir);
	return { settings, repository, name };
}

export async function readHealth(repository: string, commit = servedRef): Promise<string | null> {
	return (await readAt(repository, commit, healthPath))?.toString("utf8") ?? null;
}

export async function readAt(repository: string, commit: string, path: string): Promise<Buffer | null> {
	const entry = await runGit(repository, ["ls-tree", commit, "--", path]);
	return entry.length === 0 ? null : runGit(repository, ["cat-file", "blob", `${commit}:${path}`]);
}
