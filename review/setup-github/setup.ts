import type { Environment } from "../../api/configuration.ts";
import type { Configuration } from "../../service/settings.ts";
import type { Github } from "../../store/github/answer.ts";
import { checkApps, checkInstallations, findApps } from "./apps.ts";
import { type Check, checkInto, type Outcome, reasonOf, type Setup, type Target } from "./checklist.ts";
import {
	checkCode,
	checkRepository,
	createRepository,
	pushHead,
	readTarget,
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

const unseenAfterMaking =
	"GitHub does not show the new repository to this token: a fine-grained one has to be for all repositories; run this again with such a token";

/** Checks everything that a repository needs, and corrects what it can. */
export async function setUp(
	github: Github,
	options: SetupOptions,
): Promise<{ outcomes: Outcome[]; target: Target | null }> {
	const { configuration, token, dryRun = false, serviceApp, workflowApp } = options;
	const branch = configuration.github?.branch ?? "main";
	const outcomes: Outcome[] = [];
	const check = checkInto(outcomes, dryRun);
	const target = await findTarget(check, github, options);
	if (!target && outcomes[0]?.state === "set") await check("settings of the repository", unseenAfterMaking);
	if (!target) return { outcomes, target };
	const stored = await readVariables(github).catch(() => new Map<string, string>());
	const apps = await findApps(github, { service: serviceApp, workflow: workflowApp }, stored);
	const { service, workflow } = apps;
	const wanted = variablesFrom(options.environment);
	if (service) wanted.set("SERVICE_APP_ID", String(service.id));
	if (workflow) wanted.set("WORKFLOW_APP_ID", String(workflow.id));
	if (workflow?.login) wanted.set("WORKFLOW_APP_LOGIN", workflow.login);
	const variable = (name: string) => wanted.get(name) ?? stored.get(name);
	const setup: Setup = { check, outcomes, github, target, branch, apps, wanted, variable };
	/** A check that fails is an outcome, and the others follow. */
	const attempt = (what: string, inspect: (setup: Setup) => Promise<void>) =>
		inspect(setup).catch((error: unknown) => check(what, `cannot be checked: ${reasonOf(error)}`));
	await checkRepository(setup);
	if (target.archived) return { outcomes, target };
	const push = () => pushHead(target, branch, token, configuration.harvest.httpsProxy);
	await attempt("code", () => checkCode(setup, push));
	await attempt("labels", checkLabels);
	await attempt("Actions", checkActions);
	for (const name of environmentNames)
		await attempt(`environment ${name}`, () => checkEnvironment(setup, name));
	await attempt("Apps", checkApps);
	await attempt("installation of the Apps", checkInstallations);
	await attempt("variables", checkVariables);
	await attempt("secrets", checkSecrets);
	await attempt("rulesets", checkRulesets);
	await attempt("other rules", checkOtherRules);
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
