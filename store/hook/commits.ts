import { isUtf8 } from "node:buffer";
import { type GitObject, readObjects } from "../../git/cat-file.ts";
import { headerLines, listCommits, parseCommit } from "../../git/commits.ts";
import { authorMail, reviewFolders, serviceAuthor } from "../store.ts";
import { servedRef } from "./updates.ts";

/**
 * Why a commit that is new to the service's branches must be refused; null if none must. After a crash, the service
 * recognizes its own commits by their committer, and reads from them which signed requests it has carried out.
 */
export async function findCommitProblem(repository: string, to: string): Promise<string | null> {
	const reviews = reviewFolders.map((folder) => `--glob=refs/heads/${folder}/*`);
	const known = ["--not", "--ignore-missing", servedRef, ...reviews];
	const ids = await listCommits(repository, [to, ...known]);
	for await (const commits of readObjects(repository, "commit", ids)) {
		for (const commit of commits) {
			const problem = findAmbiguity(commit) ?? findForgery(commit);
			if (problem !== null) return `commit ${commit.id} ${problem}`;
		}
	}
	return null;
}

/** Why git and the service might read a commit differently; null if they cannot. */
function findAmbiguity({ body }: GitObject): string | null {
	const lines = headerLines(body);
	for (const name of ["author", "committer"]) {
		if (lines.filter((line) => line.startsWith(`${name} `)).length !== 1) return `must have one ${name}`;
	}
	const encoding = lines.find((line) => /^encoding /.test(line) && !/^encoding utf-?8$/i.test(line));
	if (encoding !== undefined) {
		return `must be in UTF-8, and says ${encoding}: git config --unset i18n.commitEncoding, and commit it again`;
	}
	return isUtf8(body) ? null : "must be in UTF-8, and is not";
}

/** The problem of a commit that claims to be the service's; null for any other. */
function findForgery(commit: GitObject): string | null {
	const { name, mail } = parseCommit(commit).committer;
	const isOwn = name.toLowerCase() === serviceAuthor || mail.toLowerCase() === authorMail(serviceAuthor);
	if (!isOwn) return null;
	return (
		`names ${serviceAuthor} as its committer, and is not known here: the service has to recognize its own commits. ` +
		"Commit it in your own name (git rebase --force-rebase), or ask the operator of the service to fetch it"
	);
}
