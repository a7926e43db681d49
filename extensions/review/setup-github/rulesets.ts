import { isDeepStrictEqual } from "node:util";
import { accountOf, allOwners, matchesGlob, ownersPath, parseOwners } from "../../../registry/owners.ts";
import { readIfThere } from "../../../store/files/if-there.ts";
import { dataOrNull, type Github } from "../../../store/github/answer.ts";
import { reviewFolders } from "../../../store/store.ts";
import { nullIfRefused } from "../pulls.ts";
import { type App, emptyOn404, type Setup } from "./checklist.ts";
import defaultBranch from "./rulesets/default-branch.json" with { type: "json" };
import ownBranches from "./rulesets/own-branches.json" with { type: "json" };
import tags from "./rulesets/tags.json" with { type: "json" };

/** Branches of the service and of the workflow `refresh`, which no other ruleset may restrict. */
const freeBranches = ["register/example", "repair/example", "refresh"];

/** Id of the App of GitHub Actions on github.com: the source of the checks of a workflow's jobs. */
const actionsAppId = 15_368;

/** Lets an administrator merge a pull request that no one else can approve (role 5: repository admin). */
const loneOperatorBypass = { actor_id: 5, actor_type: "RepositoryRole", bypass_mode: "pull_request" };

type Json = Record<string, unknown>;

/** A ruleset as GitHub's REST API takes it ("Create a repository ruleset"). */
interface Ruleset extends Json {
	name: string;
	bypass_actors: Json[];
}

/** Whether one person is the only owner in this clone's owners file. A team is not one person. */
async function hasLoneOperator(): Promise<boolean> {
	const { owners } = parseOwners(await readIfThere(ownersPath));
	const accounts = owners ? allOwners(owners).map(accountOf) : [];
	return accounts[0]?.id !== undefined && accounts.every((account) => account?.id === accounts[0]?.id);
}

/** The rulesets of the files beside this one, with the Apps' ids in place of their names. */
async function rulesetsOf({ rest }: Github, service: App, workflow: App): Promise<Ruleset[]> {
	// GitHub Enterprise Server has another App of GitHub Actions than github.com.
	const asked = rest.apps.getBySlug({ app_slug: "github-actions" });
	const actions = await dataOrNull(asked, "show the App of GitHub Actions");
	const ids: Record<string, number> = {
		...{ SERVICE_APP: service.id, WORKFLOW_APP: workflow.id },
		ACTIONS_APP: actions?.id ?? actionsAppId,
	};
	const fill = (_name: string, value: unknown) => (typeof value === "string" ? (ids[value] ?? value) : value);
	const all = JSON.parse(JSON.stringify([defaultBranch, ownBranches, tags]), fill) as [Ruleset, ...Ruleset[]];
	if (await hasLoneOperator()) all[0].bypass_actors.push(loneOperatorBypass);
	return all;
}

function isObject(value: unknown): value is Json {
	return typeof value === "object" && value !== null;
}

/** Identifies an element of a list: by the type of a rule, the name of a check, or the actor. */
function identityOf(value: unknown): string {
	const members = isObject(value)
		? ["type", "context", "actor_type", "actor_id"].map((name) => value[name])
		: value;
	return JSON.stringify(members);
}

/**
 * Merges the wanted rules into an existing ruleset. Other rules stay. A wanted `false` or 0 leaves the existing value as
 * it is.
 */
function merged(value: unknown, wanted: unknown): unknown {
	if (Array.isArray(wanted)) {
		const present = Array.isArray(value) ? value : [];
		const find = (list: unknown[], one: unknown) =>
			list.find((other) => identityOf(other) === identityOf(one));
		const kept = present.map((one) => {
			const own = find(wanted, one);
			return own === undefined ? one : merged(one, own);
		});
		return [...kept, ...wanted.filter((one) => find(present, one) === undefined)];
	}
	if (!isObject(wanted)) return wanted;
	const members = isObject(value) ? value : {};
	const own = Object.entries(wanted).filter(([, one]) => one !== false && one !== 0);
	return { ...members, ...Object.fromEntries(own.map(([name, one]) => [name, merged(members[name], one)])) };
}

/** Whether the pattern of an exclusion has this ref. A character class or a brace may have any. */
function excludes(pattern: string, ref: string): boolean {
	return /^~|[[{\\]/.test(pattern) || matchesGlob(pattern, ref);
}

/**
 * Takes from a ruleset what weakens it: exclusions of what it protects, and the bypass of a role that is not wanted, such
 * as everyone who may write.
 */
function withoutWeakness(body: Json, wanted: Ruleset, branch: string): Json {
	const { ref_name: names, ...conditions } = body.conditions as { ref_name: { exclude: string[] } };
	const isOfLayers = wanted.name === defaultBranch.name;
	const ownExclusions = (wanted.conditions as { ref_name: { exclude: string[] } }).ref_name.exclude;
	const keeps = (pattern: string) =>
		ownExclusions.includes(pattern) || (isOfLayers && !excludes(pattern, `refs/heads/${branch}`));
	const isWanted = (actor: Json) => wanted.bypass_actors.some((one) => identityOf(one) === identityOf(actor));
	const actors = body.bypass_actors as Json[];
	return {
		...body,
		conditions: { ...conditions, ref_name: { ...names, exclude: names.exclude.filter(keeps) } },
		bypass_actors: actors.filter((one) => one.actor_type !== "RepositoryRole" || isWanted(one)),
	};
}

/** Whether the App has set a check on the branch: GitHub accepts an App as the source of a check only then. */
async function hasSetCheck({ github: { rest, repo, paginate }, branch }: Setup, app: App): Promise<boolean> {
	const listed = paginate(rest.checks.listForRef, {
		...repo,
		ref: `heads/${branch}`,
		app_id: app.id,
		per_page: 100,
	});
	// Where this token may not see checks, GitHub's answer to the ruleset says it.
	const runs = await listed.catch(nullIfRefused);
	return runs === null || runs.length > 0;
}

async function listRulesets({ rest, repo, paginate }: Github) {
	const parameters = { ...repo, includes_parents: false, per_page: 100 };
	return emptyOn404(paginate(rest.repos.getRepoRulesets, parameters));
}

/** Checks the rulesets of the files beside this one. */
export async function checkRulesets(setup: Setup): Promise<void> {
	const { check, outcomes, github, target, branch, apps } = setup;
	const { service, workflow } = apps;
	if (!service || !workflow)
		return check("rulesets", "waits for both Apps: without their bypass every PUT would be refused");
	const { rest, repo } = github;
	const all = await listRulesets(github);
	for (const wanted of await rulesetsOf(github, service, workflow)) {
		const what = `ruleset ${wanted.name}`;
		const listed = all.find(({ name }) => name === wanted.name);
		if (!listed && wanted.name === defaultBranch.name && !(await hasSetCheck(setup, workflow))) {
			const start = `gh workflow run layers.yml --repo ${target.owner.login}/${target.name}`;
			const why = "waits for a first check of the workflows' App, which GitHub wants to see before";
			await check(what, `${why}: ${start}, and run this again once that has ended`);
			continue;
		}
		if (!listed) {
			await check(what, "new", () => rest.repos.createRepoRuleset({ ...repo, ...wanted } as never));
			continue;
		}
		const about = { ...repo, ruleset_id: listed.id };
		const data = (await rest.repos.getRepoRuleset(about)).data as unknown as Json;
		const names = Object.keys(wanted);
		const whole = Object.fromEntries(names.map((name) => [name, merged(data[name], wanted[name])]));
		const body = withoutWeakness(whole, wanted, branch);
		const lacking = names.filter((name) => !isDeepStrictEqual(data[name], body[name]));
		const update = () => rest.repos.updateRepoRuleset({ ...about, ...body } as never);
		await check(what, lacking.length > 0 && `is weaker than it has to be in: ${lacking.join(", ")}`, update);
		for (const actor of body.bypass_actors as Json[]) {
			if (wanted.bypass_actors.some((one) => identityOf(one) === identityOf(actor))) continue;
			const text = `${actor.actor_type} ${actor.actor_id ?? ""} may pass it without an owner, see ${target.html_url}/rules/${listed.id}`;
			outcomes.push({ what: `bypass of the ${what}`, state: "unseen", text });
		}
	}
}

/** Looks for rules that would stop the service: of other rulesets (also the organisation's) and of branch protection. */
export async function checkOtherRules({ check, github, target, branch }: Setup): Promise<void> {
	const { rest, repo } = github;
	const own = (await listRulesets(github)).find(({ name }) => name === ownBranches.name)?.id;
	for (const free of freeBranches) {
		const asked = rest.repos.getBranchRules({ ...repo, branch: free });
		const rules = await emptyOn404(asked.then(({ data }) => data));
		const others = rules.filter(({ ruleset_id }) => ruleset_id === undefined || ruleset_id !== own);
		const types = others.map(({ type }) => type).join(", ");
		const how = "exclude refs/heads/register/**, refs/heads/repair/* and refs/heads/refresh from the ruleset";
		const problem = `has the rules ${types}: ${how}, see ${target.html_url}/settings/rules`;
		await check(`branch ${free}, free of other rules`, others.length > 0 && problem);
	}
	for (const folder of reviewFolders) {
		const found = await dataOrNull(
			rest.repos.getBranch({ ...repo, branch: folder }),
			`show the branch ${folder}`,
		);
		const problem = `is in the way of every ${folder}/…: rename or remove it, see ${target.html_url}/branches`;
		await check(`no branch ${folder}`, found !== null && problem);
	}
	const asked = rest.repos.getBranchProtection({ ...repo, branch });
	const older = await dataOrNull(asked, "show the branch's protection");
	const how = `remove it at ${target.html_url}/settings/branches: the ruleset has its rules`;
	await check(
		`older protection of ${branch}`,
		older !== null && `is on, and knows no bypass of Apps: ${how}`,
	);
}
