import { dataOrNull } from "../../store/github/refusal.ts";
import type { Github } from "../../store/github/routes.ts";
import { type Label, labels } from "../labels.ts";
import { byHand, emptyOn404, type Finding, fixable, right } from "./finding.ts";
import type { Target } from "./repository.ts";

/** Where the workflows' secrets are: the App's key, and those of the hosting. */
export const environmentNames = ["review", "production"] as const;

export type EnvironmentName = (typeof environmentNames)[number];

/** A secret that the workflows need, and the environment that keeps it. */
export interface NeededSecret {
	name: string;
	environment: EnvironmentName;
}

export async function labelFindings({ rest, repo, paginate }: Github): Promise<Finding[]> {
	const all = await emptyOn404(paginate(rest.issues.listLabelsForRepo, { ...repo, per_page: 100 }));
	return Object.values<Label>(labels).map(({ name, color, description }) => {
		const what = `label ${name}`;
		const found = all.find((one) => one.name === name);
		const wanted = { ...repo, name, color, description };
		if (!found) return fixable(what, "is not there", () => rest.issues.createLabel(wanted));
		// What it looks like is the repository's own taste.
		return right(what);
	});
}

/** Which actions may run, and what the workflows' own token may do where a workflow does not say so itself. */
export async function actionsFindings(github: Github): Promise<Finding[]> {
	const { rest, repo } = github;
	const actions = await dataOrNull(
		rest.actions.getGithubActionsPermissionsRepository(repo),
		"show which actions may run",
	);
	const isSelected = actions?.allowed_actions === "selected";
	const isLimited =
		actions?.enabled && (isSelected || actions.allowed_actions === "local_only") && isPinned(actions);
	const selected = isSelected ? (await rest.actions.getAllowedActionsRepository(repo)).data : null;
	const limit = async () => {
		const wanted = { enabled: true, allowed_actions: "selected" as const, sha_pinning_required: true };
		await rest.actions.setGithubActionsPermissionsRepository({ ...repo, ...wanted });
		const own = { verified_allowed: false, patterns_allowed: [], ...selected, github_owned_allowed: true };
		await rest.actions.setAllowedActionsRepository({ ...repo, ...own });
	};
	const isRight = isLimited && selected?.github_owned_allowed;
	const limits = "are not limited to GitHub's own, each by the id of a commit";
	const what = "the workflows' own token";
	const token = await dataOrNull(
		rest.actions.getGithubActionsDefaultWorkflowPermissionsRepository(repo),
		"show what workflows may do",
	);
	const set = () =>
		rest.actions.setGithubActionsDefaultWorkflowPermissionsRepository({
			...repo,
			default_workflow_permissions: "read",
		});
	return [
		isRight ? right("actions that may run") : fixable("actions that may run", limits, limit),
		token?.default_workflow_permissions === "read"
			? right(what)
			: fixable(what, "may write where a workflow does not say so", set),
		...(await scheduleFindings(github)),
	];
}

/** GitHub's types do not know the member yet ("Set GitHub Actions permissions for a repository"). */
function isPinned(actions: object): boolean {
	return (actions as { sha_pinning_required?: boolean }).sha_pinning_required === true;
}

/** GitHub disables the schedules of a public repository after 60 days without activity. */
async function scheduleFindings({ rest, repo, paginate }: Github): Promise<Finding[]> {
	const all = await emptyOn404(paginate(rest.actions.listRepoWorkflows, { ...repo, per_page: 100 }));
	return all
		.filter(({ state }) => state === "disabled_inactivity")
		.map(({ id, name }) => {
			const enable = () => rest.actions.enableWorkflow({ ...repo, workflow_id: id });
			return fixable(`workflow ${name}`, "was disabled by GitHub after 60 days without activity", enable);
		});
}

/** An environment that keeps secrets, and the one branch that gets them: the default branch. */
export async function environmentFindings(
	{ rest, repo, paginate }: Github,
	target: Target,
	environmentName: EnvironmentName,
): Promise<Finding[]> {
	const branch = target.defaultBranch;
	const what = `environment ${environmentName}`;
	const ofBranch = `${what}, the branch ${branch}`;
	const about = { ...repo, environment_name: environmentName };
	const found = await dataOrNull(rest.repos.getEnvironment(about), `show the ${what}`);
	const custom = { protected_branches: false, custom_branch_policies: true };
	const limit = () => rest.repos.createOrUpdateEnvironment({ ...about, deployment_branch_policy: custom });
	const allow = fixable(ofBranch, "does not get the secrets", () =>
		rest.repos.createDeploymentBranchPolicy({ ...about, name: branch }),
	);
	if (!found?.deployment_branch_policy?.custom_branch_policies)
		return [fixable(what, found ? "gives its secrets to other branches" : "is not there", limit), allow];
	const policies = await paginate(rest.repos.listDeploymentBranchPolicies, { ...about, per_page: 100 });
	const names = policies.flatMap(({ name }) => name ?? []);
	const others = names.filter((name) => name !== branch);
	const page = `${target.webUrl}/settings/environments`;
	return [
		others.length === 0
			? right(what)
			: byHand(what, `gives its secrets to ${others.join(", ")} too: remove that at ${page}`),
		names.includes(branch) ? right(ofBranch) : allow,
	];
}

/** Variables that the workflows read; those that this command knows are set, others are kept as they are. */
export async function variableFindings(
	github: Github,
	wanted: ReadonlyMap<string, string>,
	needed: (value: (name: string) => string | undefined) => readonly { name: string; text: string }[],
): Promise<Finding[]> {
	const stored = await readVariables(github);
	const { rest, repo } = github;
	const findings = [...wanted].map(([name, value]) => {
		const what = `variable ${name}`;
		if (stored.get(name) === value) return right(what);
		const one = { ...repo, name, value };
		return stored.has(name)
			? fixable(what, `is ${stored.get(name)}, not ${value}`, () => rest.actions.updateRepoVariable(one))
			: fixable(what, `is not set to ${value}`, () => rest.actions.createRepoVariable(one));
	});
	const variable = (name: string) => wanted.get(name) ?? stored.get(name);
	for (const { name, text } of needed(variable)) {
		if (wanted.has(name)) continue;
		findings.push(stored.has(name) ? right(`variable ${name}`) : byHand(`variable ${name}`, text));
	}
	return findings;
}

/** The variables of a repository, by their names. */
export async function readVariables({ rest, repo, paginate }: Github): Promise<Map<string, string>> {
	const all = await emptyOn404(paginate(rest.actions.listRepoVariables, { ...repo, per_page: 30 }));
	return new Map(all.map(({ name, value }) => [name, value]));
}

/** Secrets by name: GitHub shows no value, and takes one only encrypted, which `gh` does. */
export async function secretFindings(
	{ rest, repo, paginate }: Github,
	needed: readonly NeededSecret[],
): Promise<Finding[]> {
	const inEnvironments = new Map<EnvironmentName, string[]>();
	for (const name of environmentNames) {
		const about = { ...repo, environment_name: name, per_page: 100 };
		const listed = await emptyOn404(paginate(rest.actions.listEnvironmentSecrets, about));
		inEnvironments.set(
			name,
			listed.map((one) => one.name),
		);
	}
	const ofRepository = await emptyOn404(paginate(rest.actions.listRepoSecrets, { ...repo, per_page: 100 }));
	const slug = `${repo.owner}/${repo.repo}`;
	return needed.flatMap(({ name, environment }) => {
		const what = `secret ${name}`;
		const file = name.endsWith("PRIVATE_KEY") ? "key.pem" : "file";
		const set = `gh secret set ${name} --env ${environment} --repo ${slug} < ${file}`;
		const isSet = inEnvironments.get(environment)?.includes(name);
		const findings = [isSet ? right(what) : byHand(what, `is not set: ${set}`)];
		if (ofRepository.some((one) => one.name === name)) {
			const open = "everyone who may push any branch can read it";
			const how = `gh secret delete ${name} --repo ${slug}`;
			findings.push(
				byHand(`${what} of the repository`, `${open}; it belongs in the environment only: ${how}`),
			);
		}
		return findings;
	});
}
