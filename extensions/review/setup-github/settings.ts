import { dataOrNull, type Github } from "../../../store/github/answer.ts";
import { labels } from "../pulls.ts";
import { emptyOn404, type Setup } from "./checklist.ts";

/** Checks that the labels exist. Their colours and descriptions are not compared: each repository may change them. */
export async function checkLabels({ check, github: { rest, repo, paginate } }: Setup): Promise<void> {
	const all = await emptyOn404(paginate(rest.issues.listLabelsForRepo, { ...repo, per_page: 100 }));
	for (const label of labels) {
		const isThere = all.some(({ name }) => name === label.name);
		const create = () => rest.issues.createLabel({ ...repo, ...label });
		await check(`label ${label.name}`, !isThere && "new", create);
	}
}

/** Checks which actions may run, and the default permissions of the workflows' token. */
export async function checkActions({ check, github: { rest, repo, paginate } }: Setup): Promise<void> {
	const { actions } = rest;
	const asked = actions.getGithubActionsPermissionsRepository(repo);
	const allowed = await dataOrNull(asked, "show which actions may run");
	const isSelected = allowed?.allowed_actions === "selected";
	// GitHub's types do not know the member yet ("Set GitHub Actions permissions for a repository").
	const isPinned = (allowed as { sha_pinning_required?: boolean } | null)?.sha_pinning_required === true;
	const selected = isSelected ? (await actions.getAllowedActionsRepository(repo)).data : null;
	const isRight = allowed?.enabled && isPinned && selected?.github_owned_allowed;
	const limits = "are not limited to GitHub's own, each by the id of a commit";
	await check("actions that may run", !isRight && limits, async () => {
		const wanted = { enabled: true, allowed_actions: "selected" as const, sha_pinning_required: true };
		await actions.setGithubActionsPermissionsRepository({ ...repo, ...wanted });
		const own = { verified_allowed: false, patterns_allowed: [], ...selected, github_owned_allowed: true };
		await actions.setAllowedActionsRepository({ ...repo, ...own });
	});
	const askedToken = actions.getGithubActionsDefaultWorkflowPermissionsRepository(repo);
	const token = await dataOrNull(askedToken, "show what workflows may do");
	const writes = token?.default_workflow_permissions !== "read";
	const readOnly = { ...repo, default_workflow_permissions: "read" as const };
	await check("the workflows' own token", writes && "may write where a workflow does not say so", () =>
		actions.setGithubActionsDefaultWorkflowPermissionsRepository(readOnly),
	);
	// GitHub disables the schedules of a public repository after 60 days without activity.
	const workflows = await emptyOn404(paginate(actions.listRepoWorkflows, { ...repo, per_page: 100 }));
	for (const { id, name, state } of workflows) {
		if (state !== "disabled_inactivity") continue;
		const enable = () => actions.enableWorkflow({ ...repo, workflow_id: id });
		await check(`workflow ${name}`, "was disabled by GitHub after 60 days without activity", enable);
	}
}

/** Checks that an environment of the workflows' secrets exists, and gives them to the default branch only. */
export async function checkEnvironment(
	{ check, github: { rest, repo, paginate }, target }: Setup,
	environment_name: string,
): Promise<void> {
	const { default_branch: branch, html_url } = target;
	const what = `environment ${environment_name}`;
	const about = { ...repo, environment_name };
	const found = await dataOrNull(rest.repos.getEnvironment(about), `show the ${what}`);
	let names: string[] = [];
	if (found?.deployment_branch_policy?.custom_branch_policies) {
		const listed = paginate(rest.repos.listDeploymentBranchPolicies, { ...about, per_page: 100 });
		// A tag of the branch's name is another ref. GitHub Enterprise Server 3.9 and older give no type.
		const policies = (await listed).map(({ name, type = "branch" }) => ({ name, isTag: type === "tag" }));
		names = policies.flatMap(({ name, isTag }) => (isTag ? `the tag ${name}` : (name ?? [])));
		const others = names.filter((name) => name !== branch).join(", ");
		const how = `remove that at ${html_url}/settings/environments`;
		await check(what, others !== "" && `gives its secrets to ${others} too: ${how}`);
	} else {
		const custom = { protected_branches: false, custom_branch_policies: true };
		await check(what, found ? "gives its secrets to other branches" : "new", () =>
			rest.repos.createOrUpdateEnvironment({ ...about, deployment_branch_policy: custom }),
		);
	}
	await check(`${what}, the branch ${branch}`, !names.includes(branch) && "does not get the secrets", () =>
		rest.repos.createDeploymentBranchPolicy({ ...about, name: branch }),
	);
}

/** The file of settings that the workflows read. It is reviewed, which a variable of the repository is not. */
export const settingsPath = "published.env";

/** Settings that the workflows read from that file. */
const settable = [
	["HOSTING", "PUBLIC_URL", "CLOUDFLARE_ACCOUNT_ID", "WORKERS_PLAN"],
	["OBJECTS_ENDPOINT", "OBJECTS_BUCKET", "OBJECTS_REGION"],
	["BASE_PATH", "METADATA_URL", "CATALOGUE_URL", "MAP_WKID", "TARGETS", "V2_MAP_SERVER"],
	[
		"SITE_NAME_EN",
		"SITE_NAME_FR",
		"SITE_CONTACT",
		"SITE_TERMS_EN",
		"SITE_TERMS_FR",
		"SITE_SIGNATURE",
		"SITE_THEME",
	],
	["SITE", "BASE_MAP", "BASE_MAP_ATTRIBUTION", "REPOSITORY_URL"],
].flat();

/** Parses the file as the workflows' action does: `NAME=value` in a line, and everything else is a comment. */
export function parsePublished(text: string): Map<string, string> {
	const lines = text.matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gm);
	return new Map(Array.from(lines, ([, name = "", value = ""]) => [name, value]));
}

/** The variables to set, from the Apps. They name no code and no content: with another App's id its key is no use. */
export function variablesFrom({ service, workflow }: Setup["apps"]) {
	const all = [
		["SERVICE_APP_ID", service?.id] as const,
		["WORKFLOW_APP_ID", workflow?.id] as const,
		["WORKFLOW_APP_LOGIN", workflow?.login] as const,
	];
	return new Map(all.flatMap(([name, value]) => (value ? [[name, String(value)] as const] : [])));
}

/** Settings that the workflows need, each with what to write, and the hostings that need it; all without a list. */
const needed: [name: string, what: string, hostings?: string[]][] = [
	[
		"HOSTING",
		"HOSTING=workers, HOSTING=objects or, where your own machine serves, HOSTING=none",
	],
	["PUBLIC_URL", "PUBLIC_URL=<the address that readers use>", ["workers", "objects", "none"]],
	["CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_ACCOUNT_ID=<the id beside the account's name>", ["workers"]],
	["OBJECTS_ENDPOINT", "OBJECTS_ENDPOINT=https://<account>.r2.cloudflarestorage.com", ["objects"]],
	["OBJECTS_BUCKET", "OBJECTS_BUCKET=<the bucket's name>", ["objects"]],
];

/** Checks the settings of the file in this clone, and that no variable of the repository seems to set one. */
export async function checkSettings({ check, github, published }: Setup): Promise<void> {
	const hosting = published.get("HOSTING") ?? "";
	const isHosting = ["", "workers", "objects", "none"].includes(hosting);
	for (const [name, what, hostings = [hosting]] of needed) {
		const isMissing = !published.get(name) || (name === "HOSTING" && !isHosting);
		if (!hostings.includes(hosting)) continue;
		await check(`setting ${name}`, isMissing && `write ${what} into ${settingsPath}, and commit it`);
	}
	for (const name of published.keys()) {
		const problem = `${settingsPath}: no workflow reads it`;
		if (!settable.includes(name)) await check(`setting ${name}`, problem);
	}
	const { owner, repo } = github.repo;
	for (const name of (await readVariables(github)).keys()) {
		const how = `gh variable delete ${name} --repo ${owner}/${repo}`;
		const problem = `is not read: ${settingsPath} has the settings, since these are reviewed: ${how}`;
		if (settable.includes(name)) await check(`variable ${name}`, problem);
	}
}

/** Checks the variables that the workflows read. The fixes set those in `wanted`; others stay as they are. */
export async function checkVariables({ check, github, wanted }: Setup): Promise<void> {
	const stored = await readVariables(github);
	const { rest, repo } = github;
	for (const [name, value] of wanted) {
		const before = stored.get(name);
		const problem = before === undefined ? `is not set to ${value}` : `is ${before}, not ${value}`;
		const one = { ...repo, name, value };
		await check(`variable ${name}`, before !== value && problem, () =>
			before === undefined ? rest.actions.createRepoVariable(one) : rest.actions.updateRepoVariable(one),
		);
	}
}

export async function readVariables({ rest, repo, paginate }: Github): Promise<Map<string, string>> {
	const all = await emptyOn404(paginate(rest.actions.listRepoVariables, { ...repo, per_page: 30 }));
	return new Map(all.map(({ name, value }) => [name, value]));
}

/** Checks that the secrets exist. GitHub never shows a value, and accepts one only encrypted; `gh` encrypts it. */
export async function checkSecrets({ check, github, published }: Setup): Promise<void> {
	const { rest, repo, paginate } = github;
	const secretsOf = (environment_name: string) =>
		emptyOn404(paginate(rest.actions.listEnvironmentSecrets, { ...repo, environment_name, per_page: 100 }));
	const ofRepository = await emptyOn404(paginate(rest.actions.listRepoSecrets, { ...repo, per_page: 100 }));
	const present = { review: await secretsOf("review"), production: await secretsOf("production") };
	const slug = `${repo.owner}/${repo.repo}`;
	const hosting = published.get("HOSTING");
	const isObjects = hosting === "objects";
	const deploys = hosting === "workers" || (isObjects && published.get("CLOUDFLARE_ACCOUNT_ID"));
	const ofHosting = [
		...(deploys ? ["CLOUDFLARE_API_TOKEN"] : []),
		...(isObjects ? ["OBJECTS_ACCESS_KEY_ID", "OBJECTS_SECRET_ACCESS_KEY"] : []),
	];
	for (const name of ["WORKFLOW_APP_PRIVATE_KEY", ...ofHosting]) {
		const environment = ofHosting.includes(name) ? "production" : "review";
		const isThere = present[environment].some((one) => one.name === name);
		const file = environment === "review" ? "key.pem" : "file";
		const set = `gh secret set ${name} --env ${environment} --repo ${slug} < ${file}`;
		await check(`secret ${name}`, !isThere && `is not set: ${set}`);
		if (!ofRepository.some((one) => one.name === name)) continue;
		const open = "everyone who may push any branch can read it; it belongs in the environment only";
		await check(`secret ${name} of the repository`, `${open}: gh secret delete ${name} --repo ${slug}`);
	}
}
