import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { branchName } from "./base.ts";
import { GitDamage, GitFailure, GitTimeout, runGit } from "./commands/run.ts";

/** The files without which git does not recognize a repository (gitrepository-layout(5)). None of them has layers. */
const files = ["HEAD", "config"] as const;

type Damaged = (typeof files)[number];

/** Which of these files is damaged or missing; null if neither is. */
async function findDamaged(repository: string): Promise<Damaged | null> {
	const head = await readFile(join(repository, "HEAD"), "utf8").catch(() => "");
	if (!/^(?:ref: refs\/\S+|[0-9a-f]{40,64})\s*$/.test(head)) return "HEAD";
	const words = ["config", "--file", join(repository, "config"), "--list"];
	const listed = await runGit(".", words).catch((error: unknown) => {
		// Without a code git itself is missing, or was ended.
		if (error instanceof GitFailure && error.code !== null) return Buffer.alloc(0);
		throw error;
	});
	// Git writes this setting into each repository that it makes.
	return /^core\.repositoryformatversion=/m.test(listed.toString("utf8")) ? null : "config";
}

/** What is damaged, and the command that repairs it. */
function damageAdvice(repository: string, damaged: Damaged): string {
	const path = join(repository, damaged);
	const way =
		damaged === "HEAD"
			? `"echo 'ref: refs/heads/${branchName}' > ${path}" writes it again`
			: `end the service, "mv ${path} ${path}.damaged", and start it: it writes its settings again`;
	return `${path}: is damaged. No layer is lost: ${way}`;
}

/** A file is damaged without which git recognizes no repository. */
export class FileDamaged extends GitDamage {
	override name = "FileDamaged";
}

/** Why git failed: the damage of such a file with the command that repairs it, or the same error. */
export async function explained(repository: string, error: unknown): Promise<unknown> {
	if (!(error instanceof GitFailure) || error instanceof GitTimeout) return error;
	const damaged = await findDamaged(repository);
	return damaged === null ? error : new FileDamaged(damageAdvice(repository, damaged));
}
