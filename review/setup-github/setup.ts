import { join } from "node:path";
import type { Environment } from "../../api/configuration.ts";
import { readIfThere } from "../../files/if-there.ts";
import { ownersPath, parseOwners } from "../../registry/owners.ts";
import type { Github } from "../../store/github/routes.ts";
import { type App, appFindings, findApp, installationFindings } from "./apps.ts";
import { apply, check, type Finding, inspect, type Outcome } from "./finding.ts";
import { environmentNames, neededSecrets, neededVariables, variablesFrom } from "./needs.ts";
import {
	codeFindings,
	createRepository,
	type Push,
	readTarget,
	repositoryFindings,
	type Target,
	targetToBe,
} from "./repository.ts";
import { otherRuleFindings, rulesetFindings } from "./rulesets.ts";
import {
	actionsFindings,
	environmentFindings,
	labelFindings,
	readVariables,
	secretFindings,
	variableFindings,
} from "./settings.ts";

/** What was said to `npx fragments setup-github`. */
export interface SetupOptions {
	isDryRun: boolean;
	/** Makes the repository where there is none. */
	create: "public" | "private" | undefined;
	serviceApp: string | undefined;
	workflowApp: string | undefined;
	/** Address of the API. */
	apiUrl: string;
	push: Push;
	environment: Environment;
}

/** The end of a run. */
export interface Setup {
	outcomes: Outcome[];
	target: Target | null;
}

const unseenAfterMaking =
	"GitHub does not show the new repository to this token: a fine-grained one has to be for all repositories; run this again with such a token";

/** Checks everything that a repository needs, and corrects what it can. */
export async function setUp(github: Github, options: SetupOptions): Promise<Setup> {
	const outcomes: Outcome[] = [];
	const add = async (findings: Finding[]) => {
		outcomes.push(...(await apply(findings, options.isDryRun)));
	};
	const target = await findTarget(github, options, add);
	if (!target) {
		if (outcomes[0]?.state === "set") await add([check("settings of the repository", unseenAfterMaking)]);
		return { outcomes, target };
	}
	await add(repositoryFindings(github, target, options.push.branch));
	if (target.archived) return { outcomes, target };
	await add(await inspect("code", () => codeFindings(github, target, options.push)));
	for (const [what, find] of await checksOf(github, target, options)) await add(await inspect(what, find));
	return { outcomes, target };
}

/** The repository, made where it is not there and that was asked for; null where it is not there. */
async function findTarget(
	github: Github,
	{ create, push, apiUrl, isDryRun }: SetupOptions,
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
	return isDryRun ? targetToBe(github, create === "private", push.branch, apiUrl) : readTarget(github);
}

/** What does not depend on the step before it. */
async function checksOf(
	github: Github,
	target: Target,
	options: SetupOptions,
): Promise<[string, () => Promise<Finding[]>][]> {
	const { branch, clone } = options.push;
	const stored = await readVariables(github).catch(() => new Map<string, string>());
	const [service, workflow] = await findApps(github, options, stored);
	const wanted = variablesFrom(options.environment);
	if (service) wanted.set("SERVICE_APP_ID", String(service.id));
	if (workflow) wanted.set("WORKFLOW_APP_ID", String(workflow.id));
	if (workflow?.login) wanted.set("WORKFLOW_APP_LOGIN", workflow.login);
	const variable = (name: string) => wanted.get(name) ?? stored.get(name);
	const both = { service, workflow };
	const ruleset = async () => {
		if (service && workflow)
			return rulesetFindings(github, { service, workflow, hasLoneOperator: await hasLoneOperator(clone) });
		return [check("rulesets", "waits for both Apps: without their bypass every PUT would be refused")];
	};
	return [
		["labels", () => labelFindings(github)],
		["Actions", () => actionsFindings(github)],
		...environmentNames.map((name): [string, () => Promise<Finding[]>] => [
			`environment ${name}`,
			() => environmentFindings(github, target, name),
		]),
		["Apps", async () => appFindings(target, both)],
		["installation of the Apps", () => installationFindings(github, target, both)],
		["variables", () => variableFindings(github, wanted, neededVariables)],
		["secrets", () => secretFindings(github, neededSecrets(variable))],
		["rulesets", ruleset],
		["other rules", () => otherRuleFindings(github, target, branch)],
	];
}

/** Whether one person is all the owners of a clone: a team has several members. */
async function hasLoneOperator(clone: string): Promise<boolean> {
	const { owners } = parseOwners((await readIfThere(join(clone, ownersPath))) ?? new Uint8Array(0));
	const names = owners && [...owners.operators, ...owners.rules.flatMap((rule) => rule.owners)];
	const [first = "", ...others] = new Set(names?.map((name) => name.toLowerCase()));
	return first !== "" && others.length === 0 && !first.includes("/");
}

/** The two Apps: by the names that were said, or as an earlier run has noted them in variables. */
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
