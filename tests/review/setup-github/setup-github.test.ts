import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runGit } from "../../../git/run.ts";
import { temporaryFolder } from "../../local.ts";
import { type Ended, root, runScript } from "../../process.ts";
import { ownersFile, Repository } from "../repository.ts";
import { type SettingsPeer, startSettingsPeer } from "./settings-peer.ts";

const token = "the-token-of-the-test";

let peer: SettingsPeer;
let origin: string;
let remove: () => Promise<void>;
/** The clone from which it is run. */
let clone: Repository;

test.before(() => {
	clone = new Repository({ "package.json": "{}", "scripts/x.ts": "", "layers/owners.json": ownersFile });
	process.chdir(clone.path);
});

test.after(() => {
	process.chdir(root);
	clone.remove();
});

test.before.each(async () => {
	const folder = await temporaryFolder();
	remove = folder.remove;
	origin = join(folder.path, "origin.git");
	await runGit(folder.path, ["init", "--bare", "--quiet", "-b", "main", origin]);
	peer = await startSettingsPeer(origin);
});

test.after.each(async () => {
	await peer.close();
	await remove();
});

function setUp(words: string[] = [], env: Record<string, string> = {}): Promise<Ended> {
	const own = { GITHUB_TOKEN: token, GITHUB_API_URL: peer.url };
	return runScript("setup-github", ["maps/layers", ...words], { ...own, ...env });
}

/** Everything that the repository is, so that two states can be compared. */
function stateOf(one: SettingsPeer): unknown {
	const { repository, labels, actions, workflow, environment, policies, rulesets, tree } = one;
	return structuredClone({
		...{ repository, labels, actions, workflow, environment, policies, rulesets, tree },
		variables: [...one.variables],
	});
}

async function topOfHead(): Promise<{ path: string; sha: string }[]> {
	const text = (await runGit(clone.path, ["ls-tree", "HEAD"])).toString("utf8").trim();
	return text.split("\n").map((line) => {
		const [about = "", path = ""] = line.split("\t");
		return { path, sha: about.split(" ")[2] as string };
	});
}

/** What a person does between two runs. */
async function doByHand(): Promise<void> {
	peer.tree = await topOfHead();
	peer.apps.set("maps-service", 101).set("maps-workflows", 202);
	peer.installations.push({ app_id: 101, suspended_at: null }, { app_id: 202, suspended_at: null });
	peer.environmentSecrets.push("WORKFLOW_APP_PRIVATE_KEY", "CLOUDFLARE_API_TOKEN");
}

const apps = ["--service-app", "maps-service", "--workflow-app", "maps-workflows"];
const hosting = {
	HOSTING: "workers",
	PUBLIC_URL: "https://fragments.example",
	CLOUDFLARE_ACCOUNT_ID: "abc",
};

test("an empty repository is set up as far as it can be, and says what a person has to do", async () => {
	const { code, stdout, stderr } = await setUp();
	assert.is(code, 1, stderr);
	assert.match(stdout, /^right {6}repository maps\/layers$/m);
	assert.match(stdout, /^set now {4}code on the branch main: /m);
	assert.match(stdout, /^set now {4}environment production: is not there$/m);
	assert.match(stdout, /^missing {4}the service's App: press the button at (\S+) , make a private key/m);
	assert.match(stdout, /^missing {4}ruleset for main: waits for both Apps/m);
	assert.match(
		stdout,
		/^missing {4}secret WORKFLOW_APP_PRIVATE_KEY: .*gh secret set .* --env production .* < key\.pem$/m,
	);
	assert.match(stdout, /^missing {4}variable HOSTING: is not set/m);
	assert.match(stdout, /\n\d+ right, \d+ set now, \d+ missing\n$/);
	const head = (await runGit(clone.path, ["rev-parse", "HEAD"])).toString().trim();
	assert.is((await runGit(origin, ["rev-parse", "refs/heads/main"])).toString().trim(), head);
	assert.equal(
		peer.labels.map(({ name }) => name),
		["layer", "removal", "code", "service"],
	);
	assert.equal(peer.environment?.deployment_branch_policy, {
		protected_branches: false,
		custom_branch_policies: true,
	});
	assert.equal(
		peer.policies.map(({ name }) => name),
		["main"],
	);
	assert.is(peer.workflow.default_workflow_permissions, "read");
	assert.is(peer.workflow.can_approve_pull_request_reviews, true);
	assert.equal(peer.rulesets, []);
});

test("the Apps' addresses are filled in, with these permissions and no webhook", async () => {
	const { stdout } = await setUp();
	const addresses = [...stdout.matchAll(/the button at (\S+)/g)].map(([, url = ""]) => new URL(url));
	assert.equal(
		addresses.map(({ origin: from, pathname }) => from + pathname),
		Array(2).fill("https://github.example/organizations/maps/settings/apps/new"),
	);
	const [service, workflows] = addresses.map(({ searchParams }) => Object.fromEntries(searchParams));
	const common = { url: "https://github.example/maps/layers", public: "false", webhook_active: "false" };
	const write = { contents: "write", pull_requests: "write" };
	assert.equal(service, { name: "layers service", ...common, ...write });
	assert.equal(workflows, {
		name: "layers workflows",
		...common,
		...write,
		statuses: "write",
		members: "read",
	});
});

test("once a person has done the rest everything is right, and a further run writes nothing", async () => {
	await setUp();
	await doByHand();
	const second = await setUp(apps, hosting);
	assert.is(second.code, 0, second.stdout + second.stderr);
	assert.not.match(second.stdout, "missing");
	const state = stateOf(peer);
	peer.writes.length = 0;
	const third = await setUp();
	assert.is(third.code, 0, third.stdout);
	assert.match(third.stdout, /\n\d+ right\n$/);
	assert.equal(peer.writes, []);
	assert.equal(stateOf(peer), state);
});

test("the ruleset asks for both statuses from the workflows' App, and lets both Apps by", async () => {
	await doByHand();
	await setUp(apps, hosting);
	const [ruleset] = peer.rulesets;
	assert.equal(ruleset?.conditions, { ref_name: { include: ["refs/heads/main"], exclude: [] } });
	const bypass = (id: number) => ({ actor_id: id, actor_type: "Integration", bypass_mode: "always" });
	assert.equal(ruleset?.bypass_actors, [bypass(101), bypass(202)]);
	const rules = ruleset?.rules as { type: string; parameters?: Record<string, unknown> }[];
	assert.equal(
		rules.map(({ type }) => type),
		["deletion", "non_fast_forward", "pull_request", "required_status_checks"],
	);
	assert.equal(rules[3]?.parameters?.required_status_checks, [
		{ context: "layers", integration_id: 202 },
		{ context: "owners", integration_id: 202 },
		{ context: "check", integration_id: 15_368 },
	]);
	assert.is(rules[2]?.parameters?.required_approving_review_count, 0);
	assert.equal(Object.fromEntries(peer.variables), {
		...hosting,
		SERVICE_APP_ID: "101",
		WORKFLOW_APP_ID: "202",
		WORKFLOW_APP_LOGIN: "maps-workflows[bot]",
	});
});

test("with CODEOWNERS stale approvals go, and the last push needs one", async () => {
	await doByHand();
	await setUp([...apps, "--codeowners"], hosting);
	const rules = peer.rulesets[0]?.rules as { type: string; parameters?: Record<string, unknown> }[];
	const { parameters } = rules.find(({ type }) => type === "pull_request") ?? {};
	assert.is(parameters?.dismiss_stale_reviews_on_push, true);
	assert.is(parameters?.require_last_push_approval, true);
	assert.is(parameters?.require_code_owner_review, true);
	// A run without it takes nothing away that is stricter.
	const again = await setUp(apps, hosting);
	assert.is(again.code, 0, again.stdout);
	assert.is(parameters?.require_code_owner_review, true);
});

test("a ruleset that somebody has weakened is put right", async () => {
	await doByHand();
	await setUp(apps, hosting);
	const [ruleset] = peer.rulesets;
	assert.ok(ruleset);
	ruleset.enforcement = "disabled";
	ruleset.bypass_actors = (ruleset.bypass_actors as object[]).slice(1);
	const dry = await setUp(["--dry-run"]);
	assert.is(dry.code, 1);
	assert.match(
		dry.stdout,
		/^would set {2}ruleset layers for main: is another one in: enforcement, bypass_actors$/m,
	);
	assert.is(ruleset.enforcement, "disabled");
	assert.is((await setUp()).code, 0);
	assert.is(ruleset.enforcement, "active");
	assert.is((ruleset.bypass_actors as object[]).length, 2);
});

test("--dry-run writes nothing, neither settings nor a branch", async () => {
	const before = stateOf(peer);
	const { code, stdout } = await setUp(["--dry-run"]);
	assert.is(code, 1);
	assert.match(stdout, /^would set {2}code on the branch main: /m);
	assert.match(stdout, /^would set {2}label layer: is not there$/m);
	assert.equal(peer.writes, []);
	assert.equal(stateOf(peer), before);
	assert.is((await runGit(origin, ["for-each-ref"])).length, 0);
});

test("what makes the secrets unsafe is named: another branch of the environment, and secrets of the repository", async () => {
	await doByHand();
	await setUp(apps, hosting);
	peer.policies.push({ name: "*" });
	peer.repositorySecrets.push("CLOUDFLARE_API_TOKEN");
	const { code, stdout } = await setUp();
	assert.is(code, 1);
	assert.match(stdout, /^missing {4}environment production: gives its secrets to \* too: /m);
	assert.match(stdout, /^missing {4}secret CLOUDFLARE_API_TOKEN of the repository: .*gh secret delete/m);
	assert.match(stdout, / 2 missing\n$/);
});

test("rules over register/* and refresh, an older protection and a suspended App are named", async () => {
	await doByHand();
	await setUp(apps, hosting);
	peer.branchRules.set("register/example", [{ type: "creation" }]).set("refresh", [{ type: "update" }]);
	peer.protection = { enforce_admins: {} };
	peer.installations[0] = { app_id: 101, suspended_at: "2026-01-01T00:00:00Z" };
	const { code, stdout } = await setUp();
	assert.is(code, 1);
	assert.match(stdout, /^missing {4}branch register\/example, free of rules: has the rules creation/m);
	assert.match(stdout, /^missing {4}branch refresh, free of rules: has the rules update/m);
	assert.match(stdout, /^missing {4}older protection of main: /m);
	assert.match(stdout, /^missing {4}installation of the service's App: is suspended/m);
	assert.match(stdout, / 4 missing\n$/);
});

test("what GitHub does not show this token is to be looked at, and counts as nothing else", async () => {
	await doByHand();
	await setUp(apps, hosting);
	const message = "Must be an organization owner";
	peer.refusals.push({ path: /orgs\/maps\/installations/, status: 403, message });
	const hidden = await setUp();
	assert.is(hidden.code, 0, hidden.stdout);
	assert.match(hidden.stdout, /^look at {4}installation of the Apps: look whether both are listed at \S+$/m);
	assert.match(hidden.stdout, /\n\d+ right, 1 to look at\n$/);
	peer.refusals.length = 0;
	Object.assign(peer.repository as object, { owner: { login: "maps", type: "User" } });
	const ofUser = await setUp();
	assert.is(ofUser.code, 0, ofUser.stdout);
	assert.match(ofUser.stdout, / 1 to look at\n$/);
});

test("a private repository without a paid plan says what it does not get", async () => {
	await doByHand();
	Object.assign(peer.repository as object, { private: true });
	const message = "Upgrade to GitHub Pro or make this repository public to enable this feature.";
	peer.refusals.push({ path: /rulesets/, status: 403, message });
	const { code, stdout } = await setUp(apps, hosting);
	assert.is(code, 1);
	assert.match(
		stdout,
		/^missing {4}ruleset: .*a private repository needs GitHub Pro, Team or Enterprise for it/m,
	);
	assert.match(stdout, "note: the repository is private. Rulesets and the environment's branches need");
});

test("a fork, an archived repository, and one that is not there", async () => {
	Object.assign(peer.repository as object, { fork: true });
	assert.match(
		(await setUp(["--dry-run"])).stdout,
		/^missing .*: it is a fork, in which GitHub runs no schedules/m,
	);
	Object.assign(peer.repository as object, { archived: true });
	const archived = await setUp();
	assert.match(archived.stdout, /^missing .*: it is archived/m);
	assert.equal(peer.writes, []);
	peer.repository = null;
	const gone = await setUp();
	assert.is(gone.code, 1);
	assert.match(gone.stdout, /^missing {4}repository: maps\/layers is not there.*--create public/m);
	assert.equal(peer.writes, []);
	const made = await setUp(["--create", "private"]);
	assert.match(made.stdout, /^set now {4}repository: /m);
	assert.equal((peer.repository as { private: boolean } | null)?.private, true);
	assert.match(made.stdout, /^set now {4}code on the branch main: /m);
});

test("a repository with commits of its own is not pushed over, and a newer clone is named", async () => {
	peer.tree = [{ path: "README.md", sha: "0".repeat(40) }];
	const foreign = await setUp();
	assert.match(foreign.stdout, /^missing {4}code on the branch main: it lacks .*package\.json/m);
	assert.is((await runGit(origin, ["for-each-ref"])).length, 0);
	peer.tree = (await topOfHead()).map((one) =>
		one.path === "scripts" ? { ...one, sha: "0".repeat(40) } : one,
	);
	const older = await setUp();
	assert.match(older.stdout, /^missing {4}code on the branch main: it differs from this clone in scripts: /m);
});

test("a shallow clone is not pushed", async () => {
	const shallow = new Repository({});
	try {
		shallow.git("fetch", "-q", "--depth", "1", `file://${clone.path}`, "main");
		clone.commit("another", { "scripts/x.ts": "new" });
		shallow.git("fetch", "-q", "--depth", "1", `file://${clone.path}`, "main");
		shallow.git("checkout", "-q", "FETCH_HEAD");
		process.chdir(shallow.path);
		const { code, stdout } = await setUp();
		assert.is(code, 1);
		assert.match(
			stdout,
			/^missing {4}code on the branch main: .*this clone is shallow: git fetch --unshallow$/m,
		);
		assert.is((await runGit(origin, ["for-each-ref"])).length, 0);
	} finally {
		process.chdir(clone.path);
		shallow.remove();
	}
});

test("one App for both is refused, and nothing is written", async () => {
	peer.tree = await topOfHead();
	Object.assign(peer.repository as object, { delete_branch_on_merge: true });
	peer.apps.set("one", 1);
	const { code, stderr } = await setUp(["--service-app", "one", "--workflow-app", "one"]);
	assert.is(code, 2);
	assert.match(stderr, "--workflow-app: must be another App than --service-app");
	assert.equal(peer.writes, []);
});

test("without a token, with a token that may not, and in no case is it printed", async () => {
	const without = await setUp([], { GITHUB_TOKEN: "" });
	assert.is(without.code, 2);
	assert.match(without.stderr, "GITHUB_TOKEN: must be set");
	peer.refusals.push({
		path: /^(?!GET).*labels/,
		status: 403,
		message: "Resource not accessible by personal access token",
	});
	await remove();
	const { code, stdout, stderr } = await setUp();
	assert.is(code, 1);
	assert.match(stdout, /^missing {4}label layer: .*the token lacks a permission/m);
	// The push fails, too: there is nothing to push to.
	assert.match(stdout, /^missing {4}code on the branch main: .*cannot be set: git push/m);
	for (const text of [stdout, stderr]) {
		assert.not.match(text, token);
		assert.not.match(text, Buffer.from(`x-access-token:${token}`).toString("base64"));
	}
});

test.run();
