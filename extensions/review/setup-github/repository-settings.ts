import { readTextIfThere } from "../../../store/files/files.ts";
import { checkRulesets, has, type Json, type Look, readTarget } from "./rulesets.ts";

/** Below the repository, with the method and the file of deploy/github that set them. */
const files: [what: string, method: string, path: string, file: string][] = [
	["settings of the repository", "PATCH", "", "repository"],
	["actions that may run", "PUT", "/actions/permissions", "actions"],
	["actions of others", "PUT", "/actions/permissions/selected-actions", "selected-actions"],
	["the workflows' own token", "PUT", "/actions/permissions/workflow", "token"],
	["environment review", "PUT", "/environments/review", "environment"],
	["environment production", "PUT", "/environments/production", "environment"],
];

async function checkFiles({ get, check, repository }: Look): Promise<void> {
	for (const [what, method, path, file] of files) {
		const [value, target] = [await get(path), JSON.parse(await readTarget(file))];
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

/** An environment gives its secrets to the branch, and to no other branch or tag. */
async function checkEnvironment({ get, check, repository, branch }: Look, environment: string) {
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

/** What the workflows read of `published.env`. It is reviewed, which a variable of the repository is not. */
const settable =
	`HOSTING PUBLIC_URL CLOUDFLARE_ACCOUNT_ID WORKERS_PLAN OBJECTS_ENDPOINT OBJECTS_BUCKET OBJECTS_REGION BASE_PATH
	METADATA_URL CATALOGUE_URL MAP_WKID TARGETS V2_MAP_SERVER SITE SITE_NAME_EN SITE_NAME_FR SITE_CONTACT SITE_TERMS_EN
	SITE_TERMS_FR SITE_SIGNATURE SITE_THEME BASE_MAP BASE_MAP_ATTRIBUTION REPOSITORY_URL`.split(/\s+/);

/** What each HOSTING needs: further settings, and secrets of the environment `production`. */
const hostings: Readonly<Record<string, { settings: string[]; secrets: string[] }>> = {
	workers: { settings: ["PUBLIC_URL", "CLOUDFLARE_ACCOUNT_ID"], secrets: ["CLOUDFLARE_API_TOKEN"] },
	objects: {
		settings: ["PUBLIC_URL", "OBJECTS_ENDPOINT", "OBJECTS_BUCKET"],
		secrets: ["OBJECTS_ACCESS_KEY_ID", "OBJECTS_SECRET_ACCESS_KEY"],
	},
	none: { settings: ["PUBLIC_URL"], secrets: [] },
};

async function checkPublished({ get, check, repository, published }: Look): Promise<void> {
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

/** Compares a repository with deploy/github and docs/production.md. Nothing is written. */
export async function checkSettingsOf(target: Omit<Look, "published">): Promise<void> {
	const { repository, get, check } = target;
	const text = (await readTextIfThere("published.env")) ?? "";
	const matches = text.matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gm);
	const published = new Map(Array.from(matches, ([, name = "", value = ""]) => [name, value]));
	const look: Look = { ...target, published };
	if ((await get("")) === null) {
		const line = `gh repo create ${repository} --public --source . --remote layers --push`;
		return check("repository", "GitHub shows none to this token", line);
	}
	const looks = {
		repository: checkRepository,
		settings: checkFiles,
		"environment review": (look: Look) => checkEnvironment(look, "review"),
		"environment production": (look: Look) => checkEnvironment(look, "production"),
		published: checkPublished,
		secrets: checkSecrets,
		rulesets: checkRulesets,
	};
	for (const [what, inspect] of Object.entries(looks))
		await inspect(look).catch((error: Error) => check(what, `cannot be read: ${error.message}`));
}
