import { isUtf8 } from "node:buffer";
import { type GitObject, readObjects } from "../../git/cat-file.ts";
import { headerLines, listCommits, parseCommit } from "../../git/commits.ts";
import { authorMail, reviewFolders, serviceAuthor } from "../store.ts";
import { servedRef } from "./updates.ts";

/**
 * What is wrong with the commits that are new to the service's branches; null where nothing is. The service tells its
 * own commits by their committer: after a crash, which signed requests they carry out.
 */
export async function findCommitProblem(repository: string, to: string): Promise<string | null> {
	const reviews = reviewFolders.map((folder) => `--glob=refs/heads/${folder}/*`);
	const known = ["--not", "--ignore-missing", servedRef, ...reviews];
	const ids = await listCommits(repository, [to, ...known]);
	for await (const commits of readObjects(repository, "commit", ids)) {
		for (const commit of commits) {
			const problem = findUnclear(commit) ?? findForged(commit);
			if (problem !== null) return `commit ${commit.id} ${problem}`;
		}
	}
	return null;
}

/** Why a commit can be read in two ways; null where it cannot. */
function findUnclear({ body }: GitObject): string | null {
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

/** Why a commit looks like one of the service's; null where it does not. */
function findForged(commit: GitObject): string | null {
	const { name, mail } = parseCommit(commit).committer;
	const isOwn = name.toLowerCase() === serviceAuthor || mail.toLowerCase() === authorMail(serviceAuthor);
	if (!isOwn) return null;
	return (
		`names ${serviceAuthor} as its committer, and is not known here: the service has to recognize its own commits. ` +
		"Commit it in your own name (git rebase --force-rebase), or ask the operator of the service to fetch it"
	);
}
