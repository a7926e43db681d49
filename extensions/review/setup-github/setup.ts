import { gitEnvironment } from "../../../api/service/github.ts";
import type { Configuration } from "../../../api/service/settings.ts";
import { readTextIfThere } from "../../../store/files/if-there.ts";
import { isShallow } from "../../../store/git/commands/commits.ts";
import { runGit } from "../../../store/git/commands/run.ts";
import { dataOrNull, type Github } from "../../../store/github/answer.ts";
import { checkApps, checkInstallations, findApps } from "./apps.ts";
import { checkInto, type Outcome, reasonOf, type Setup, type Target } from "./checklist.ts";
import { checkOtherRules, checkRulesets } from "./rulesets.ts";
import {
	checkActions,
	checkEnvironment,
	checkLabels,
	checkSecrets,
	checkSettings,
	checkVariables,
	parsePublished,
	readVariables,
	settingsPath,
	variablesFrom,
} from "./settings.ts";

/** The repository that `createRepository` would create, for a dry run. */
function targetToBe({ repo }: Github, isPrivate: boolean, { github }: Configuration): Target {
	const { apiUrl = "", branch = "main" } = github ?? {};
	const html_url = `https://${new URL(apiUrl).host.replace(/^api\./, "")}/${repo.owner}/${repo.repo}`;
	return {
		...{ owner: { login: repo.owner, type: "Organization" }, name: repo.repo, private: isPrivate },
		...{ html_url, clone_url: `${html_url}.git`, default_branch: branch },
		...{ fork: false, archived: false, delete_branch_on_merge: false, has_issues: true },
		allow_squash_merge: true,
	};
}

/** Creates an empty repository in the organisation, or in the account of the token's user. */
async function createRepository({ rest, repo }: Github, isPrivate: boolean): Promise<void> {
	const wanted = { name: repo.repo, private: isPrivate };
	const owner = await dataOrNull(rest.users.getByUsername({ username: repo.owner }), "show the owner");
	if (!owner) throw new Error(`GitHub has no account called ${repo.owner}`);
	if (owner.type === "Organization") await rest.repos.createInOrg({ org: repo.owner, ...wanted });
	else await rest.repos.createForAuthenticatedUser(wanted);
}

async function checkRepository({ check, github, target, branch }: Setup): Promise<void> {
	const { rest, repo } = github;
	const { fork, archived, default_branch, delete_branch_on_merge, has_issues, allow_squash_merge } = target;
	const settings = "settings of the repository";
	if (archived) return check(settings, "it is archived, and nothing can be written to it");
	// The history is linear: a merge is a squash.
	const isSet = delete_branch_on_merge && has_issues && allow_squash_merge !== false;
	const lacking = "issues are not on, merges by squash are not, or the branches of merged pull requests stay";
	const wanted = { delete_branch_on_merge: true, has_issues: true, allow_squash_merge: true };
	await check(settings, !isSet && lacking, () => rest.repos.update({ ...repo, ...wanted }));
	if (fork) {
		const why = "it is a fork, in which GitHub runs no schedules: make a repository of its own";
		await check(settings, `${why} (npx fragment-publisher setup-github owner/other-name --create public)`);
	}
	if (default_branch !== branch) {
		const how = `make it ${branch}, or set GITHUB_BRANCH=${default_branch} here and for the service`;
		await check("default branch", `is ${default_branch}, and the layers are on it: ${how}`);
	}
}

/** Checks that the branch has the code of this clone; if there is no such branch, the fix pushes it. */
async function checkCode({ check, github, branch }: Setup, push: () => Promise<void>): Promise<void> {
	const { rest, repo } = github;
	const what = `code on the branch ${branch}`;
	const asked = rest.git.getRef({ ...repo, ref: `heads/${branch}` });
	const ref = await asked.catch((error: { status?: number }) => {
		// 409: the repository has no commit.
		if (error.status === 404 || error.status === 409) return null;
		throw error;
	});
	if (!ref) return check(what, "new, from this clone's HEAD", push);
	const tree = await rest.git.getTree({ ...repo, tree_sha: ref.data.object.sha });
	const theirs = new Map(tree.data.tree.map(({ path, sha }) => [path, sha]));
	const own = (await runGit(".", ["ls-tree", "-z", "HEAD"])).toString("utf8").split("\0");
	const names = own.flatMap((line) => {
		// Each repository has layers of its own.
		const [, id, path = "layers"] = /^\d+ \w+ (\w+)\t(.*)$/s.exec(line) ?? [];
		return path === "layers" || theirs.get(path) === id ? [] : path;
	});
	const missing = names.filter((path) => !theirs.has(path));
	const begin = "begin with a repository that has no commit, or merge this clone's main into it";
	const lacks = `it lacks ${missing.join(", ")}: ${begin} (git merge --allow-unrelated-histories)`;
	const differs = `it differs from this clone in ${names.join(", ")}: pull, or push, what is newer`;
	return check(what, missing.length > 0 ? lacks : names.length > 0 && differs);
}

/** Pushes this clone's HEAD. @param proxy address of the HTTPS proxy; empty: none */
async function pushHead({ clone_url }: Target, branch: string, token: string, proxy: string) {
	if (await isShallow(".")) throw new Error("this clone is shallow: git fetch --unshallow");
	const environment = gitEnvironment(clone_url, token, proxy);
	await runGit(".", ["push", "--quiet", clone_url, `HEAD:refs/heads/${branch}`], { environment });
}

interface SetupOptions {
	dryRun?: true | undefined;
	/** Creates the repository if there is none. */
	create?: "public" | "private" | undefined;
	serviceApp?: string | undefined;
	workflowApp?: string | undefined;
	configuration: Configuration;
	/** A token of a person who may administer the repository. */
	token: string;
}

const unseenAfterMaking =
	"GitHub does not show the new repository to this token: a fine-grained one has to be for all repositories; run this again with such a token";

/** Checks everything that a repository needs, and corrects what it can. */
export async function setUp(github: Github, options: SetupOptions) {
	const { configuration, token, dryRun = false, serviceApp, workflowApp } = options;
	const branch = configuration.github?.branch ?? "main";
	const outcomes: Outcome[] = [];
	const check = checkInto(outcomes, dryRun);
	const target = await findTarget(check, github, options);
	if (!target && outcomes[0]?.state === "set") await check("settings of the repository", unseenAfterMaking);
	if (!target) return { outcomes, target };
	const stored = await readVariables(github).catch(() => new Map<string, string>());
	const names = { service: serviceApp, workflow: workflowApp };
	const { apps, unknown: unknownApps } = await findApps(github, names, stored);
	const wanted = variablesFrom(apps);
	const published = parsePublished((await readTextIfThere(settingsPath)) ?? "");
	const setup: Setup = { check, outcomes, github, target, branch, apps, unknownApps, wanted, published };
	await checkRepository(setup);
	if (target.archived) return { outcomes, target };
	const push = () => pushHead(target, branch, token, configuration.network.httpsProxy);
	const checks: [what: string, inspect: (setup: Setup) => Promise<void>][] = [
		["code", () => checkCode(setup, push)],
		["labels", checkLabels],
		["Actions", checkActions],
		["environment review", () => checkEnvironment(setup, "review")],
		["environment production", () => checkEnvironment(setup, "production")],
		["Apps", checkApps],
		["installation of the Apps", checkInstallations],
		["settings", checkSettings],
		["variables", checkVariables],
		["secrets", checkSecrets],
		["rulesets", checkRulesets],
		["other rules", checkOtherRules],
	];
	// A check that fails is an outcome, and the others follow.
	for (const [what, inspect] of checks)
		await inspect(setup).catch((error: unknown) => check(what, `cannot be checked: ${reasonOf(error)}`));
	return { outcomes, target };
}

/** Finds the repository, or creates it if `create` is given; null if there is none. */
async function findTarget(
	check: Setup["check"],
	github: Github,
	{ create, dryRun, configuration }: SetupOptions,
): Promise<Target | null> {
	const { owner, repo } = github.repo;
	const slug = `${owner}/${repo}`;
	const read = () => dataOrNull(github.rest.repos.get(github.repo), "show the repository");
	const target = await read();
	const isPrivate = create === "private";
	const what = `repository ${slug}`;
	const how = "GitHub shows none to this token: run this again with --create public or --create private";
	if (target) await check(what, false);
	else if (create) await check(what, "new", () => createRepository(github, isPrivate));
	else await check(what, how);
	if (target || !create) return target;
	return dryRun ? targetToBe(github, isPrivate, configuration) : read();
}
