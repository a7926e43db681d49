import { dataOrNull } from "../../store/github/refusal.ts";
import type { Github } from "../../store/github/routes.ts";
import { type Label, labels } from "../labels.ts";
import { check, emptyOn404, type Finding } from "./finding.ts";
import { type EnvironmentName, environmentNames, type NeededSecret } from "./needs.ts";
import type { Target } from "./repository.ts";

/** The labels that are used. What one looks like is the repository's own taste. */
export async function labelFindings({ rest, repo, paginate }: Github): Promise<Finding[]> {
	const all = await emptyOn404(paginate(rest.issues.listLabelsForRepo, { ...repo, per_page: 100 }));
	return Object.values<Label>(labels).map((label) => {
		const isThere = all.some(({ name }) => name === label.name);
		const create = () => rest.issues.createLabel({ ...repo, ...label });
		return check(`label ${label.name}`, !isThere && "is not there", create);
	});
}

/** Which actions may run, and what the workflows' own token may do where a workflow does not say so itself. */
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

/** An environment that keeps secrets, and the one branch that gets them: the default branch. */
export async function environmentFindings(
	{ rest, repo, paginate }: Github,
	{ default_branch: branch, html_url }: Target,
	environmentName: EnvironmentName,
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

/** Variables that the workflows read; those that this command knows are set, others are kept as they are. */
export async function variableFindings(
	github: Github,
	wanted: ReadonlyMap<string, string>,
	needed: (value: (name: string) => string | undefined) => readonly { name: string; text: string }[],
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
	const others = needed((name) => wanted.get(name) ?? stored.get(name)).filter(
		({ name }) => !wanted.has(name),
	);
	return [
		...findings,
		...others.map(({ name, text }) => check(`variable ${name}`, !stored.has(name) && text)),
	];
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
	const present = new Set<string>();
	for (const environment_name of environmentNames) {
		const about = { ...repo, environment_name, per_page: 100 };
		for (const { name } of await emptyOn404(paginate(rest.actions.listEnvironmentSecrets, about)))
			present.add(`${environment_name} ${name}`);
	}
	const ofRepository = await emptyOn404(paginate(rest.actions.listRepoSecrets, { ...repo, per_page: 100 }));
	const slug = `${repo.owner}/${repo.repo}`;
	return needed.flatMap(({ name, environment }) => {
		const what = `secret ${name}`;
		const file = name.endsWith("PRIVATE_KEY") ? "key.pem" : "file";
		const set = `gh secret set ${name} --env ${environment} --repo ${slug} < ${file}`;
		const open = "everyone who may push any branch can read it; it belongs in the environment only";
		const isOpen = ofRepository.some((one) => one.name === name);
		return [
			check(what, !present.has(`${environment} ${name}`) && `is not set: ${set}`),
			...(isOpen
				? [check(`${what} of the repository`, `${open}: gh secret delete ${name} --repo ${slug}`)]
				: []),
		];
	});
}
