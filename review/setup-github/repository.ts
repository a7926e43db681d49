import { runGit } from "../../git/run.ts";
import { gitEnvironment } from "../../service/github-git.ts";
import { dataOrNull } from "../../store/github/refusal.ts";
import type { Github } from "../../store/github/routes.ts";
import { byHand, type Finding, fixable, right } from "./finding.ts";

/** The repository that is set up. */
export interface Target {
	owner: string;
	name: string;
	isOrganization: boolean;
	isPrivate: boolean;
	isFork: boolean;
	isArchived: boolean;
	/** `https://github.com/owner/name` */
	webUrl: string;
	cloneUrl: string;
	defaultBranch: string;
	/** Whether head branches go when a pull request is merged, and whether there are issues. */
	deletesBranches: boolean;
	hasIssues: boolean;
}

/** Reads the repository; null where there is none, or the token may not see it. */
export async function readTarget({ rest, repo }: Github): Promise<Target | null> {
	const data = await dataOrNull(rest.repos.get(repo), "show the repository");
	return (
		data && {
			owner: data.owner.login,
			name: data.name,
			isOrganization: data.owner.type === "Organization",
			isPrivate: data.private,
			isFork: data.fork,
			isArchived: data.archived,
			webUrl: data.html_url,
			cloneUrl: data.clone_url,
			defaultBranch: data.default_branch,
			deletesBranches: data.delete_branch_on_merge ?? false,
			hasIssues: data.has_issues,
		}
	);
}

/** The repository that `createRepository` would make, for a dry run. */
export function targetToBe({ repo }: Github, isPrivate: boolean, branch: string, apiUrl: string): Target {
	const { owner, repo: name } = repo;
	const host = new URL(apiUrl).host.replace(/^api\./, "");
	const webUrl = `https://${host}/${owner}/${name}`;
	return {
		...{ owner, name, webUrl, cloneUrl: `${webUrl}.git`, defaultBranch: branch },
		...{ isOrganization: true, isPrivate, isFork: false, isArchived: false },
		...{ deletesBranches: false, hasIssues: true },
	};
}

/** Makes the repository, empty, in the organisation or in the account of the token's own user. */
export async function createRepository({ rest, repo }: Github, isPrivate: boolean): Promise<void> {
	const wanted = { name: repo.repo, private: isPrivate };
	const owner = await dataOrNull(rest.users.getByUsername({ username: repo.owner }), "show the owner");
	if (!owner) throw new Error(`GitHub has no account called ${repo.owner}`);
	if (owner.type === "Organization") await rest.repos.createInOrg({ org: repo.owner, ...wanted });
	else await rest.repos.createForAuthenticatedUser(wanted);
}

/** The settings that the repository itself needs. */
export function repositoryFindings({ rest, repo }: Github, target: Target, branch: string): Finding[] {
	const { isFork, isArchived, defaultBranch, deletesBranches, hasIssues } = target;
	const findings: Finding[] = [];
	const settings = "settings of the repository";
	if (isArchived) return [byHand(settings, "it is archived, and nothing can be written to it")];
	if (isFork) {
		const why = "it is a fork, in which GitHub runs no schedules: make a repository of its own";
		findings.push(byHand(settings, `${why} (npx fragments setup-github owner/other-name --create public)`));
	}
	const wanted = { delete_branch_on_merge: true, has_issues: true };
	const isSet = deletesBranches && hasIssues;
	const update = () => rest.repos.update({ ...repo, ...wanted });
	findings.push(
		isSet
			? right(settings)
			: fixable(settings, "issues are not on, or the branches of merged pull requests stay", update),
	);
	if (defaultBranch !== branch) {
		const how = `make it ${branch}, or set GITHUB_BRANCH=${defaultBranch} here and for the service`;
		findings.push(byHand("default branch", `is ${defaultBranch}, and the layers are on it: ${how}`));
	}
	return findings;
}

/** What pushing needs beside the repository. */
export interface Push {
	/** The clone whose HEAD is pushed. */
	clone: string;
	branch: string;
	token: string;
	/** The way out, as in the environment. */
	proxy: string;
}

/** What is not code: each repository has layers of its own. */
const notCode = new Set(["layers"]);

/** Whether the branch holds the code of this clone; where there is no such branch, it is pushed. */
export async function codeFindings(github: Github, target: Target, push: Push): Promise<Finding[]> {
	const { rest, repo } = github;
	const what = `code on the branch ${push.branch}`;
	const asked = rest.git.getRef({ ...repo, ref: `heads/${push.branch}` });
	const ref = await asked.then(
		({ data }) => data,
		(error: { status?: number }) => {
			// 409 where there is no commit at all.
			if (error.status === 404 || error.status === 409) return null;
			throw error;
		},
	);
	if (!ref) return [fixable(what, "is not there: this clone's HEAD", () => pushHead(target, push))];
	const tree = await rest.git.getTree({ ...repo, tree_sha: ref.object.sha });
	const theirs = new Map(tree.data.tree.map(({ path, sha }) => [path, sha]));
	const missing: string[] = [];
	const different: string[] = [];
	for (const [path, id] of await topLevel(push.clone)) {
		if (notCode.has(path) || theirs.get(path) === id) continue;
		(theirs.has(path) ? different : missing).push(path);
	}
	if (missing.length > 0) {
		const why = `it lacks ${missing.join(", ")}`;
		const how = "begin with a repository that has no commit, or merge this clone's main into it";
		return [byHand(what, `${why}: ${how} (git merge --allow-unrelated-histories)`)];
	}
	if (different.length > 0) {
		return [
			byHand(what, `it differs from this clone in ${different.join(", ")}: pull, or push, what is newer`),
		];
	}
	return [right(what)];
}

/** Names at the top of this clone's HEAD, with the ids of what they hold. */
async function topLevel(clone: string): Promise<[string, string][]> {
	const text = (await runGit(clone, ["ls-tree", "-z", "HEAD"])).toString("utf8");
	return text
		.split("\0")
		.filter(Boolean)
		.map((line) => [line.slice(line.indexOf("\t") + 1), line.split(/[ \t]/)[2] as string]);
}

async function pushHead({ cloneUrl }: Target, { clone, branch, token, proxy }: Push): Promise<void> {
	const isShallow = (await runGit(clone, ["rev-parse", "--is-shallow-repository"])).toString().trim();
	if (isShallow === "true") throw new Error("this clone is shallow: git fetch --unshallow");
	const environment = gitEnvironment(cloneUrl, token, proxy);
	await runGit(clone, ["push", "--quiet", cloneUrl, `HEAD:refs/heads/${branch}`], { environment });
}
