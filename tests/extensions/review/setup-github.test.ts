import { readFile } from "node:fs/promises";
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
	clone.write({ "published.env": published, "layers/owners.json": owners });
});
test.before(() => {
	clone = new Repository({ "published.env": published, "layers/owners.json": owners });
	process.chdir(clone.path);
});
test.after(() => {
	process.chdir(root);
	clone.remove();
});

function look(env: Record<string, string> = {}): Promise<Ended> {
	const variables = { GITHUB_TOKEN: token, GITHUB_API_URL: peer.url, ...env };
	return runScript("setup-github", ["maps/layers"], variables);
}

const readFileOf = async (name: string) =>
	JSON.parse(
		(await readFile(join(root, `deploy/github/${name}.json`), "utf8"))
			.replaceAll('"SERVICE_APP"', "4711")
			.replaceAll('"WORKFLOW_APP"', "202"),
	);

/** As GitHub's answers show it: with more members than the files have. */
async function setAll(): Promise<void> {
	const { values } = peer;
	values.set("", { ...values.get(""), ...(await readFileOf("repository")), id: 1 });
	values.set("/actions/permissions", { ...(await readFileOf("actions")), selected_actions_url: "…" });
	values.set("/actions/permissions/selected-actions", await readFileOf("selected-actions"));
	values.set("/actions/permissions/workflow", await readFileOf("token"));
	for (const [name, secret] of [
		["review", "WORKFLOW_APP_PRIVATE_KEY"],
		["production", "CLOUDFLARE_API_TOKEN"],
	]) {
		values.set(`/environments/${name}`, { id: 3, ...(await readFileOf("environment")) });
		const policies = { branch_policies: [{ id: 5, name: "main", type: "branch" }] };
		values.set(`/environments/${name}/deployment-branch-policies`, policies);
		values.set(`/environments/${name}/secrets`, { secrets: [{ name: secret }] });
	}
	const ids = { SERVICE_APP_ID: "4711", WORKFLOW_APP_ID: "202", WORKFLOW_APP_LOGIN: "maps-workflows[bot]" };
	const variables = Object.entries(ids).map(([name, value]) => ({ name, value }));
	values.set("/actions/variables", { variables });
	const rulesets = await Promise.all(["layers", "own-branches", "tags"].map(readFileOf));
	const names = rulesets.map(({ name }, index) => ({ id: index + 1, name }));
	values.set("/rulesets", names);
	for (const [index, ruleset] of rulesets.entries()) {
		const rules = [...ruleset.rules, { type: "required_signatures" }];
		values.set(`/rulesets/${index + 1}`, { id: index + 1, source: "maps/layers", ...ruleset, rules });
	}
}

test("of a new repository everything that differs is printed with its line, each of which docs/production.md has", async () => {
	const { stdout } = await prints(look(), 1, [
		/^actions that may run: enabled, allowed_actions, sha_pinning_required must be as in actions\.json$/m,
		/^secret WORKFLOW_APP_PRIVATE_KEY: is not set$/m,
		/^ruleset layers: is missing$/m,
		/\n\d+ of \d+ settings differ\n$/,
	]);
	const page = await readFile(join(root, "docs/production.md"), "utf8");
	for (const [, line = ""] of stdout.matchAll(/^ {4}(gh .*?)(?: < FILE)?$/gm))
		assert.ok(page.includes(line), line);
	assert.equal(peer.writes, []);
});

test("a repository in which everything is set has no difference, and a private or missing one is named", async () => {
	await setAll();
	await prints(look(), 0, /^0 of \d+ settings differ\n$/);
	assert.equal(peer.writes, []);
	peer.isThere = false;
	await prints(look(), 1, /^ {4}gh repo create maps\/layers --public --source \. --remote layers --push$/m);
});

const differences: [what: string, path: string, change: (value: Json) => unknown, text: RegExp][] = [
	[
		"another branch's secrets",
		"/environments/production/deployment-branch-policies",
		({ branch_policies }) => branch_policies.push({ id: 6, name: "*" }),
		/^environment production: gives its secrets to the branch \*, too\n {4}gh api --method DELETE \S+\/6$/m,
	],
	[
		"a tag with the branch's name",
		"/environments/review/deployment-branch-policies",
		({ branch_policies: [first] }) => Object.assign(first, { type: "tag" }),
		/^branch of the environment review: main is missing$/m,
	],
	[
		"a token that writes",
		"/actions/permissions/workflow",
		(value) => Object.assign(value, { default_workflow_permissions: "write" }),
		/^the workflows' own token: default_workflow_permissions must/m,
	],
	[
		"a check that any App may set",
		"/rulesets/1",
		({ rules }) => {
			for (const { parameters } of rules) delete parameters?.required_status_checks?.[1].integration_id;
		},
		/^ruleset layers: is weaker in rules; .*\n {4}sed .*4711.*--method PUT repos\/maps\/layers\/rulesets\/1 --input -$/m,
	],
	[
		"a team that passes the rules",
		"/rulesets/2",
		({ bypass_actors }) => bypass_actors.push({ actor_id: 7, actor_type: "Team" }),
		/^ruleset branches of the service: is weaker in bypass_actors; Team 7 may pass it without an owner/m,
	],
	[
		"an exclusion",
		"/rulesets/1",
		({ conditions }) => conditions.ref_name.exclude.push("refs/heads/[m]ain"),
		/^ruleset layers: is weaker in conditions/m,
	],
];

for (const [what, path, change, text] of differences)
	test(`${what}: said, with the line`, async () => {
		await setAll();
		change(peer.values.get(path));
		await prints(look(), 1, [text, /settings differ\n$/]);
	});

test("secrets of the repository, other rules and settings that no workflow reads are said", async () => {
	await setAll();
	peer.values.set("/actions/secrets", { secrets: [{ name: "CLOUDFLARE_API_TOKEN" }] });
	peer.values.set("/rules/branches/refresh", [{ type: "update", ruleset_id: 99 }]);
	peer.values.set("/branches/main/protection", {});
	clone.write({ "published.env": `${published}BUCKET=x\n` });
	await prints(look(), 1, [
		/^ {4}gh secret delete CLOUDFLARE_API_TOKEN --repo maps\/layers$/m,
		/^other rules of refresh: are update: exclude/m,
		/^older protection of main: /m,
		/^setting BUCKET: published\.env: no workflow reads it$/m,
		/^4 of/m,
	]);
});

test("where one person owns everything, an administrator may merge", async () => {
	await setAll();
	clone.write({ "layers/owners.json": '{ "operators": ["@ada#7"], "layers": { "*": ["@ada#7"] } }' });
	await prints(look(), 1, /sed '.*"RepositoryRole".*' deploy\/github\/layers\.json/);
});

test("a missing token and a refusal are named, and the token is never printed", async () => {
	await warns(look({ GITHUB_TOKEN: "" }), 2, "GITHUB_TOKEN: must be set");
	const { stdout, stderr } = await exits(look({ GITHUB_API_URL: "http://127.0.0.1:9" }), 2);
	assert.not.match(stdout + stderr, token);
});

test.run();
