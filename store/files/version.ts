import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export function readVersion(): string {
	const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
	return (JSON.parse(text) as { version: string }).version;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

const commitLength = 12;

let known: string | null | undefined;

/**
 * The first digits of the commit of this code, read once per process: from commit.txt, into which `git archive` writes it, or
 * from the checkout; null for a copy of the files without either.
 */
export function readCommit(): string | null {
	if (known === undefined) known = findCommit();
	return known;
}

function findCommit(): string | null {
	const archived = readFileSync(new URL("commit.txt", import.meta.url), "utf8").trim();
	if (/^[0-9a-f]{40,64}$/.test(archived)) return archived.slice(0, commitLength);
	// Without this check, git would find the repository of a project that has this one as a package.
	if (!existsSync(`${root}/.git`)) return null;
	// The checkout may belong to root, and the service run as another user.
	const words = ["-c", "safe.directory=*", "-C", root, "rev-parse", "--verify", "HEAD"];
	try {
		const id = execFileSync("git", words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
		return id.slice(0, commitLength);
	} catch {
		return null;
	}
}

/** Version and commit: `0.2.0 1a2b3c4d5e6f`. */
export function versionLine(version = readVersion(), commit = readCommit()): string {
	return commit === null ? version : `${version} ${commit}`;
}
