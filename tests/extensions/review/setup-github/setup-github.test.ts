import { join } from "node:path";
import * as assert from "uvu/assert";
import { runGit } from "../../../../store/git/commands/run.ts";
import { type Ended, exits, prints, root, runScript, warns } from "../../../helpers/process.ts";
import { freshSuite, Repository, temporaryFolder } from "../../../helpers/world.ts";
import { ownersFile } from "../repository.ts";
import { type SettingsPeer, startSettingsPeer } from "./settings-peer.ts";

const token = "the-token-of-the-test";
const apps = ["--service-app", "maps-service", "--workflow-app", "maps-workflows"];
const hosting =
	"# what is published\nHOSTING=workers\nPUBLIC_URL=https://fragments.example\nCLOUDFLARE_ACCOUNT_ID=abc\n";

let peer: SettingsPeer;
let origin: string;
/** The clone in which it runs. */
let clone: Repository;

const test = freshSuite("npx fragment-publisher setup-github", async (use) => {
	origin = join(use(await temporaryFolder()).path, "origin.git");
	await runGit(root, ["init", "--bare", "--quiet", "-b", "main", origin]);
	peer = use(await startSettingsPeer(origin));
	clone.write({ "published.env": hosting, "layers/owners.json": ownersFile });
});
test.before(() => {
	const files = { "package.json": "{}", "scripts/x.ts": "", "layers/owners.json": ownersFile };
	clone = new Repository({ ...files, "published.env": hosting });
	process.chdir(clone.path);
});
test.after(() => {
	process.chdir(root);
	clone.remove();
});

function setUp(words: string[] = [], env: Record<string, string> = {}): Promise<Ended> {
	const own = { GITHUB_TOKEN: token, GITHUB_API_URL: peer.url };
	return runScript("setup-github", ["maps/layers", ...words], { ...own, ...env });
}

/** What a person does between two runs. */
async function doByHand(): Promise<void> {
	const top = (await runGit(clone.path, ["ls-tree", "HEAD"])).toString("utf8").trim().split("\n");
	peer.tree = top.map((line) => ({ path: line.split("\t")[1] ?? "", sha: line.split(/[ \t]/)[2] ?? "" }));
	peer.apps.set("maps-service", 101).set("maps-workflows", 202).set("github-actions", 15_368);
	peer.checkedBy.push(202);
	peer.installations.push({ app_id: 101, suspended_at: null }, { app_id: 202, suspended_at: null });
	const secrets = { review: "WORKFLOW_APP_PRIVATE_KEY", production: "CLOUDFLARE_API_TOKEN" };
	for (const [name, secret] of Object.entries(secrets))
		peer.environments.set(name, { policies: [], ...peer.environments.get(name), secrets: [secret] });
}

async function setUpAll(): Promise<void> {
	await doByHand();
	await exits(setUp(apps), 0);
	peer.writes.length = 0;
}

const refs = () => runGit(origin, ["for-each-ref"]).then(String);

test("an empty repository is set up as far as it can be, and says what a person has to do", async () => {
	const { stdout } = await prints(setUp(), 1, [
		/^right {6}repository maps\/layers$/m,
		/^set now {4}code on the branch main: /m,
		/^set now {4}environment production: new/m,
		/^set now {4}label layer: new/m,
		/^missing {4}rulesets: waits for both Apps/m,
		/^missing {4}secret WORKFLOW_APP_PRIVATE_KEY: .*gh secret set .* --env review .* < key\.pem$/m,
	]);
	assert.match(await refs(), clone.head);
	for (const name of ["review", "production"]) {
		const { policies, ...environment } = peer.environments.get(name) ?? { policies: [] };
		const custom = { protected_branches: false, custom_branch_policies: true };
		assert.equal(environment, { deployment_branch_policy: custom, secrets: [] });
		assert.equal(policies, [{ name: "main" }]);
	}
	assert.is(peer.workflow.default_workflow_permissions, "read");
	assert.equal(peer.permissions, { enabled: true, allowed_actions: "selected", sha_pinning_required: true });
	assert.is(peer.selected.github_owned_allowed, true);
	const addresses = [...stdout.matchAll(/the button at (\S+)/g)].map(([, url = ""]) => new URL(url));
	const [service = {}, workflows] = addresses.map(({ searchParams }) => Object.fromEntries(searchParams));
	const write = { contents: "write", pull_requests: "write", public: "false", webhook_active: "false" };
	const common = { url: "https://github.example/maps/layers", ...write };
	assert.equal(service, { name: "layers service", ...common });
	const more = { checks: "write", statuses: "write", members: "read" };
	assert.equal(workflows, { name: "layers workflows", ...common, ...more });
});

test("the rulesets ask for the checks of the workflows' App, and a further run writes nothing", async () => {
	await setUpAll();
	await prints(setUp(), 0, /\n\d+ right\n$/);
	assert.equal(peer.writes, []);
	const [layers, own, tags] = peer.rulesets;
	const bypass = [101, 202].map((id) => ({ actor_id: id, actor_type: "Integration", bypass_mode: "always" }));
	assert.equal([layers?.bypass_actors, own?.bypass_actors], [bypass, bypass]);
	const rules = (layers?.rules ?? []) as {
		parameters?: { required_status_checks?: Record<string, unknown>[] };
	}[];
	const checks = rules.flatMap(({ parameters }) => parameters?.required_status_checks ?? []);
	const sources = Object.fromEntries(checks.map(({ context, integration_id }) => [context, integration_id]));
	assert.equal(sources, { layers: 202, owners: 202, check: 15_368 });
	assert.equal(own?.rules, [{ type: "creation" }, { type: "update" }]);
	const names = /refs\/heads\/register\/\*.*"include":\["~ALL"\],"exclude":\["refs\/tags\/v\*"\]/;
	assert.match(JSON.stringify([own?.conditions, tags]), names);
});

test("--dry-run writes nothing, also for a repository that is not there yet", async () => {
	await prints(setUp(["--dry-run"]), 1, /^would set {2}code on the branch main: /m);
	peer.repository = null;
	await prints(setUp(["--dry-run", "--create", "public"]), 1, /^would set {2}repository maps\/layers: new$/m);
	assert.equal([peer.writes, await refs()], [[], ""]);
	await prints(setUp(), 1, /^missing {4}repository maps\/layers: GitHub shows none .*--create public/m);
	await prints(setUp(["--create", "private"]), 1, [
		/^set now {4}repository maps\/layers: new$/m,
		"note: the repository is private",
	]);
	assert.is((peer as SettingsPeer).repository?.private, true);
});

test("a weakened ruleset is put right, and what an administrator has added stays", async () => {
	await setUpAll();
	const [layers = {}, own = {}] = peer.rulesets as Record<string, unknown>[];
	const actors = layers.bypass_actors as object[];
	const team = { actor_id: 7, actor_type: "Team", bypass_mode: "always" };
	const except = (...exclude: string[]) => ({ ref_name: { include: ["~DEFAULT_BRANCH"], exclude } });
	const rules = layers.rules as object[];
	const dry = "ruleset layers: is weaker than it has to be in: ";
	for (const pattern of ["refs/heads/m*", "refs/heads/[m]ain", "~ALL"]) {
		layers.conditions = except(pattern, "refs/heads/other");
		await prints(setUp(["--dry-run"]), 1, `would set  ${dry}conditions\n`);
	}
	const weaker = [...rules.slice(1), { type: "required_signatures" }];
	Object.assign(layers, { enforcement: "disabled", rules: weaker });
	const role = { actor_id: 4, actor_type: "RepositoryRole", bypass_mode: "always" };
	layers.bypass_actors = [team, role, ...actors.slice(1)];
	own.conditions = except("refs/heads/register/x");
	await prints(setUp(), 0, [
		`set now    ${dry}`,
		"look at    bypass of the ruleset layers: Team 7 may pass it without an owner",
	]);
	assert.is(layers.enforcement, "active");
	assert.equal(layers.conditions, except("refs/heads/other"));
	assert.equal(layers.bypass_actors, [team, actors[1], actors[0]]);
	const types = (layers.rules as { type: string }[]).map(({ type }) => type);
	assert.is(types.length, rules.length + 1);
	assert.ok(types.includes("required_signatures"));
	assert.equal((own.conditions as ReturnType<typeof except>).ref_name.exclude, []);
});

/** What is not right in a repository of which all was set up, and what is said of it. */
const findings: [string, () => unknown, RegExp, code?: number][] = [
	[
		"another branch's secrets",
		() => peer.environments.get("production")?.policies.push({ name: "*" }),
		/^missing {4}environment production: gives its secrets to \* too: /m,
	],
	[
		"secrets of the repository",
		() => peer.repositorySecrets.push("CLOUDFLARE_API_TOKEN"),
		/^missing {4}secret CLOUDFLARE_API_TOKEN of the repository: .*gh secret delete/m,
	],
];

for (const [what, change, text, code = 1] of findings)
	test(`${what}: said in one line`, async () => {
		await setUpAll();
		await change();
		await prints(setUp(), code, text);
	});

test("a missing or weak token and a push that fails are named, and the token is never printed", async () => {
	await warns(setUp([], { GITHUB_TOKEN: "" }), 2, "GITHUB_TOKEN: must be set");
	const message = "Resource not accessible by personal access token";
	peer.refusals.push({ path: /^(?!GET).*labels/, status: 403, message });
	Object.assign(peer.repository ?? {}, { clone_url: join(origin, "gone") });
	const { stdout, stderr } = await prints(setUp(), 1, [
		/^missing {4}label layer: .*the token lacks a permission/m,
		/^missing {4}code on the branch main: .*cannot be set: git push/m,
	]);
	for (const secret of [token, Buffer.from(`x-access-token:${token}`).toString("base64")])
		assert.not.match(stdout + stderr, secret);
});

test.run();
