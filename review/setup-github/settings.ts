import type { Github } from "../../store/github/routes.ts";
import { type Label, labels } from "../labels.ts";
import { byHand, type Finding, fixable, right } from "./finding.ts";
import type { Target } from "./repository.ts";

/** Where the workflows' secrets are. */
export const environmentName = "production";

/** A request whose answer says that there is nothing; null then. */
async function orNull<T>(asked: Promise<{ data: T }>): Promise<T | null> {
	return asked.then(
		({ data }) => data,
		(error: { status?: number }) => {
			if (error.status === 404) return null;
			throw error;
		},
	);
}

export async function labelFindings({ rest, repo, paginate }: Github): Promise<Finding[]> {
	const all = await paginate(rest.issues.listLabelsForRepo, { ...repo, per_page: 100 });
	return Object.values<Label>(labels).map(({ name, color, description }) => {
		const what = `label ${name}`;
		const found = all.find((one) => one.name === name);
		const wanted = { ...repo, name, color, description };
		if (!found) return fixable(what, "is not there", () => rest.issues.createLabel(wanted));
		// What it looks like is the repository's own taste.
		return right(what);
	});
}

/** What the workflows' own token may do, where a workflow does not say so itself. */
export async function actionsFindings({ rest, repo }: Github, hasWorkflowApp: boolean): Promise<Finding[]> {
	const { data: actions } = await rest.actions.getGithubActionsPermissionsRepository(repo);
	const findings: Finding[] = [];
	if (!actions.enabled) {
		const enable = () =>
			rest.actions.setGithubActionsPermissionsRepository({ ...repo, enabled: true, allowed_actions: "all" });
		findings.push(fixable("Actions", "are not on", enable));
	}
	const what = "the workflows' own token";
	const { data } = await rest.actions.getGithubActionsDefaultWorkflowPermissionsRepository(repo);
	// Without an App it is this token that opens the weekly pull request.
	const wanted = {
		default_workflow_permissions: "read" as const,
		can_approve_pull_request_reviews: !hasWorkflowApp,
	};
	const isRight =
		data.default_workflow_permissions === "read" &&
		(data.can_approve_pull_request_reviews || !wanted.can_approve_pull_request_reviews);
	const set = () => rest.actions.setGithubActionsDefaultWorkflowPermissionsRepository({ ...repo, ...wanted });
	const problem = "may write without being told so, or may not open pull requests";
	findings.push(isRight ? right(what) : fixable(what, problem, set));
	return findings;
}

/** The environment that keeps the secrets, and the branches that get them. */
export async function environmentFindings(
	{ rest, repo, paginate }: Github,
	target: Target,
	branches: readonly string[],
): Promise<Finding[]> {
	const what = `environment ${environmentName}`;
	const about = { ...repo, environment_name: environmentName };
	const found = await orNull(rest.repos.getEnvironment(about));
	const custom = { protected_branches: false, custom_branch_policies: true };
	const limit = () => rest.repos.createOrUpdateEnvironment({ ...about, deployment_branch_policy: custom });
	const allow = (name: string) =>
		fixable(`${what}, the branch ${name}`, "does not get the secrets", () =>
			rest.repos.createDeploymentBranchPolicy({ ...about, name }),
		);
	if (!found?.deployment_branch_policy?.custom_branch_policies) {
		const problem = found ? "gives its secrets to other branches" : "is not there";
		return [fixable(what, problem, limit), ...branches.map(allow)];
	}
	const policies = await paginate(rest.repos.listDeploymentBranchPolicies, { ...about, per_page: 100 });
	const names = policies.flatMap(({ name }) => (name === undefined ? [] : [name]));
	const others = names.filter((name) => !branches.includes(name));
	const page = `${target.webUrl}/settings/environments`;
	return [
		others.length === 0
			? right(what)
			: byHand(what, `gives its secrets to ${others.join(", ")} too: take that away at ${page}`),
		...branches.map((name) => (names.includes(name) ? right(`${what}, the branch ${name}`) : allow(name))),
	];
}

/** Variables that the workflows read; those that this command knows are set, others are kept as they are. */
export async function variableFindings(
	{ rest, repo, paginate }: Github,
	wanted: ReadonlyMap<string, string>,
	needed: (value: (name: string) => string | undefined) => readonly { name: string; text: string }[],
): Promise<Finding[]> {
	const all = await paginate(rest.actions.listRepoVariables, { ...repo, per_page: 30 });
	const stored = new Map(all.map(({ name, value }) => [name, value]));
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
	const all = await paginate(rest.actions.listRepoVariables, { ...repo, per_page: 30 });
	return new Map(all.map(({ name, value }) => [name, value]));
}

/** Secrets by name: GitHub shows no value, and takes one only encrypted, which `gh` does. */
export async function secretFindings(
	{ rest, repo, paginate }: Github,
	names: readonly string[],
): Promise<Finding[]> {
	const about = { ...repo, environment_name: environmentName };
	const inEnvironment = await orNull(
		paginate(rest.actions.listEnvironmentSecrets, { ...about, per_page: 100 }).then((data) => ({ data })),
	);
	const ofRepository = await paginate(rest.actions.listRepoSecrets, { ...repo, per_page: 100 });
	const isIn = (list: readonly { name: string }[] | null, name: string) =>
		list?.some((one) => one.name === name) ?? false;
	const slug = `${repo.owner}/${repo.repo}`;
	return names.flatMap((name) => {
		const what = `secret ${name}`;
		const file = name.endsWith("PRIVATE_KEY") ? "key.pem" : "file";
		const set = `gh secret set ${name} --env ${environmentName} --repo ${slug} < ${file}`;
		const findings = [isIn(inEnvironment, name) ? right(what) : byHand(what, `is not set: ${set}`)];
		if (isIn(ofRepository, name)) {
			const open = "whoever may push any branch can read it";
			const how = `gh secret delete ${name} --repo ${slug}`;
			findings.push(
				byHand(`${what} of the repository`, `${open}; it belongs in the environment only: ${how}`),
			);
		}
		return findings;
	});
}
