import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { accountOf, allOwners, ownersPath, parseOwners } from "../../../registry/owners.ts";
import { readIfThere } from "../../../store/files/files.ts";

// biome-ignore lint/suspicious/noExplicitAny: the members are GitHub's, and each check compares those it names
export type Json = any;

/** What all checks need. */
export interface Look {
	/** `owner/name`. */
	repository: string;
	/** The branch of the layers. */
	branch: string;
	/** Reads a path below the repository; null where it is not. */
	get: (path: string) => Promise<Json>;
	/** Notes a problem, or false. @param line the command that sets it right; none where a person has to decide */
	check: (what: string, problem: string | false, line?: string) => void;
	/** `published.env` of this clone: the settings of the workflows. */
	published: ReadonlyMap<string, string>;
}

/** A file of deploy/github. */
export function readTarget(name: string): Promise<string> {
	return readFile(fileURLToPath(new URL(`../../../deploy/github/${name}.json`, import.meta.url)), "utf8");
}

/** The type of a rule, the name of a check, or the value. */
const identityOf = (value: Json) => JSON.stringify(value?.type ?? value?.context ?? value);

/** Whether GitHub's value has all of a file's. What the file leaves off (false, 0, an empty list) may be on. */
export function has(value: Json, target: Json): boolean {
	if (target === false || target === 0) return true;
	if (Array.isArray(target)) {
		const elements: Json[] = Array.isArray(value) ? value : [];
		return target.every((part) =>
			elements.some((element) => identityOf(element) === identityOf(part) && has(element, part)),
		);
	}
	if (typeof target !== "object" || target === null) return value === target;
	return Object.entries(target).every(([name, part]) => has(value?.[name], part));
}

/** Whether one person is the only owner in this clone's owners file. A team is not one person. */
async function hasLoneOperator(): Promise<boolean> {
	const { owners } = parseOwners(await readIfThere(ownersPath));
	const accounts = owners ? allOwners(owners).map(accountOf) : [];
	return accounts[0]?.id !== undefined && accounts.every((account) => account?.id === accounts[0]?.id);
}

/** An administrator (role 5) merges pull requests that no one else can approve. */
const loneOperator = '{ "actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "pull_request" }';

export async function checkRulesets(look: Look): Promise<void> {
	const { get, check, repository } = look;
	const present: Json[] = (await get("/actions/variables?per_page=30"))?.variables ?? [];
	const variable = (name: string) => String(present.find((stored) => stored.name === name)?.value ?? "");
	for (const [name, app] of [
		["SERVICE_APP_ID", "maps-service"],
		["WORKFLOW_APP_ID", "maps-workflows"],
	] as const) {
		const set = `gh variable set ${name} --repo ${repository} --body "$(gh api apps/${app} --jq .id)"`;
		check(`variable ${name}`, !/^\d+$/.test(variable(name)) && "must be the App's id", set);
	}
	const [service, workflow] = [variable("SERVICE_APP_ID"), variable("WORKFLOW_APP_ID")];
	const set = `gh variable set WORKFLOW_APP_LOGIN --repo ${repository} --body 'maps-workflows[bot]'`;
	const isBot = variable("WORKFLOW_APP_LOGIN").endsWith("[bot]");
	check("variable WORKFLOW_APP_LOGIN", !isBot && "must be the login of the workflows' App", set);
	const isSame = service !== "" && service === workflow;
	check("two Apps", isSame && "are one: no workflow may hold the service's key");
	const all: Json[] = (await get("/rulesets?includes_parents=false&per_page=100")) ?? [];
	const script = `s/"SERVICE_APP"/${service || "ID"}/; s/"WORKFLOW_APP"/${workflow || "ID"}/`;
	for (const file of ["layers", "own-branches", "tags"]) {
		const text = await readTarget(file);
		const addition = file === "layers" && (await hasLoneOperator()) ? `${loneOperator},` : "";
		const target = JSON.parse(
			text
				.replaceAll('"SERVICE_APP"', service || "0")
				.replaceAll('"WORKFLOW_APP"', workflow || "0")
				.replace('"bypass_actors": [', `$&${addition}`),
		);
		const id = all.find(({ name }) => name === target.name)?.id;
		const filled = addition === "" ? script : `${script}; s/"bypass_actors": \\[/&${loneOperator},/`;
		const [method, path] = id === undefined ? ["POST", ""] : ["PUT", `/${id}`];
		const line = `sed '${filled}' deploy/github/${file}.json | gh api --method ${method} repos/${repository}/rulesets${path} --input -`;
		const problem = id === undefined ? "is missing" : weaknessOf(await get(`/rulesets/${id}`), target);
		check(`ruleset ${target.name}`, problem, line);
	}
	await checkOtherRules(look, all.find(({ name }) => name === "branches of the service")?.id);
}

/** A further rule does no harm, a further bypass or exclusion does. @returns false if the ruleset is not weaker */
function weaknessOf(ruleset: Json, target: Json): string | false {
	const actors = (list: Json[]) => list.map((actor) => `${actor.actor_type} ${actor.actor_id}`).sort();
	const present = actors(ruleset.bypass_actors ?? []);
	const weak = Object.keys(target).filter((name) => {
		if (name === "bypass_actors") return !isDeepStrictEqual(present, actors(target[name]));
		if (name === "conditions") return !isDeepStrictEqual(ruleset[name], target[name]);
		return !has(ruleset[name], target[name]);
	});
	const others = present.filter((actor) => !actors(target.bypass_actors).includes(actor));
	const bypass = others.map((actor) => `; ${actor} may pass it without an owner`).join("");
	return weak.length > 0 && `is weaker in ${weak.join(", ")}${bypass}; the line replaces it whole`;
}

/** Rules that would stop the service: of other rulesets (also the organisation's) and of branch protection. */
async function checkOtherRules(
	{ get, check, branch }: Look,
	serviceRules: number | undefined,
): Promise<void> {
	for (const name of ["register/example", "repair/example", "refresh"]) {
		const rules: Json[] = (await get(`/rules/branches/${encodeURIComponent(name)}`)) ?? [];
		const types = rules.filter(({ ruleset_id }) => ruleset_id !== serviceRules).map(({ type }) => type);
		const how = "exclude refs/heads/register/**, refs/heads/repair/* and refs/heads/refresh from the ruleset";
		check(`other rules of ${name}`, types.length > 0 && `are ${types.join(", ")}: ${how}`);
	}
	const protection = await get(`/branches/${encodeURIComponent(branch)}/protection`);
	check(`older protection of ${branch}`, protection !== null && "knows no bypass of Apps: remove it");
}
