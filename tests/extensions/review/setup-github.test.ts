import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { type Ended, exits, prints, root, runScript, warns } from "../../helpers/process.ts";
import { freshSuite, Repository } from "../../helpers/world.ts";
import { type Json, type SettingsPeer, startSettingsPeer } from "./settings-peer.ts";

const token = "the-token-of-the-test";
const published = "HOSTING=workers\nPUBLIC_URL=https://fragments.example\nCLOUDFLARE_ACCOUNT_ID=abc\n";
const owners = '{ "operators": ["@ada#7"], "layers": { "*": ["@bob#8"] } }';

let peer: SettingsPeer;
let clone: Repository;

const test = freshSuite("npx fragment-publisher setup-github", async (use) => {
	peer = use(await startSettingsPeer());
	clone = use(new Repository({ "published.env": published, "layers/owners.json": owners }));
	process.chdir(clone.path);
	use(() => process.chdir(root));
});

function look(env: Record<string, string> = {}): Promise<Ended> {
	const variables = { GITHUB_TOKEN: token, GITHUB_API_URL: peer.url, ...env };
	return runScript("setup-github", ["maps/layers"], variables);
}

function fileOf(name: string): Json {
	const text = readFileSync(join(root, `deploy/github/${name}.json`), "utf8");
	return JSON.parse(text.replaceAll('"SERVICE_APP"', "4711").replaceAll('"WORKFLOW_APP"', "202"));
}

/** As GitHub's answers show it: with more members than the files have. */
function setAll(): void {
	const set = (path: string, value: Json) =>
		peer.values.set(path, { ...peer.values.get(path), id: 1, ...value });
	set("", fileOf("repository"));
	set("/actions/permissions", fileOf("actions"));
	set("/actions/permissions/selected-actions", fileOf("selected-actions"));
	set("/actions/permissions/workflow", fileOf("token"));
	for (const [name, secret] of Object.entries({
		review: "WORKFLOW_APP_PRIVATE_KEY",
		production: "CLOUDFLARE_API_TOKEN",
	})) {
		const path = `/environments/${name}`;
		set(path, fileOf("environment"));
		set(`${path}/deployment-branch-policies`, { branch_policies: [{ id: 5, name: "main", type: "branch" }] });
		set(`${path}/secrets`, { secrets: [{ name: secret }] });
	}
	const ids = { SERVICE_APP_ID: "4711", WORKFLOW_APP_ID: "202", WORKFLOW_APP_LOGIN: "maps-workflows[bot]" };
	set("/actions/variables", { variables: Object.entries(ids).map(([name, value]) => ({ name, value })) });
	const rulesets = ["layers", "own-branches", "tags"].map((name, index) => ({
		...fileOf(name),
		id: index + 1,
	}));
	peer.values.set("/rulesets", rulesets);
	for (const ruleset of rulesets)
		set(`/rulesets/${ruleset.id}`, {
			...ruleset,
			rules: [...ruleset.rules, { type: "required_signatures" }],
		});
}

test("of a new repository everything that differs is printed with its line, each of which docs/production.md has", async () => {
	const { stdout } = await prints(look(), 1, [
		/^actions that may run: enabled, allowed_actions, sha_pinning_required must be as in actions\.json$/m,
		/^secret WORKFLOW_APP_PRIVATE_KEY: is not set$/m,
		/^ruleset layers: is missing$/m,
		/\n\d+ of \d+ settings differ\n$/,
	]);
	const page = readFileSync(join(root, "docs/production.md"), "utf8");
	for (const [, line = ""] of stdout.matchAll(/^ {4}(gh .*?)(?: < FILE)?$/gm))
		assert.ok(page.includes(line), line);
	assert.equal(peer.writes, []);
});

test("a repository in which everything is set has no difference, and a private or missing one is named", async () => {
	setAll();
	await prints(look(), 0, /^0 of \d+ settings differ\n$/);
	assert.equal(peer.writes, []);
	peer.isThere = false;
	await prints(look(), 1, /^ {4}gh repo create maps\/layers --public --source \. --remote layers --push$/m);
});

test("whatever is weaker than it should be is said, with the line", async () => {
	setAll();
	const settingAt = (path: string) => peer.values.get(path);
	settingAt("/environments/production/deployment-branch-policies").branch_policies.push({ id: 6, name: "*" });
	// A tag of the branch's name.
	settingAt("/environments/review/deployment-branch-policies").branch_policies[0].type = "tag";
	settingAt("/actions/permissions/workflow").default_workflow_permissions = "write";
	// A check that any App may set.
	const { rules, conditions } = settingAt("/rulesets/1");
	for (const { parameters } of rules) delete parameters?.required_status_checks?.[1].integration_id;
	conditions.ref_name.exclude.push("refs/heads/[m]ain");
	settingAt("/rulesets/2").bypass_actors.push({ actor_id: 7, actor_type: "Team" });
	peer.values.set("/actions/secrets", { secrets: [{ name: "CLOUDFLARE_API_TOKEN" }] });
	clone.write({ "published.env": published.replace("PUBLIC_URL", "PUBLIC_URI") });
	await prints(look(), 1, [
		/^environment production: gives its secrets to the branch \*, too\n {4}gh api --method DELETE \S+\/6$/m,
		/^branch of the environment review: main is missing$/m,
		/^the workflows' own token: default_workflow_permissions must/m,
		/^ruleset layers: is weaker in conditions, rules; .*\n {4}sed .*4711.*--method PUT repos\/maps\/layers\/rulesets\/1 --input -$/m,
		/^ruleset branches of the service: is weaker in bypass_actors; Team 7 may pass it without an owner/m,
		/^ {4}gh secret delete CLOUDFLARE_API_TOKEN --repo maps\/layers$/m,
		/^setting PUBLIC_URL: published\.env: is missing$/m,
		/^8 of/m,
	]);
});

test("where one person owns everything, an administrator may merge", async () => {
	setAll();
	clone.write({ "layers/owners.json": '{ "operators": ["@ada#7"], "layers": { "*": ["@ada#7"] } }' });
	await prints(look(), 1, /sed '.*"RepositoryRole".*' deploy\/github\/layers\.json/);
});

test("a missing token and a refusal are named, and the token is never printed", async () => {
	await warns(look({ GITHUB_TOKEN: "" }), 2, "GITHUB_TOKEN: must be set");
	const { stdout, stderr } = await exits(look({ GITHUB_API_URL: "http://127.0.0.1:9" }), 2);
	assert.not.match(stdout + stderr, token);
});

test.run();
