// npx fragment-publisher setup-github: compares the settings of a repository with deploy/github and docs/production.md
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { readConfiguration } from "../../../api/service/settings.ts";
import { parseOwners } from "../../../registry/owners.ts";
import { ownersPath } from "../../../registry/smallkey.ts";
import { plain } from "../../../registry/untrusted.ts";
import { createRun, exitCodes } from "../../../scripts/terminal/command-line.ts";
import { readIfThere, readTextIfThere } from "../../../store/files/files.ts";
import { orNull } from "../../../store/github/client.ts";
import { accountOf, allOwners } from "../approvals/approvals.ts";
import { connectToGithub } from "../github.ts";

// biome-ignore lint/suspicious/noExplicitAny: the members are GitHub's, and each check compares those it names
type Json = any;

interface Connection {
	repository: string;
	branch: string;
	/** Null where GitHub answers 404. */
	get: (path: string) => Promise<Json>;
	/** @param line the command that solves it, unless a person has to decide */
	check: (what: string, problem: string | false, line?: string) => void;
}

function readExpected(name: string): Promise<string> {
	return readFile(fileURLToPath(new URL(`../../../deploy/github/${name}.json`, import.meta.url)), "utf8");
}

const settingFiles: [what: string, path: string, file: string][] = [
	["settings of the repository", "", "repository"],
	["actions that may run", "/actions/permissions", "actions"],
	["actions of others", "/actions/permissions/selected-actions", "selected-actions"],
	["the workflows' own token", "/actions/permissions/workflow", "token"],
	["environment review", "/environments/review", "environment"],
	["environment production", "/environments/production", "environment"],
];

async function checkSettings({ get, check, repository }: Connection) {
	for (const [what, path, file] of settingFiles) {
		const settings = await get(path);
		const expected = JSON.parse(await readExpected(file));
		const names = Object.keys(expected).filter((name) => !meets(settings?.[name], expected[name]));
		const method = path === "" ? "PATCH" : "PUT";
		const line = `gh api --method ${method} repos/${repository}${path} --input deploy/github/${file}.json`;
		check(what, names.length > 0 && `${names.join(", ")} must be as in ${file}.json`, line);
	}
}

/** The type of a rule, the name of a check, or the value. */
const identityOf = (value: Json) => JSON.stringify(value?.type ?? value?.context ?? value);

/** What the file has off (false, 0, an empty list) may be on. */
function meets(value: Json, expected: Json): boolean {
	if (expected === false || expected === 0) return true;
	if (Array.isArray(expected)) {
		const elements: Json[] = [value ?? []].flat();
		return expected.every((part) =>
			elements.some((element) => identityOf(element) === identityOf(part) && meets(element, part)),
		);
	}
	if (typeof expected !== "object" || expected === null) return value === expected;
	return Object.entries(expected).every(([name, part]) => meets(value?.[name], part));
}

/** Only the branch gets the secrets of an environment. */
async function checkEnvironments({ get, check, repository, branch }: Connection) {
	for (const environment of ["review", "production"]) {
		const path = `/environments/${environment}/deployment-branch-policies`;
		const policies: Json[] = (await get(`${path}?per_page=100`))?.branch_policies ?? [];
		// A tag of the branch's name is another ref.
		const others = policies.filter(({ name, type = "branch" }) => name !== branch || type !== "branch");
		const isMissing = others.length === policies.length;
		const add = `gh api --method POST repos/${repository}${path} -f name=${branch}`;
		check(`branch of the environment ${environment}`, isMissing && `${branch} is missing`, add);
		for (const { id, name, type = "branch" } of others) {
			const remove = `gh api --method DELETE repos/${repository}${path}/${id}`;
			check(`environment ${environment}`, `gives its secrets to the ${type} ${name}, too`, remove);
		}
	}
}

/** HOSTING → settings beside PUBLIC_URL, and secrets of the environment `production`. */
const hostings: Readonly<Record<string, { settings: string[]; secrets: string[] }>> = {
	workers: { settings: ["CLOUDFLARE_ACCOUNT_ID"], secrets: ["CLOUDFLARE_API_TOKEN"] },
	objects: {
		settings: ["OBJECTS_ENDPOINT", "OBJECTS_BUCKET"],
		secrets: ["OBJECTS_ACCESS_KEY_ID", "OBJECTS_SECRET_ACCESS_KEY"],
	},
	none: { settings: [], secrets: [] },
};

/** `published.env` is reviewed; a variable of the repository is not. */
async function checkHosting({ get, check, repository }: Connection) {
	const matches = ((await readTextIfThere("published.env")) ?? "").matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gm);
	const published = new Map(Array.from(matches, ([, name = "", value = ""]) => [name, value]));
	const hostingName = published.get("HOSTING") ?? "";
	const hosting = hostings[hostingName];
	check("setting HOSTING", !hosting && "published.env: must be workers, objects or none");
	for (const name of ["PUBLIC_URL", ...(hosting?.settings ?? [])])
		check(`setting ${name}`, !published.get(name) && "published.env: is missing");
	const namesOf = async (path: string): Promise<string[]> =>
		((await get(`${path}/secrets?per_page=100`))?.secrets ?? []).map(({ name }: Json) => name);
	const deploysWorker = hostingName === "objects" && published.get("CLOUDFLARE_ACCOUNT_ID");
	const secrets = {
		review: ["WORKFLOW_APP_PRIVATE_KEY"],
		production: [...(hosting?.secrets ?? []), ...(deploysWorker ? ["CLOUDFLARE_API_TOKEN"] : [])],
	};
	const repositorySecrets = await namesOf("/actions");
	for (const [environment, names] of Object.entries(secrets)) {
		const present = await namesOf(`/environments/${environment}`);
		for (const name of names) {
			const set = `gh secret set ${name} --env ${environment} --repo ${repository} < FILE`;
			check(`secret ${name}`, !present.includes(name) && "is not set", set);
			const remove = `gh secret delete ${name} --repo ${repository}`;
			const problem = "everyone who may push a branch can read it; it belongs in the environment only";
			check(`secret ${name} of the repository`, repositorySecrets.includes(name) && problem, remove);
		}
	}
}

const appVariables: [name: string, rule: RegExp, problem: string, value: string][] = [
	["SERVICE_APP_ID", /^\d+$/, "must be the App's id", '"$(gh api apps/maps-service --jq .id)"'],
	["WORKFLOW_APP_ID", /^\d+$/, "must be the App's id", '"$(gh api apps/maps-workflows --jq .id)"'],
	["WORKFLOW_APP_LOGIN", /\[bot\]$/, "must be the login of the workflows' App", "'maps-workflows[bot]'"],
];

/** An administrator (role 5) merges what no one else can approve. */
const loneOperator = '{ "actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "pull_request" }';

/** @returns the ids of the Apps; `""` if not set */
async function checkAppVariables({ get, check, repository }: Connection) {
	const listed: Json[] = (await get("/actions/variables?per_page=30"))?.variables ?? [];
	const variables = new Map(listed.map(({ name, value }) => [name, `${value}`]));
	for (const [name, rule, problem, value] of appVariables) {
		const set = `gh variable set ${name} --repo ${repository} --body ${value}`;
		check(`variable ${name}`, !rule.test(variables.get(name) ?? "") && problem, set);
	}
	const [service = "", workflow = ""] = appVariables.map(([name]) => variables.get(name));
	const isSame = service !== "" && service === workflow;
	check("two Apps", isSame && "are one: no workflow may hold the service's key");
	return { service, workflow };
}

async function checkRulesets(connection: Connection) {
	const { get, check, repository } = connection;
	const { service, workflow } = await checkAppVariables(connection);
	const rulesets: Json[] = (await get("/rulesets?includes_parents=false&per_page=100")) ?? [];
	const { owners } = parseOwners(await readIfThere(ownersPath));
	// A team is not one person.
	const ids = new Set((owners ? allOwners(owners) : []).map((owner) => accountOf(owner)?.id));
	const isLone = ids.size === 1 && !ids.has(undefined);
	for (const file of ["layers", "own-branches", "tags"]) {
		const addition = file === "layers" && isLone ? `${loneOperator},` : "";
		const text = (await readExpected(file))
			.replaceAll('"SERVICE_APP"', service || "0")
			.replaceAll('"WORKFLOW_APP"', workflow || "0")
			.replace('"bypass_actors": [', `$&${addition}`);
		const expected = JSON.parse(text);
		const id = rulesets.find(({ name }) => name === expected.name)?.id;
		const script = `s/"SERVICE_APP"/${service || "ID"}/; s/"WORKFLOW_APP"/${workflow || "ID"}/`;
		const filled = addition === "" ? script : `${script}; s/"bypass_actors": \\[/&${addition}/`;
		const [method, path] = id === undefined ? ["POST", ""] : ["PUT", `/${id}`];
		const line = `sed '${filled}' deploy/github/${file}.json | gh api --method ${method} repos/${repository}/rulesets${path} --input -`;
		const problem = id === undefined ? "is missing" : weaknessOf(await get(`/rulesets/${id}`), expected);
		check(`ruleset ${expected.name}`, problem, line);
	}
}

/** Further rules do no harm, further bypasses and exclusions do. @returns false if it is not weaker */
function weaknessOf(ruleset: Json, expected: Json): string | false {
	const actorsOf = ({ bypass_actors = [] }: Json): string[] =>
		bypass_actors.map((actor: Json) => `${actor.actor_type} ${actor.actor_id}`).sort();
	const actors = actorsOf(ruleset);
	const expectedActors = actorsOf(expected);
	const weak = Object.keys(expected).filter((name) => {
		if (name === "bypass_actors") return !isDeepStrictEqual(actors, expectedActors);
		if (name === "conditions") return !isDeepStrictEqual(ruleset[name], expected[name]);
		return !meets(ruleset[name], expected[name]);
	});
	const others = actors.filter((actor) => !expectedActors.includes(actor));
	const bypass = others.map((actor) => `; ${actor} may pass it without an owner`).join("");
	return weak.length > 0 && `is weaker in ${weak.join(", ")}${bypass}; the line replaces it whole`;
}

const help = `
It writes nothing. GITHUB_TOKEN: a token of a person who administers the repository, such as that of gh auth token. A fine-grained
one reads Administration, Actions, Environments, Secrets and Variables. Run it in a clone, which has published.env and the owners.`;

export const run = createRun(async ({ read, environment, io }) => {
	const [, repository] = await read((line) =>
		line.argument("<owner/name>", "the repository").addHelpText("after", help),
	);
	if (!environment.GITHUB_TOKEN)
		throw new Error("GITHUB_TOKEN: must be set, to a token that may administer the repository");
	const configuration = readConfiguration({ ...environment, GITHUB_REPOSITORY: repository });
	const { request } = connectToGithub(configuration);
	let [checks, differences] = [0, 0];
	const connection: Connection = {
		repository,
		branch: configuration.github?.branch ?? "main",
		get: (path) => orNull(request(`GET /repos/${repository}${path}`)),
		check(what, problem, line) {
			checks += 1;
			if (!problem) return;
			differences += 1;
			io.print(plain(`${what}: ${problem}`));
			if (line) io.print(`    ${plain(line)}`);
		},
	};
	if ((await connection.get("")) === null) {
		const line = `gh repo create ${repository} --public --source . --remote layers --push`;
		connection.check("repository", "GitHub shows none to this token", line);
	} else {
		await checkSettings(connection);
		await checkEnvironments(connection);
		await checkHosting(connection);
		await checkRulesets(connection);
	}
	io.print(`${differences} of ${checks} settings differ`);
	return differences === 0 ? exitCodes.done : exitCodes.wrong;
});
