import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { accountOf, allOwners, ownersPath, parseOwners } from "../../../registry/owners.ts";
import { readIfThere } from "../../../store/files/files.ts";

/** A value of GitHub's REST API. */
// biome-ignore lint/suspicious/noExplicitAny: the members are GitHub's, and each check compares those it names
export type Json = any;

/** What a repository has otherwise than it has to be. */
export interface Difference {
	/** `ruleset layers` */
	what: string;
	problem: string;
	/** The command that sets it right; none where a person has to decide. */
	line?: string | undefined;
}

export interface Target {
	/** `owner/name`. */
	repository: string;
	/** The branch of the layers. */
	branch: string;
}

/** What a check looks at, and notes in. */
export interface Look extends Target {
	/** Reads a path below the repository; null where it is not. */
	get: (path: string) => Promise<Json>;
	/** Notes the outcome of a check: a problem, or false. */
	check: (what: string, problem: string | false, line?: string) => void;
	/** The settings of the workflows, in this clone's file. */
	published: ReadonlyMap<string, string>;
}

export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Identifies an element of a list: by the type of a rule, the name of a check, or itself. */
const identityOf = (value: Json) => JSON.stringify(value?.type ?? value?.context ?? value);

/**
 * Whether GitHub's value has all that a file wants. Other members and elements may be there, and what the file leaves off (false,
 * 0, an empty list) may be on.
 */
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

/** Lets an administrator merge a pull request that no one else can approve (role 5: repository admin). */
const loneOperator = '{ "actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "pull_request" }';

/** Checks the ids of the Apps and the rulesets, which name these. */
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
	const isOne = service !== "" && service === workflow;
	check("two Apps", isOne && "are one: no workflow may hold the service's key");
	const all: Json[] = (await get("/rulesets?includes_parents=false&per_page=100")) ?? [];
	const script = `s/"SERVICE_APP"/${service || "ID"}/; s/"WORKFLOW_APP"/${workflow || "ID"}/`;
	for (const file of ["layers", "own-branches", "tags"]) {
		const text = await readFile(join(root, `deploy/github/${file}.json`), "utf8");
		// Only the rules of the branch.
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

/** In what a ruleset is weaker than its file; false if it is not. A further rule does no harm, a further bypass or exclusion does. */
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

/** Looks for rules that would stop the service: of other rulesets (also the organisation's) and of branch protection. */
async function checkOtherRules({ get, check, branch }: Look, own: number | undefined): Promise<void> {
	for (const free of ["register/example", "repair/example", "refresh"]) {
		const rules: Json[] = (await get(`/rules/branches/${encodeURIComponent(free)}`)) ?? [];
		const types = rules.filter(({ ruleset_id }) => ruleset_id !== own).map(({ type }) => type);
		const how = "exclude refs/heads/register/**, refs/heads/repair/* and refs/heads/refresh from the ruleset";
		check(`other rules of ${free}`, types.length > 0 && `are ${types.join(", ")}: ${how}`);
	}
	const protection = await get(`/branches/${encodeURIComponent(branch)}/protection`);
	check(`older protection of ${branch}`, protection !== null && "knows no bypass of Apps: remove it");
}
