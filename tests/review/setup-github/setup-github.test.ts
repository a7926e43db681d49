import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { runGit } from "../../../system/git/run.ts";
import { type Ended, exits, prints, root, runScript, warns } from "../../helpers/process.ts";
import { freshSuite, Repository, temporaryFolder } from "../../helpers/world.ts";
import { ownersFile } from "../repository.ts";
import { type SettingsPeer, startSettingsPeer } from "./settings-peer.ts";

const token = "the-token-of-the-test";

let peer: SettingsPeer;
let origin: string;
/** The clone from which it is run. */
let clone: Repository;

const test = freshSuite("npx fragment-publisher setup-github", async (use) => {
	const folder = use(await temporaryFolder()).path;
	origin = join(folder, "origin.git");
	await runGit(folder, ["init", "--bare", "--quiet", "-b", "main", origin]);
	peer = use(await startSettingsPeer(origin));
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

/** Everything that the repository is, so that two states can be compared. */
function stateOf(one: SettingsPeer): unknown {
	const { repository, labels, actions, selected, workflow, environments, rulesets, tree } = one;
	return structuredClone({
		...{ repository, labels, actions, selected, workflow, environments, rulesets, tree },
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
	peer.apps.set("maps-service", 101).set("maps-workflows", 202).set("github-actions", 15_368);
	peer.checkedBy.push(202);
	peer.installations.push({ app_id: 101, suspended_at: null }, { app_id: 202, suspended_at: null });
	for (const [name, secret] of [
		["review", "WORKFLOW_APP_PRIVATE_KEY"],
		["production", "CLOUDFLARE_API_TOKEN"],
	] as const) {
		const before = peer.environments.get(name) ?? { policies: [], secrets: [] };
		peer.environments.set(name, { ...before, secrets: [secret] });
	}
}

/** A repository of which everything is set up. */
async function setUpAll(): Promise<void> {
	await doByHand();
	await setUp(apps);
}

const apps = ["--service-app", "maps-service", "--workflow-app", "maps-workflows"];
const hosting = `# what is published
HOSTING=workers
PUBLIC_URL=https://fragments.example
CLOUDFLARE_ACCOUNT_ID=abc
`;

test("an empty repository is set up as far as it can be, and says what a person has to do", async () => {
	const { stdout } = await prints(setUp(), 1, /^right {6}repository maps\/layers$/m);
	assert.match(stdout, /^set now {4}code on the branch main: /m);
	for (const name of ["review", "production"])
		assert.match(stdout, new RegExp(`^set now {4}environment ${name}: new$`, "m"));
	assert.match(stdout, /^missing {4}the service's App: press the button at (\S+) , make a private key/m);
	assert.match(stdout, /^missing {4}rulesets: waits for both Apps/m);
	assert.match(
		stdout,
		/^missing {4}secret WORKFLOW_APP_PRIVATE_KEY: .*gh secret set .* --env review .* < key\.pem$/m,
	);
	assert.match(stdout, /\n\d+ right, \d+ set now, \d+ missing\n$/);
	const head = (await runGit(clone.path, ["rev-parse", "HEAD"])).toString().trim();
	assert.is((await runGit(origin, ["rev-parse", "refs/heads/main"])).toString().trim(), head);
	const names = peer.labels.map(({ name }) => name);
	assert.equal(names, ["layer", "removal", "code", "service"]);
	for (const name of ["review", "production"]) {
		const { policies, ...environment } = peer.environments.get(name) ?? { policies: [] };
		assert.equal((environment as Record<string, unknown>).deployment_branch_policy, {
			protected_branches: false,
			custom_branch_policies: true,
		});
		assert.equal(policies, [{ name: "main" }]);
	}
	assert.is(peer.workflow.default_workflow_permissions, "read");
	assert.is(peer.workflow.can_approve_pull_request_reviews, false);
	assert.equal(peer.actions, { enabled: true, allowed_actions: "selected", sha_pinning_required: true });
	assert.is(peer.selected.github_owned_allowed, true);
	assert.equal(peer.rulesets, []);
});

test("the Apps' addresses are filled in, with these permissions and no webhook", async () => {
	const { stdout } = await setUp();
	const addresses = [...stdout.matchAll(/the button at (\S+)/g)].map(([, url = ""]) => new URL(url));
	const found = addresses.map(({ origin: from, pathname }) => from + pathname);
	assert.equal(found, Array(2).fill("https://github.example/organizations/maps/settings/apps/new"));
	const [service, workflows] = addresses.map(({ searchParams }) => Object.fromEntries(searchParams));
	const common = { url: "https://github.example/maps/layers", public: "false", webhook_active: "false" };
	const write = { contents: "write", pull_requests: "write" };
	assert.equal(service, { name: "layers service", ...common, ...write });
	assert.equal(workflows, {
		name: "layers workflows",
		...common,
		...write,
		checks: "write",
		statuses: "write",
		members: "read",
	});
});

test("once a person has done the rest everything is right, and a further run writes nothing", async () => {
	await setUp();
	await doByHand();
	const second = await exits(setUp(apps), 0);
	assert.not.match(second.stdout, "missing");
	const state = stateOf(peer);
	peer.writes.length = 0;
	await prints(setUp(), 0, /\n\d+ right\n$/);
	assert.equal(peer.writes, []);
	assert.equal(stateOf(peer), state);
});

test("a ruleset asks for both checks from the workflows' App; another keeps the service's branches to the Apps", async () => {
	await setUpAll();
	const [ruleset, own] = peer.rulesets;
	assert.equal(ruleset?.conditions, { ref_name: { include: ["~DEFAULT_BRANCH"], exclude: [] } });
	const bypass = (id: number) => ({ actor_id: id, actor_type: "Integration", bypass_mode: "always" });
	assert.equal(ruleset?.bypass_actors, [bypass(101), bypass(202)]);
	assert.equal(own?.bypass_actors, [bypass(101), bypass(202)]);
	const include = [
		"refs/heads/register/*",
		"refs/heads/register/**/*",
		"refs/heads/repair/*",
		"refs/heads/repair/**/*",
		"refs/heads/pictures",
		"refs/heads/refresh",
	];
	assert.equal(own?.conditions, { ref_name: { include, exclude: [] } });
	assert.equal(own?.rules, [{ type: "creation" }, { type: "update" }]);
	// `git fetch origin main` would take a tag called main.
	const tags = peer.rulesets[2];
	assert.equal(tags?.conditions, { ref_name: { include: ["~ALL"], exclude: ["refs/tags/v*"] } });
	assert.equal(tags?.rules, [{ type: "creation" }, { type: "update" }]);
	assert.is(tags?.target, "tag");
	const rules = ruleset?.rules as { type: string; parameters?: Record<string, unknown> }[];
	assert.equal(
		rules.map(({ type }) => type),
		["deletion", "non_fast_forward", "required_linear_history", "pull_request", "required_status_checks"],
	);
	assert.equal(rules[4]?.parameters?.required_status_checks, [
		{ context: "layers", integration_id: 202 },
		{ context: "owners", integration_id: 202 },
		{ context: "check", integration_id: 15_368 },
	]);
	assert.is(rules[3]?.parameters?.required_approving_review_count, 0);
	assert.equal(Object.fromEntries(peer.variables), {
		SERVICE_APP_ID: "101",
		WORKFLOW_APP_ID: "202",
		WORKFLOW_APP_LOGIN: "maps-workflows[bot]",
	});
});

test("one person who owns everything may merge as an administrator; a team needs no such way", async () => {
	await doByHand();
	const lone = { operators: ["@Ada#7"], layers: { "*": ["@ada#7"] } };
	clone.write({ "layers/owners.json": JSON.stringify(lone) });
	try {
		await exits(setUp(apps), 0);
		const bypass = { actor_id: 5, actor_type: "RepositoryRole", bypass_mode: "pull_request" };
		const actors = peer.rulesets.map(({ bypass_actors }) => bypass_actors as object[]);
		assert.equal(actors[0]?.[2], bypass);
		assert.is(actors[1]?.length, 2);
	} finally {
		clone.write({ "layers/owners.json": ownersFile });
	}
	// Once there are more owners, the way past them is closed.
	const later = await setUp();
	assert.match(later.stdout, /^set now {4}ruleset layers: is weaker than it has to be in: bypass_actors$/m);
	assert.is((peer.rulesets[0]?.bypass_actors as object[] | undefined)?.length, 2);
});

test("what an administrator has added to a ruleset stays, and a second run writes nothing", async () => {
	await setUpAll();
	const [ruleset] = peer.rulesets;
	assert.ok(ruleset);
	const team = { actor_id: 7, actor_type: "Team", bypass_mode: "always" };
	const actors = ruleset.bypass_actors as object[];
	const rules = ruleset.rules as { type: string; parameters?: Record<string, unknown> }[];
	ruleset.bypass_actors = [team, ...actors.slice(1)];
	ruleset.conditions = { ref_name: { include: ["~DEFAULT_BRANCH", "refs/heads/other"], exclude: [] } };
	rules.push({ type: "required_signatures" });
	Object.assign(rules[3]?.parameters ?? {}, { required_approving_review_count: 2 });
	const checks = rules[4]?.parameters?.required_status_checks as object[];
	checks.splice(0, 1, { context: "own", integration_id: 9 });
	await prints(setUp(), 0, /^look at {4}bypass of the ruleset layers: Team 7 may pass it without an owner/m);
	const after = peer.rulesets[0] as typeof ruleset;
	assert.equal(after.bypass_actors, [team, actors[1], actors[0]]);
	assert.equal(after.conditions, ruleset.conditions);
	const afterRules = after.rules as typeof rules;
	assert.ok(afterRules.some(({ type }) => type === "required_signatures"));
	assert.is(afterRules[3]?.parameters?.required_approving_review_count, 2);
	const afterChecks = afterRules[4]?.parameters?.required_status_checks as { context: string }[];
	assert.equal(afterChecks.map(({ context }) => context).sort(), ["check", "layers", "own", "owners"]);
	peer.writes.length = 0;
	await exits(setUp(), 0);
	assert.equal(peer.writes, []);
});

test("a schedule that GitHub has disabled is named, and started again", async () => {
	await setUpAll();
	peer.workflows.push(
		{ id: 1, name: "refresh", state: "disabled_inactivity" },
		{ id: 2, name: "layers", state: "active" },
		{ id: 3, name: "packages", state: "disabled_manually" },
	);
	const dry = await setUp(["--dry-run"]);
	assert.match(dry.stdout, /^would set {2}workflow refresh: was disabled by GitHub after 60 days/m);
	await exits(setUp(), 0);
	const states = peer.workflows.map(({ state }) => state);
	assert.equal(states, ["active", "active", "disabled_manually"]);
});

test("a dry run of a repository that is not there yet shows everything that would be set", async () => {
	peer.repository = null;
	const { stdout } = await exits(setUp(["--dry-run", "--create", "public"]), 1);
	const lines = stdout.trim().split("\n");
	const would = (what: string) =>
		assert.ok(
			lines.some((line) => line.startsWith(`would set  ${what}`)),
			`${what} in\n${stdout}`,
		);
	for (const what of ["repository maps/layers: new", "settings of the repository", "code on the branch main"])
		would(what);
	for (const what of ["label layer", "actions that may run", "the workflows' own token"]) would(what);
	for (const what of ["review", "production", "production, the branch main"]) would(`environment ${what}`);
	assert.match(stdout, /^missing {4}the service's App: press the button at /m);
	assert.ok(lines.length > 14, stdout);
	assert.equal(peer.writes, []);
});

test("a setting that GitHub does not find after the push is reported with what to do", async () => {
	peer.refusals.push({
		path: /\/labels|\/variables|\/environments|\/secrets/,
		status: 404,
		message: "Not Found",
	});
	const { stdout } = await prints(setUp(), 1, [
		/^set now {4}code on the branch main: /m,
		/^missing {4}label layer: .*the token may not see it \(404, Not Found\): a fine-grained/m,
		/^missing {4}environment review: .*a fine-grained token needs the permissions/m,
	]);
	assert.not.match(stdout, /: Not Found$/m);
});

test("a ruleset that was weakened is put right", async () => {
	await setUpAll();
	const [ruleset] = peer.rulesets;
	assert.ok(ruleset);
	ruleset.enforcement = "disabled";
	ruleset.bypass_actors = (ruleset.bypass_actors as object[]).slice(1);
	await prints(setUp(["--dry-run"]), 1, [
		/^would set {2}ruleset layers: is weaker than it has to be in: enforcement, bypass_actors$/m,
	]);
	assert.is(ruleset.enforcement, "disabled");
	await exits(setUp(), 0);
	assert.is(ruleset.enforcement, "active");
	assert.is((ruleset.bypass_actors as object[]).length, 2);
});

test("an exclusion of the branch, and the bypass of everyone who may write, are put right", async () => {
	await setUpAll();
	const [ruleset, own] = peer.rulesets;
	assert.ok(ruleset && own);
	const [conditions, actors] = [ruleset.conditions, ruleset.bypass_actors] as [object, object[]];
	const except = (...exclude: string[]) => ({ ref_name: { include: ["~DEFAULT_BRANCH"], exclude } });
	const patterns = ["refs/heads/main", "refs/heads/m*", "refs/heads/[m]ain", "~DEFAULT_BRANCH", "~ALL"];
	for (const pattern of patterns) {
		ruleset.conditions = except(pattern, "refs/heads/other");
		const { stdout } = await exits(setUp(["--dry-run"]), 1);
		assert.match(stdout, /^would set {2}ruleset layers: is weaker than it has to be in: conditions$/m);
	}
	own.conditions = {
		...(own.conditions as object),
		ref_name: { ...except("refs/heads/register/x").ref_name },
	};
	ruleset.bypass_actors = [...actors, { actor_id: 4, actor_type: "RepositoryRole", bypass_mode: "always" }];
	await prints(setUp(), 0, [
		/^set now {4}ruleset layers: is weaker than it has to be in: conditions, bypass_actors$/m,
		/^set now {4}ruleset branches of the service: is weaker .*: conditions$/m,
	]);
	assert.equal(ruleset.conditions, except("refs/heads/other"));
	assert.equal(ruleset.bypass_actors, actors);
	assert.equal(conditions, except());
});

test("what is published is set in a reviewed file, and no variable can change it", async () => {
	await doByHand();
	peer.variables.set("TARGETS", "v1").set("OTHER", "of theirs");
	try {
		for (const [text, problem] of [
			["", /^missing {4}setting HOSTING: write HOSTING=workers, HOSTING=objects or, /m],
			["HOSTING=elsewhere\n", /^missing {4}setting HOSTING: write HOSTING=workers, /m],
			["HOSTING=none\n", /^missing {4}setting PUBLIC_URL: write PUBLIC_URL=/m],
			["HOSTING=objects\n", /^missing {4}setting OBJECTS_BUCKET: write OBJECTS_BUCKET=/m],
			["NODE_OPTIONS=x\n", /^missing {4}setting NODE_OPTIONS: published\.env: no workflow reads it$/m],
		] as const) {
			clone.write({ "published.env": text });
			assert.match((await setUp(["--dry-run", ...apps])).stdout, problem);
		}
	} finally {
		clone.write({ "published.env": hosting });
	}
	await prints(setUp(apps, { HOSTING: "objects" }), 1, [
		/^right {6}setting HOSTING$/m,
		/^missing {4}variable TARGETS: is not read: .*: gh variable delete TARGETS --repo maps\/layers$/m,
		/ 1 missing\n$/,
	]);
	assert.equal(
		[...peer.variables.keys()],
		["TARGETS", "OTHER", "SERVICE_APP_ID", "WORKFLOW_APP_ID", "WORKFLOW_APP_LOGIN"],
	);
});

test("the ruleset waits until the workflows' App has set a check", async () => {
	await doByHand();
	peer.checkedBy = [101];
	await prints(setUp(apps), 1, [
		/^missing {4}ruleset layers: waits for a first check .*: gh workflow run layers\.yml --repo maps\/layers, and/m,
	]);
	const names = peer.rulesets.map(({ name }) => name);
	assert.equal(names, ["branches of the service", "tags"]);
	peer.checkedBy.push(202);
	await exits(setUp(), 0);
	assert.is(peer.rulesets.length, 3);
});

test("an unknown App is named, and everything else is checked", async () => {
	await doByHand();
	const { code, stdout } = await setUp(["--service-app", "maps-servcie", "--workflow-app", "maps-workflows"]);
	assert.is(code, 1);
	assert.match(
		stdout,
		/^missing {4}the service's App: GitHub shows no App called maps-servcie; its name is in/m,
	);
	assert.match(stdout, /^right {6}the workflows' App, 202$/m);
	assert.match(stdout, /^set now {4}label layer: new$/m);
});

test("--dry-run writes nothing, neither settings nor a branch", async () => {
	const before = stateOf(peer);
	const { stdout } = await prints(setUp(["--dry-run"]), 1, /^would set {2}code on the branch main: /m);
	assert.match(stdout, /^would set {2}label layer: new$/m);
	assert.equal(peer.writes, []);
	assert.equal(stateOf(peer), before);
	assert.is((await runGit(origin, ["for-each-ref"])).length, 0);
});

test("what makes the secrets unsafe is named: another branch of the environment, and secrets of the repository", async () => {
	await setUpAll();
	peer.environments.get("production")?.policies.push({ name: "*" });
	peer.repositorySecrets.push("CLOUDFLARE_API_TOKEN");
	const { stdout } = await exits(setUp(), 1);
	assert.match(stdout, /^missing {4}environment production: gives its secrets to \* too: /m);
	assert.match(stdout, /^missing {4}secret CLOUDFLARE_API_TOKEN of the repository: .*gh secret delete/m);
	assert.match(stdout, / 2 missing\n$/);
});

test("an environment that gives its secrets to a tag called main is named", async () => {
	await setUpAll();
	const review = peer.environments.get("review");
	review?.policies.splice(0, Infinity, { name: "main", type: "tag" });
	const { stdout } = await exits(setUp(["--dry-run"]), 1);
	assert.match(stdout, /^missing {4}environment review: gives its secrets to the tag main too: /m);
	assert.match(stdout, /^would set {2}environment review, the branch main: does not get the secrets$/m);
});

test("rules over register/* and refresh, an older protection and a suspended App are named", async () => {
	await setUpAll();
	const own = { type: "creation", ruleset_id: 2 };
	peer.branchRules.set("register/example", [own, { type: "deletion" }]);
	peer.branchRules.set("refresh", [{ type: "update", ruleset_id: 9 }]);
	peer.protection = { enforce_admins: {} };
	peer.installations[0] = { app_id: 101, suspended_at: "2026-01-01T00:00:00Z" };
	await prints(setUp(), 1, [
		/^missing {4}branch register\/example, free of other rules: has the rules deletion: /m,
		/^missing {4}branch refresh, free of other rules: has the rules update/m,
		/^missing {4}older protection of main: /m,
		/^missing {4}installation of the service's App: is suspended/m,
		/ 4 missing\n$/,
	]);
});

test("what GitHub does not show this token is to be checked by hand, and is in no other group", async () => {
	await setUpAll();
	const message = "Must be an organization owner";
	peer.refusals.push({ path: /orgs\/maps\/installations/, status: 403, message });
	const hidden = await exits(setUp(), 0);
	assert.match(hidden.stdout, /^look at {4}installation of the Apps: look whether both are listed at \S+$/m);
	assert.match(hidden.stdout, /\n\d+ right, 1 to look at\n$/);
	peer.refusals.length = 0;
	Object.assign(peer.repository as object, { owner: { login: "maps", type: "User" } });
	await prints(setUp(), 0, / 1 to look at\n$/);
});

test("a private repository without a paid plan says what it does not get", async () => {
	await doByHand();
	Object.assign(peer.repository as object, { private: true });
	const message = "Upgrade to GitHub Pro or make this repository public to enable this feature.";
	peer.refusals.push({ path: /rulesets/, status: 403, message });
	await prints(setUp(apps), 1, [
		/^missing {4}rulesets: .*a private repository needs GitHub Pro, Team or Enterprise for it/m,
		"note: the repository is private. Rulesets and environments with secrets need",
	]);
});

test("a fork, an archived repository and a missing one are refused", async () => {
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
	await prints(setUp(), 1, /^missing {4}repository maps\/layers: GitHub shows none .*--create public/m);
	assert.equal(peer.writes, []);
	const made = await setUp(["--create", "private"]);
	assert.match(made.stdout, /^set now {4}repository maps\/layers: new$/m);
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
		await prints(setUp(), 1, [
			/^missing {4}code on the branch main: .*this clone is shallow: git fetch --unshallow$/m,
		]);
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
	const { stderr } = await exits(setUp(["--service-app", "one", "--workflow-app", "one"]), 2);
	assert.match(stderr, "--workflow-app: must be another App than --service-app");
	assert.equal(peer.writes, []);
});

test("a missing or too weak token is refused, and the token is never printed", async () => {
	await warns(setUp([], { GITHUB_TOKEN: "" }), 2, "GITHUB_TOKEN: must be set");
	peer.refusals.push({
		path: /^(?!GET).*labels/,
		status: 403,
		message: "Resource not accessible by personal access token",
	});
	await rm(origin, { recursive: true });
	const { stdout, stderr } = await exits(setUp(), 1);
	assert.match(stdout, /^missing {4}label layer: .*the token lacks a permission/m);
	// The push fails, too: there is nothing to push to.
	assert.match(stdout, /^missing {4}code on the branch main: .*cannot be set: git push/m);
	for (const text of [stdout, stderr]) {
		assert.not.match(text, token);
		assert.not.match(text, Buffer.from(`x-access-token:${token}`).toString("base64"));
	}
});

test.run();
