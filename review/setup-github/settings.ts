import type { Environment } from "../../api/configuration.ts";
import { dataOrNull, type Github } from "../../store/github/answer.ts";
import { type Label, labels } from "../pulls.ts";
import { check, emptyOn404, type Finding } from "./finding.ts";
import type { Target } from "./repository.ts";

/** The environments with the workflows' secrets: the App's key in `review`, the hosting's in `production`. */
export const environmentNames = ["review", "production"] as const;

/** Whether the labels exist. Their colours and descriptions are not compared: each repository may change them. */
export async function labelFindings({ rest, repo, paginate }: Github): Promise<Finding[]> {
	const all = await emptyOn404(paginate(rest.issues.listLabelsForRepo, { ...repo, per_page: 100 }));
	return Object.values<Label>(labels).map((label) => {
		const isThere = all.some(({ name }) => name === label.name);
		const create = () => rest.issues.createLabel({ ...repo, ...label });
		return check(`label ${label.name}`, !isThere && "is not there", create);
	});
}

/** Which actions may run, and the default permissions of the workflows' token. */
export async function actionsFindings({ rest, repo, paginate }: Github): Promise<Finding[]> {
	const { actions } = rest;
	const allowed = await dataOrNull(
		actions.getGithubActionsPermissionsRepository(repo),
		"show which actions may run",
	);
	const isSelected = allowed?.allowed_actions === "selected";
	// GitHub's types do not know the member yet ("Set GitHub Actions permissions for a repository").
	const isPinned = (allowed as { sha_pinning_required?: boolean } | null)?.sha_pinning_required === true;
	const isLimited = allowed?.enabled && (isSelected || allowed.allowed_actions === "local_only") && isPinned;
	const selected = isSelected ? (await actions.getAllowedActionsRepository(repo)).data : null;
	const limit = async () => {
		const wanted = { enabled: true, allowed_actions: "selected" as const, sha_pinning_required: true };
		await actions.setGithubActionsPermissionsRepository({ ...repo, ...wanted });
		const own = { verified_allowed: false, patterns_allowed: [], ...selected, github_owned_allowed: true };
		await actions.setAllowedActionsRepository({ ...repo, ...own });
	};
	const isRight = isLimited && selected?.github_owned_allowed;
	const limits = "are not limited to GitHub's own, each by the id of a commit";
	const token = await dataOrNull(
		actions.getGithubActionsDefaultWorkflowPermissionsRepository(repo),
		"show what workflows may do",
	);
	const writes =
		token?.default_workflow_permissions !== "read" && "may write where a workflow does not say so";
	const readOnly = { ...repo, default_workflow_permissions: "read" as const };
	// GitHub disables the schedules of a public repository after 60 days without activity.
	const workflows = await emptyOn404(paginate(actions.listRepoWorkflows, { ...repo, per_page: 100 }));
	const disabled = workflows.filter(({ state }) => state === "disabled_inactivity");
	return [
		check("actions that may run", !isRight && limits, limit),
		check("the workflows' own token", writes, () =>
			actions.setGithubActionsDefaultWorkflowPermissionsRepository(readOnly),
		),
		...disabled.map(({ id, name }) =>
			check(`workflow ${name}`, "was disabled by GitHub after 60 days without activity", () =>
				actions.enableWorkflow({ ...repo, workflow_id: id }),
			),
		),
	];
}

/** Whether an environment exists and gives its secrets to the default branch only. */
export async function environmentFindings(
	{ rest, repo, paginate }: Github,
	{ default_branch: branch, html_url }: Target,
	environmentName: string,
): Promise<Finding[]> {
	const what = `environment ${environmentName}`;
	const about = { ...repo, environment_name: environmentName };
	const found = await dataOrNull(rest.repos.getEnvironment(about), `show the ${what}`);
	const custom = { protected_branches: false, custom_branch_policies: true };
	const limit = () => rest.repos.createOrUpdateEnvironment({ ...about, deployment_branch_policy: custom });
	const allowed = (isAllowed: boolean) =>
		check(`${what}, the branch ${branch}`, !isAllowed && "does not get the secrets", () =>
			rest.repos.createDeploymentBranchPolicy({ ...about, name: branch }),
		);
	if (!found?.deployment_branch_policy?.custom_branch_policies) {
		const problem = found ? "gives its secrets to other branches" : "is not there";
		return [check(what, problem, limit), allowed(false)];
	}
	const policies = await paginate(rest.repos.listDeploymentBranchPolicies, { ...about, per_page: 100 });
	const names = policies.flatMap(({ name }) => name ?? []);
	const others = names.filter((name) => name !== branch).join(", ");
	const page = `${html_url}/settings/environments`;
	return [
		check(what, others !== "" && `gives its secrets to ${others} too: remove that at ${page}`),
		allowed(names.includes(branch)),
	];
}

/** Variables of the workflows that this command sets from its own environment. */
const settable = [
	["HOSTING", "PUBLIC_URL", "CLOUDFLARE_ACCOUNT_ID", "WORKERS_PLAN"],
	["OBJECTS_ENDPOINT", "OBJECTS_BUCKET", "OBJECTS_REGION"],
	["BASE_PATH", "METADATA_URL", "CATALOGUE_URL", "MAP_WKID", "TARGETS", "V2_MAP_SERVER"],
	["SITE", "BASE_MAP", "BASE_MAP_ATTRIBUTION", "REPOSITORY_URL"],
].flat();

export function variablesFrom(environment: Environment): Map<string, string> {
	return new Map(settable.flatMap((name) => (environment[name] ? [[name, environment[name]] as const] : [])));
}

/** The value that a variable of the workflows will have after this command. */
type Variable = (name: string) => string | undefined;

/** Variables that the hosting needs, each with an example. */
function neededVariables(variable: Variable): [string, string][] {
	const needed: [string, string][] = [
		["HOSTING", "workers, objects, or none where npx fragments follow serves"],
	];
	const hosting = variable("HOSTING") ?? "";
	if (["workers", "objects", "none"].includes(hosting))
		needed.push(["PUBLIC_URL", "the address that readers use, once it is known"]);
	if (hosting === "workers") needed.push(["CLOUDFLARE_ACCOUNT_ID", "the id beside the account's name"]);
	if (hosting === "objects") needed.push(["OBJECTS_ENDPOINT", "https://<account>.r2.cloudflarestorage.com"]);
	if (hosting === "objects") needed.push(["OBJECTS_BUCKET", "the bucket's name"]);
	return needed;
}

/** Variables that the workflows read. The fixes set those in `wanted`; others stay as they are. */
export async function variableFindings(
	github: Github,
	wanted: ReadonlyMap<string, string>,
): Promise<Finding[]> {
	const stored = await readVariables(github);
	const { rest, repo } = github;
	const findings = [...wanted].map(([name, value]) => {
		const before = stored.get(name);
		const problem = before === undefined ? `is not set to ${value}` : `is ${before}, not ${value}`;
		const one = { ...repo, name, value };
		return check(`variable ${name}`, before !== value && problem, () =>
			before === undefined ? rest.actions.createRepoVariable(one) : rest.actions.updateRepoVariable(one),
		);
	});
	for (const [name, example] of neededVariables((one) => wanted.get(one) ?? stored.get(one))) {
		const problem = `is not set: run this again with ${name}=${example} in front`;
		if (!wanted.has(name)) findings.push(check(`variable ${name}`, !stored.has(name) && problem));
	}
	return findings;
}

export async function readVariables({ rest, repo, paginate }: Github): Promise<Map<string, string>> {
	const all = await emptyOn404(paginate(rest.actions.listRepoVariables, { ...repo, per_page: 30 }));
	return new Map(all.map(({ name, value }) => [name, value]));
}

/** Whether the secrets exist. GitHub never shows a value, and accepts one only encrypted; `gh` encrypts it. */
export async function secretFindings(
	{ rest, repo, paginate }: Github,
	variable: Variable,
): Promise<Finding[]> {
	const present = new Set<string>();
	for (const environment_name of environmentNames) {
		const about = { ...repo, environment_name, per_page: 100 };
		for (const { name } of await emptyOn404(paginate(rest.actions.listEnvironmentSecrets, about)))
			present.add(`${environment_name} ${name}`);
	}
	const ofRepository = await emptyOn404(paginate(rest.actions.listRepoSecrets, { ...repo, per_page: 100 }));
	const slug = `${repo.owner}/${repo.repo}`;
	const isObjects = variable("HOSTING") === "objects";
	const deploys = variable("HOSTING") === "workers" || (isObjects && variable("CLOUDFLARE_ACCOUNT_ID"));
	const needed = [
		"WORKFLOW_APP_PRIVATE_KEY",
		...(deploys ? ["CLOUDFLARE_API_TOKEN"] : []),
		...(isObjects ? ["OBJECTS_ACCESS_KEY_ID", "OBJECTS_SECRET_ACCESS_KEY"] : []),
	];
	return needed.flatMap((name) => {
		const isKey = name === "WORKFLOW_APP_PRIVATE_KEY";
		const environment: (typeof environmentNames)[number] = isKey ? "review" : "production";
		const what = `secret ${name}`;
		const file = isKey ? "key.pem" : "file";
		const set = `gh secret set ${name} --env ${environment} --repo ${slug} < ${file}`;
		const open = "everyone who may push any branch can read it; it belongs in the environment only";
		const finding = check(what, !present.has(`${environment} ${name}`) && `is not set: ${set}`);
		if (!ofRepository.some((one) => one.name === name)) return [finding];
		const how = `${open}: gh secret delete ${name} --repo ${slug}`;
		return [finding, check(`${what} of the repository`, how)];
	});
}
