import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readTextIfThere } from "../../../store/files/files.ts";
import { checkRulesets, type Difference, has, type Json, type Look, root, type Target } from "./rulesets.ts";

/** Paths below the repository, with the method and the file of deploy/github that set them. */
const files: [what: string, method: string, path: string, file: string][] = [
	["settings of the repository", "PATCH", "", "repository"],
	["actions that may run", "PUT", "/actions/permissions", "actions"],
	["actions of others", "PUT", "/actions/permissions/selected-actions", "selected-actions"],
	["the workflows' own token", "PUT", "/actions/permissions/workflow", "token"],
	["environment review", "PUT", "/environments/review", "environment"],
	["environment production", "PUT", "/environments/production", "environment"],
];

const readSetting = async (name: string): Promise<Json> =>
	JSON.parse(await readFile(join(root, `deploy/github/${name}.json`), "utf8"));

async function checkFiles({ get, check, repository }: Look): Promise<void> {
	for (const [what, method, path, file] of files) {
		const [value, target] = [await get(path), await readSetting(file)];
		const names = Object.keys(target).filter((name) => !has(value?.[name], target[name]));
		const line = `gh api --method ${method} repos/${repository}${path} --input deploy/github/${file}.json`;
		check(what, names.length > 0 && `${names.join(", ")} must be as in ${file}.json`, line);
	}
}

async function checkRepository({ get, check, repository, branch }: Look): Promise<void> {
	const { archived, fork, default_branch, private: isPrivate } = await get("");
	const use = archived
		? "nothing can be written to an archive"
		: fork && "GitHub runs no schedules in a fork";
	check("repository", use && `${use}: make another one`);
	const isElsewhere = default_branch !== branch;
	const line = `gh repo edit ${repository} --default-branch ${branch}`;
	check("default branch", isElsewhere && `is ${default_branch}; or set GITHUB_BRANCH for the service`, line);
	const plans = "needs GitHub Pro, Team or Enterprise for rulesets and for secrets of environments";
	check("private repository", isPrivate && (await get("/rulesets")) === null && plans);
	for (const { name, state } of (await get("/actions/workflows?per_page=100"))?.workflows ?? [])
		check(
			`workflow ${name}`,
			state === "disabled_inactivity" && "was disabled by GitHub after 60 days without activity",
			`gh workflow enable ${JSON.stringify(name)} --repo ${repository}`,
		);
}

/** Checks that an environment gives its secrets to the branch, and to no other branch or tag. */
async function checkEnvironment(
	{ get, check, repository, branch }: Look,
	environment: string,
): Promise<void> {
	const path = `/environments/${environment}/deployment-branch-policies`;
	const policies: Json[] = (await get(`${path}?per_page=100`))?.branch_policies ?? [];
	// A tag of the branch's name is another ref.
	const isBranch = ({ name, type = "branch" }: Json) => name === branch && type === "branch";
	const add = `gh api --method POST repos/${repository}${path} -f name=${branch}`;
	check(`branch of the environment ${environment}`, !policies.some(isBranch) && `${branch} is missing`, add);
	for (const policy of policies.filter((policy) => !isBranch(policy)))
		check(
			`environment ${environment}`,
			`gives its secrets to the ${policy.type ?? "branch"} ${policy.name}, too`,
			`gh api --method DELETE repos/${repository}${path}/${policy.id}`,
		);
}

/** Settings of `published.env` that the workflows read. It is reviewed, which a variable of the repository is not. */
const settable =
	`HOSTING PUBLIC_URL CLOUDFLARE_ACCOUNT_ID WORKERS_PLAN OBJECTS_ENDPOINT OBJECTS_BUCKET OBJECTS_REGION BASE_PATH
	METADATA_URL CATALOGUE_URL MAP_WKID TARGETS V2_MAP_SERVER SITE SITE_NAME_EN SITE_NAME_FR SITE_CONTACT SITE_TERMS_EN
	SITE_TERMS_FR SITE_SIGNATURE SITE_THEME BASE_MAP BASE_MAP_ATTRIBUTION REPOSITORY_URL`.split(/\s+/);

/** HOSTING → further settings that it needs, and secrets of the environment `production`. */
const hostings: Readonly<Record<string, { settings: string[]; secrets: string[] }>> = {
	workers: { settings: ["PUBLIC_URL", "CLOUDFLARE_ACCOUNT_ID"], secrets: ["CLOUDFLARE_API_TOKEN"] },
	objects: {
		settings: ["PUBLIC_URL", "OBJECTS_ENDPOINT", "OBJECTS_BUCKET"],
		secrets: ["OBJECTS_ACCESS_KEY_ID", "OBJECTS_SECRET_ACCESS_KEY"],
	},
	none: { settings: ["PUBLIC_URL"], secrets: [] },
};

async function checkSettings({ get, check, repository, published }: Look): Promise<void> {
	const hosting = published.get("HOSTING") ?? "";
	check("setting HOSTING", !hostings[hosting] && "published.env: must be workers, objects or none");
	for (const name of hostings[hosting]?.settings ?? [])
		check(`setting ${name}`, !published.get(name) && "published.env: is missing");
	for (const name of published.keys())
		check(`setting ${name}`, !settable.includes(name) && "published.env: no workflow reads it");
	const present: Json[] = (await get("/actions/variables?per_page=30"))?.variables ?? [];
	for (const { name } of present)
		check(
			`variable ${name}`,
			settable.includes(name) && "is not read: published.env has the settings",
			`gh variable delete ${name} --repo ${repository}`,
		);
}

/** Checks the secrets. GitHub never shows a value. */
async function checkSecrets({ get, check, repository, published }: Look): Promise<void> {
	const namesOf = async (path: string): Promise<string[]> =>
		((await get(`${path}/secrets?per_page=100`))?.secrets ?? []).map(({ name }: Json) => name);
	const hosting = hostings[published.get("HOSTING") ?? ""];
	const deploys = published.get("HOSTING") === "objects" && published.get("CLOUDFLARE_ACCOUNT_ID");
	const secrets = {
		review: ["WORKFLOW_APP_PRIVATE_KEY"],
		production: [...(hosting?.secrets ?? []), ...(deploys ? ["CLOUDFLARE_API_TOKEN"] : [])],
	};
	const open = await namesOf("/actions");
	for (const [environment, names] of Object.entries(secrets)) {
		const present = await namesOf(`/environments/${environment}`);
		for (const name of names) {
			const set = `gh secret set ${name} --env ${environment} --repo ${repository} < FILE`;
			check(`secret ${name}`, !present.includes(name) && "is not set", set);
			const remove = `gh secret delete ${name} --repo ${repository}`;
			const problem = "everyone who may push a branch can read it; it belongs in the environment only";
			check(`secret ${name} of the repository`, open.includes(name) && problem, remove);
		}
	}
}

/** Compares the settings of a repository with those of deploy/github and docs/production.md. Nothing is written. */
export async function differencesOf(target: Target, read: (path: string) => Promise<Json>) {
	const differences: Difference[] = [];
	let checks = 0;
	const get = (path: string) => read(`repos/${target.repository}${path}`);
	const check: Look["check"] = (what, problem, line) => {
		checks += 1;
		if (problem) differences.push({ what, problem, line });
	};
	const text = (await readTextIfThere("published.env")) ?? "";
	const lines = Array.from(
		text.matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gm),
		([, name = "", value = ""]) => [name, value] as const,
	);
	const look: Look = { ...target, get, check, published: new Map(lines) };
	if ((await get("")) === null) {
		const line = `gh repo create ${target.repository} --public --source . --remote layers --push`;
		check("repository", "GitHub shows none to this token", line);
		return { differences, checks };
	}
	const looks = {
		repository: checkRepository,
		settings: checkFiles,
		"environment review": (look: Look) => checkEnvironment(look, "review"),
		"environment production": (look: Look) => checkEnvironment(look, "production"),
		published: checkSettings,
		secrets: checkSecrets,
		rulesets: checkRulesets,
	};
	for (const [what, inspect] of Object.entries(looks))
		await inspect(look).catch((error: Error) => check(what, `cannot be read: ${error.message}`));
	return { differences, checks };
}
