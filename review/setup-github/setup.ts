import type { Environment } from "../../api/configuration.ts";
import type { Configuration } from "../../service/settings.ts";
import type { Github } from "../../store/github/answer.ts";
import { checkApps, checkInstallations, findApps } from "./apps.ts";
import { type Check, checkInto, type Outcome, reasonOf } from "./checklist.ts";
import {
	checkCode,
	checkRepository,
	createRepository,
	pushHead,
	readTarget,
	type Target,
	targetToBe,
} from "./repository.ts";
import { checkOtherRules, checkRulesets } from "./rulesets.ts";
import {
	checkActions,
	checkEnvironment,
	checkLabels,
	checkSecrets,
	checkVariables,
	environmentNames,
	readVariables,
	variablesFrom,
} from "./settings.ts";

interface SetupOptions {
	dryRun?: true | undefined;
	/** Creates the repository if there is none. */
	create?: "public" | "private" | undefined;
	serviceApp?: string | undefined;
	workflowApp?: string | undefined;
	configuration: Configuration;
	environment: Environment;
	/** A token of a person who may administer the repository. */
	token: string;
}

export interface Setup {
	outcomes: Outcome[];
	target: Target | null;
}

const unseenAfterMaking =
	"GitHub does not show the new repository to this token: a fine-grained one has to be for all repositories; run this again with such a token";

/** Checks everything that a repository needs, and corrects what it can. */
export async function setUp(github: Github, options: SetupOptions): Promise<Setup> {
	const { configuration, token, dryRun = false, serviceApp, workflowApp } = options;
	const branch = configuration.github?.branch ?? "main";
	const outcomes: Outcome[] = [];
	const check = checkInto(outcomes, dryRun);
	/** A check that fails is an outcome, and the others follow. */
	const attempt = (what: string, checking: Promise<void>) =>
		checking.catch((error: unknown) => check(what, `cannot be checked: ${reasonOf(error)}`));
	const target = await findTarget(check, github, options);
	if (!target && outcomes[0]?.state === "set") await check("settings of the repository", unseenAfterMaking);
	if (!target) return { outcomes, target };
	await checkRepository(check, github, target, branch);
	if (target.archived) return { outcomes, target };
	const push = () => pushHead(target, branch, token, configuration.harvest.httpsProxy);
	await attempt("code", checkCode(check, github, branch, push));
	const stored = await readVariables(github).catch(() => new Map<string, string>());
	const apps = await findApps(github, { service: serviceApp, workflow: workflowApp }, stored);
	const wanted = variablesFrom(options.environment);
	if (apps.service) wanted.set("SERVICE_APP_ID", String(apps.service.id));
	if (apps.workflow) wanted.set("WORKFLOW_APP_ID", String(apps.workflow.id));
	if (apps.workflow?.login) wanted.set("WORKFLOW_APP_LOGIN", apps.workflow.login);
	const variable = (name: string) => wanted.get(name) ?? stored.get(name);
	await attempt("labels", checkLabels(check, github));
	await attempt("Actions", checkActions(check, github));
	for (const name of environmentNames)
		await attempt(`environment ${name}`, checkEnvironment(check, github, target, name));
	await attempt("Apps", checkApps(check, target, apps));
	const installations = checkInstallations(check, outcomes, github, target, apps);
	await attempt("installation of the Apps", installations);
	await attempt("variables", checkVariables(check, github, wanted));
	await attempt("secrets", checkSecrets(check, github, variable));
	await attempt("rulesets", checkRulesets(check, github, apps));
	await attempt("other rules", checkOtherRules(check, github, target, branch));
	return { outcomes, target };
}

/** Finds the repository, or creates it if `create` is given; null if there is none. */
async function findTarget(
	check: Check,
	github: Github,
	{ create, dryRun, configuration }: SetupOptions,
): Promise<Target | null> {
	const slug = `${github.repo.owner}/${github.repo.repo}`;
	const target = await readTarget(github);
	const isPrivate = create === "private";
	const problem = `${slug} is not there, or the token may not see it`;
	if (target) await check(`repository ${slug}`, false);
	else if (create) await check("repository", problem, () => createRepository(github, isPrivate));
	else await check("repository", `${problem}: run this again with --create public or --create private`);
	if (target || !create) return target;
	return dryRun ? targetToBe(github, isPrivate, configuration) : readTarget(github);
}
