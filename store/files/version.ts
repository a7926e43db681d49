import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { filesBelow } from "./files.ts";

export function readVersion(): string {
	const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
	return (JSON.parse(text) as { version: string }).version;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

let commit: string | null | undefined;

/** 12 digits; null for a copy of the files. */
export function readCommit(): string | null {
	if (commit === undefined) commit = findCommit()?.slice(0, 12) ?? null;
	return commit;
}

function findCommit(): string | null {
	// `git archive` writes the commit there.
	const archived = readFileSync(new URL("commit.txt", import.meta.url), "utf8").trim();
	if (/^[0-9a-f]{40,64}$/.test(archived)) return archived;
	// Git would find the repository of a project that has this one as a package.
	if (!existsSync(`${root}/.git`)) return null;
	// The checkout may belong to root, and the service run as another user.
	const words = ["-c", "safe.directory=*", "-C", root, "rev-parse", "--verify", "HEAD"];
	try {
		return execFileSync("git", words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
	} catch {
		return null;
	}
}

export function versionLine(version = readVersion()): string {
	const commit = readCommit();
	return commit === null ? version : `${version} ${commit}`;
}

const stamps = new Map<string, string>();

/**
 * SHA-256 in hex of `files` in package.json: all code, the guide and package versions. Output with another
 * stamp is rendered again.
 */
export function codeStamp(checkout = root): string {
	const earlier = stamps.get(checkout);
	if (earlier !== undefined) return earlier;
	const { files } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as { files: string[] };
	const hash = createHash("sha256");
	for (const name of ["package.json", ...files]) {
		const path = join(checkout, name);
		const paths = statSync(path).isFile()
			? [name]
			: filesBelow(path)
					.map((below) => `${name}/${below}`)
					.sort();
		for (const each of paths) hash.update(`${each}\n`).update(readFileSync(join(checkout, each)));
	}
	const stamp = hash.digest("hex");
	stamps.set(checkout, stamp);
	return stamp;
}
