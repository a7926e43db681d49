import { join } from "node:path";
import type { Environment } from "../../api/configuration.ts";
import { readIfThere } from "../../files/if-there.ts";
import { ownersPath, parseOwners } from "../../registry/owners.ts";
import type { Github } from "../../store/github/routes.ts";
import { type App, appFindings, findApp, installationFindings } from "./apps.ts";
import { apply, byHand, type Finding, fixable, inspect, type Outcome, right } from "./finding.ts";
import { neededSecrets, neededVariables, variablesFrom } from "./needs.ts";
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
	environmentNames,
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
	const { isDryRun, create, push } = options;
	const slug = `${github.repo.owner}/${github.repo.repo}`;
	const outcomes: Outcome[] = [];
	const add = async (findings: Finding[]) => outcomes.push(...(await apply(findings, isDryRun)));
	let target = await readTarget(github);
	if (!target) {
		const problem = `${slug} is not there, or the token may not see it`;
		const make = () => createRepository(github, create === "private");
		const how = "run this again with --create public or --create private";
		await add([create ? fixable("repository", problem, make) : byHand("repository", `${problem}: ${how}`)]);
		const [made] = outcomes;
		if (made?.state === "set") target = await readTarget(github);
		else if (made?.state === "would be set")
			target = targetToBe(github, create === "private", push.branch, options.apiUrl);
		if (!target) {
			if (made?.state === "set") await add([byHand("settings of the repository", unseenAfterMaking)]);
			return { outcomes, target };
		}
	} else {
		await add([right(`repository ${slug}`)]);
	}
	await add(repositoryFindings(github, target, push.branch));
	if (target.isArchived) return { outcomes, target };
	const found = target;
	await add(await inspect("code", () => codeFindings(github, found, push)));
	for (const findings of await rest(github, found, options)) await add(findings);
	return { outcomes, target };
}

/** What does not depend on the step before it. */
async function rest(github: Github, target: Target, options: SetupOptions): Promise<Finding[][]> {
	const { branch } = options.push;
	const stored = await readVariables(github).catch(() => new Map<string, string>());
	const [service, workflow] = await findApps(github, options, stored);
	const wanted = variablesFrom(options.environment);
	if (service) wanted.set("SERVICE_APP_ID", String(service.id));
	if (workflow) wanted.set("WORKFLOW_APP_ID", String(workflow.id));
	if (workflow?.login) wanted.set("WORKFLOW_APP_LOGIN", workflow.login);
	const variable = (name: string) => wanted.get(name) ?? stored.get(name);
	const findings = [
		await inspect("labels", () => labelFindings(github)),
		await inspect("Actions", () => actionsFindings(github)),
	];
	for (const name of environmentNames) {
		findings.push(await inspect(`environment ${name}`, () => environmentFindings(github, target, name)));
	}
	findings.push(
		appFindings(target, "service", service),
		appFindings(target, "workflow", workflow),
		await inspect("installation of the Apps", () =>
			installationFindings(github, target, [
				["service", service],
				["workflow", workflow],
			]),
		),
		await inspect("variables", () => variableFindings(github, wanted, neededVariables)),
		await inspect("secrets", () => secretFindings(github, neededSecrets(variable))),
	);
	if (service && workflow) {
		const rules = { service, workflow, hasLoneOperator: await hasLoneOperator(options.push.clone) };
		findings.push(await inspect("rulesets", () => rulesetFindings(github, rules)));
	} else {
		const why = "waits for both Apps: without their bypass every PUT would be refused";
		findings.push([byHand("rulesets", why)]);
	}
	findings.push(await inspect("other rules", () => otherRuleFindings(github, target, branch)));
	return findings;
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
