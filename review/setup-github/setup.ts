import type { Environment } from "../../api/configuration.ts";
import type { Configuration } from "../../service/settings.ts";
import type { Github } from "../../store/github/answer.ts";
import { type App, appFindings, findApp, installationFindings } from "./apps.ts";
import { apply, check, type Finding, inspect, type Outcome } from "./finding.ts";
import {
	codeFindings,
	createRepository,
	pushHead,
	readTarget,
	repositoryFindings,
	type Target,
	targetToBe,
} from "./repository.ts";
import { otherRuleFindings, rulesetFindings } from "./rulesets.ts";
import {
	actionsFindings,
	environmentFindings,
	environmentNames,
	labelFindings,
	readVariables,
	secretFindings,
	variableFindings,
	variablesFrom,
} from "./settings.ts";

export interface SetupOptions {
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
	const { configuration, token } = options;
	const branch = configuration.github?.branch ?? "main";
	const outcomes: Outcome[] = [];
	const add = async (findings: Finding[]) => {
		outcomes.push(...(await apply(findings, options.dryRun ?? false)));
	};
	const target = await findTarget(github, options, add);
	if (!target) {
		if (outcomes[0]?.state === "set") await add([check("settings of the repository", unseenAfterMaking)]);
		return { outcomes, target };
	}
	await add(repositoryFindings(github, target, branch));
	if (target.archived) return { outcomes, target };
	const push = () => pushHead(target, branch, token, configuration.harvest.httpsProxy);
	await add(await inspect("code", () => codeFindings(github, branch, push)));
	for (const [what, find] of await checksOf(github, target, branch, options))
		await add(await inspect(what, find));
	return { outcomes, target };
}

/** Finds the repository, or creates it if `create` is given; null if there is none. */
async function findTarget(
	github: Github,
	{ create, dryRun, configuration }: SetupOptions,
	add: (findings: Finding[]) => Promise<void>,
): Promise<Target | null> {
	const slug = `${github.repo.owner}/${github.repo.repo}`;
	const target = await readTarget(github);
	const problem = `${slug} is not there, or the token may not see it`;
	if (target) await add([check(`repository ${slug}`, false)]);
	else if (create)
		await add([check("repository", problem, () => createRepository(github, create === "private"))]);
	else
		await add([check("repository", `${problem}: run this again with --create public or --create private`)]);
	if (target || !create) return target;
	return dryRun ? targetToBe(github, create === "private", configuration) : readTarget(github);
}

/** The checks that do not depend on each other. */
async function checksOf(
	github: Github,
	target: Target,
	branch: string,
	options: SetupOptions,
): Promise<[string, () => Promise<Finding[]>][]> {
	const stored = await readVariables(github).catch(() => new Map<string, string>());
	const [service, workflow] = await findApps(github, options, stored);
	const wanted = variablesFrom(options.environment);
	if (service) wanted.set("SERVICE_APP_ID", String(service.id));
	if (workflow) wanted.set("WORKFLOW_APP_ID", String(workflow.id));
	if (workflow?.login) wanted.set("WORKFLOW_APP_LOGIN", workflow.login);
	const variable = (name: string) => wanted.get(name) ?? stored.get(name);
	const both = { service, workflow };
	return [
		["labels", () => labelFindings(github)],
		["Actions", () => actionsFindings(github)],
		...environmentNames.map((name): [string, () => Promise<Finding[]>] => [
			`environment ${name}`,
			() => environmentFindings(github, target, name),
		]),
		["Apps", async () => appFindings(target, both)],
		["installation of the Apps", () => installationFindings(github, target, both)],
		["variables", () => variableFindings(github, wanted)],
		["secrets", () => secretFindings(github, variable)],
		["rulesets", () => rulesetFindings(github, both)],
		["other rules", () => otherRuleFindings(github, target, branch)],
	];
}

/** The two Apps: by the names in the options, or by the variables that an earlier run has set. */
async function findApps(github: Github, options: SetupOptions, stored: ReadonlyMap<string, string>) {
	const known = (idName: string, loginName: string): App | null => {
		const id = Number(stored.get(idName));
		return Number.isSafeInteger(id) && id > 0 ? { id, login: stored.get(loginName) ?? null } : null;
	};
	const find = async (name: string | undefined, prefix: string) =>
		name ? findApp(github, name) : known(`${prefix}_ID`, `${prefix}_LOGIN`);
	const service = await find(options.serviceApp, "SERVICE_APP");
	const workflow = await find(options.workflowApp, "WORKFLOW_APP");
	if (service && service.id === workflow?.id)
		throw new Error(
			"--workflow-app: must be another App than --service-app: no workflow may hold the service's key",
		);
	return [service, workflow] as const;
}
