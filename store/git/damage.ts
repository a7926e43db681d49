import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../log.ts";
import { branchName } from "./base.ts";
import { GitFailure, runGit } from "./commands/run.ts";

/** The files without which git does not recognize a repository (gitrepository-layout(5)). None of them has layers. */
const files = ["HEAD", "config"] as const;

type Damaged = (typeof files)[number];

/** Which of these files is damaged or missing; null if neither is. */
export async function findDamaged(repository: string): Promise<Damaged | null> {
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
export function damageAdvice(repository: string, damaged: Damaged): string {
	const path = join(repository, damaged);
	const way =
		damaged === "HEAD"
			? `"echo 'ref: refs/heads/${branchName}' > ${path}" writes it again`
			: `end the service, "mv ${path} ${path}.damaged", and start it: it writes its settings again`;
	return `${path}: is damaged. No layer is lost: ${way}`;
}

/**
 * Returns a check of these files for a running service. An unchanged file costs one `stat`.
 * @param log gets each damage once
 */
export function createDamageCheck(repository: string, log: Log) {
	let seen = "";
	let damaged: Damaged | null = null;

	async function check(): Promise<void> {
		const stats = files.map((name) => stat(join(repository, name), { bigint: true }).catch(() => null));
		const now = (await Promise.all(stats)).map((one) => one?.ctimeNs ?? "none").join();
		if (now === seen) return;
		const found = await findDamaged(repository);
		if (found !== null && found !== damaged) log.warn(damageAdvice(repository, found));
		damaged = found;
		seen = now;
	}

	/** `state`: the damage in a few words; null if there is none. */
	return {
		check,
		state: () => (damaged === null ? null : `the file ${damaged} of the repository is damaged`),
	};
}
