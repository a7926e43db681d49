import { join } from "node:path";
import * as assert from "uvu/assert";
import { readConfiguration } from "../../../../api/service/settings.ts";
import { judgePull } from "../../../../extensions/review/approvals/judge-pull.ts";
import { openPulls } from "../../../../extensions/review/approvals/pull-state.ts";
import { connectToGithub } from "../../../../extensions/review/github.ts";
import { parseOwners } from "../../../../registry/owners.ts";
import { textsOf } from "../../../../registry/texts.ts";
import { exits, prints, root, runScript } from "../../../helpers/process.ts";
import { freshSuite, Repository, writeFiles } from "../../../helpers/world.ts";
import { bot, idOf, type PeerPull, type ReviewPeer, startReviewPeer } from "./review-peer.ts";

const named = (login: string) => `@${login}#${idOf(login)}`;
const ownersFile = {
	operators: [named("boss")],
	layers: {
		"*": ["@maps/reviewers", named("rita")],
		"energy-*": ["@maps/energy"],
	},
};
const parse = (file: object) => parseOwners(new TextEncoder().encode(JSON.stringify(file)));
const { owners } = parse(ownersFile);
const [head, older] = ["a".repeat(40), "b".repeat(40)];

let peer: ReviewPeer;
let teams: Map<string, { login: string; id: number }[]>;
const members = (...logins: string[]) => logins.map((login) => ({ login, id: idOf(login) }));

const test = freshSuite("approvals of owners", async (use) => {
	peer = use(await startReviewPeer());
	teams = new Map([
		["@maps/reviewers", members("Ann", "bob")],
		["@maps/energy", members("eve")],
	]);
});

const layer = { filename: "layers/ab/abc.json" };
const energy = { filename: "layers/en/energy-x.json" };

function propose(parts: Partial<PeerPull> = {}): PeerPull {
	const basics = { author: "carl", from: "carl:change", base: "main", sha: head };
	const number = peer.pulls.length + 1;
	const pull = { number, ...basics, files: [layer], reviews: [], ...parts };
	peer.pulls.push(pull);
	return pull;
}

const approval = (login: string, commit = head) => ({ login, state: "APPROVED", commit });

const asked = () =>
	peer.comments
		.map(({ body }) => body)
		.filter((body) => body.startsWith("<!-- fragment-publisher: asked -->"));

/** Judges all pull requests, the merge of each being what GitHub lists, or this one. */
async function judge(known = owners, merge?: { paths: string[]; obstacle: string | null }) {
	const github = connectToGithub(readConfiguration(peer.env));
	const lines: string[] = [];
	for (const pull of await openPulls(github, "main")) {
		const { files = [] } = peer.pulls.find(({ number }) => number === pull.number) ?? {};
		const paths = files.flatMap((file) => [file.filename, file.previous_filename ?? file.filename]);
		const readMerge = async () => merge ?? { paths: [...new Set(paths)], obstacle: null };
		const run = { base: "main", teams, author: bot, isMentioning: true, github, owners: known, readMerge };
		lines.push(await judgePull(run, pull));
	}
	return lines;
}

const can = (people: string) => `failure: can still approve: ${people}`;
const anyone = can("Ann, bob, rita");
const isApproved = "success: approved by bob";
const refresh = {
	author: bot,
	from: "maps:refresh",
	files: [{ filename: "layers/ab/abc.service.json" }, { filename: "layers/health.json" }],
};
const byBob = { reviews: [approval("bob")] };
const bobThen = (state: string) => ({ reviews: [approval("bob"), { ...approval("bob"), state }] });
const byService = { author: "maps-service[bot]", from: "maps:register/abc" };

const judged: [what: string, parts: Partial<PeerPull>, judgement: string][] = [
	["an owner by a team, in other letters", { reviews: [approval("ANN")] }, "success: approved by Ann"],
	[
		"an owner of each group",
		{ files: [layer, energy], reviews: [approval("bob"), approval("eve")] },
		`${isApproved}, eve`,
	],
	["the author", { author: "ann", reviews: [approval("Ann")] }, can("bob, rita")],
	["an approval of an older commit", { reviews: [approval("bob", older)] }, anyone],
	["a dismissed approval", bobThen("DISMISSED"), anyone],
	["an owner of other layers", { reviews: [approval("eve")] }, anyone],
	[
		"a renamed layer, which has the owners of both names",
		{ files: [{ ...layer, previous_filename: energy.filename }], ...byBob },
		can("eve"),
	],
	["the weekly refresh", refresh, "success: needs no approval"],
	["a refresh with a registration", { ...refresh, files: [...refresh.files, layer] }, anyone],
	["a fork's branch refresh", { ...refresh, from: "carl:refresh" }, can("Ann, bob, rita, boss")],
	["a refresh of another author", { ...refresh, author: "carl" }, can("Ann, bob, rita, boss")],
	[
		"approvals by an author and a committer of its commits",
		{
			...byService,
			commits: [
				{ author: "Bob", committer: "web-flow" },
				{ author: null, committer: "RITA" },
			],
			reviews: [approval("bob"), approval("rita")],
		},
		can("Ann"),
	],
	["who pushed to a fork's branch", { pushers: ["carl", "Bob"], ...byBob }, can("Ann, rita")],
	[
		"a push by a workflow, which hides its author",
		{ from: "maps:patch", pushers: ["github-actions[bot]"], ...byBob },
		"failure: a workflow has pushed to it, which hides who made it: use another branch",
	],
	["fewer commits than there are", { allCommits: 2, ...byBob }, "failure: too many commits for GitHub to"],
	["fewer files than there are", { changedFiles: 2, ...byBob }, "failure: too many files for GitHub to list"],
	["the file of the owners", { files: [{ filename: "layers/owners.json" }], ...byBob }, can("boss")],
	["an approval before that", { ...byBob, baseChanges: ["2026-01-02T00:00:00Z"] }, anyone],
];

for (const [what, parts, judgement] of judged)
	test(`${what}: ${judgement}`, async () => {
		propose(parts);
		assert.ok((await judge()).join("\n").startsWith(judgement));
		const checks = peer.checks.map(({ head_sha, conclusion, name }) => [head_sha, name, conclusion]);
		assert.equal(checks, [[head, "owners", judgement.split(":")[0]]]);
	});

test("an approval is of another branch, though the base changes back while it is read", async () => {
	const pull = propose(byBob);
	peer.extra = ({ path }) => {
		if (/\/pulls\/\d+$/.test(path)) pull.baseChanges = ["2026-01-02T00:00:00Z"];
		return null;
	};
	assert.equal(await judge(), [anyone]);
	peer.extra = null;
});

test("accounts are compared by id: neither a claimed login nor a rename changes who approves", async () => {
	const pull = propose({ reviews: [approval("rita")] });
	peer.ids.set("rita", 666);
	assert.equal(await judge(), [anyone]);
	peer.ids.set("rita-two", idOf("rita"));
	pull.reviews.push(approval("rita-two"));
	assert.equal(await judge(), ["success: approved by rita"]);
	pull.author = "rita-two";
	assert.equal(await judge(), [can("Ann, bob")]);
});

test("owners without an id, a removed owner and a missing file approve nothing", async () => {
	const pull = propose({ reviews: [approval("rita")] });
	const { owners: without, problems } = parse({ ...ownersFile, layers: { "*": ["@rita"] } });
	assert.match(textsOf(problems)[0] ?? "", "@rita must have the id of the account, as in @ada#123");
	assert.equal(await judge(without), ["failure: layers/owners.json needs the id of @rita"]);
	assert.match(peer.checks.at(-1)?.output.summary ?? "", /no one can approve; <code>layers/);
	const fewer = parse({ ...ownersFile, layers: { "*": ["@maps/reviewers"] } }).owners;
	assert.equal(await judge(fewer), [can("Ann, bob")]);
	pull.reviews.push(approval("bob"));
	assert.equal(await judge(null), ["failure: layers/owners.json of the base branch cannot be read"]);
	teams.delete("@maps/energy");
	pull.files = [energy];
	assert.equal(await judge(), ["failure: no members are known of @maps/energy"]);
});

test("who has the secret of a sender does not approve its requests; a fork can write any address", async () => {
	const known = parse({ ...ownersFile, senders: { energy: [named("rita"), "@maps/energy"] } }).owners;
	const commit = { author: null, committer: null, mail: "energy@sender.invalid" };
	const pull = propose({ ...byService, commits: [commit], reviews: [approval("rita")] });
	assert.equal(await judge(known), [can("Ann, bob")]);
	commit.mail = "other@sender.invalid";
	assert.equal(await judge(known), ["success: approved by rita"]);
	commit.mail = "energy@sender.invalid";
	teams.set("@maps/energy", []);
	assert.equal(await judge(known), ["failure: no members are known of @maps/energy"]);
	pull.from = "mallory:register/abc";
	assert.equal(await judge(known), ["success: approved by rita"]);
});

const writes = () => peer.requests.filter((request) => !request.startsWith("GET "));

for (const change of [{ sha: older, files: [energy] }, { base: "other" }])
	test(`after a change of ${Object.keys(change)[0]} during the judgement nothing is written`, async () => {
		const pull = propose(byBob);
		peer.meanwhile = () => Object.assign(pull, change);
		assert.equal(await judge(), ["has changed meanwhile"]);
		assert.equal(writes(), []);
	});

test("the merge may change only the files that GitHub lists", async () => {
	const pull = propose(byBob);
	const paths = [layer.filename];
	const differs = "failure: GitHub lists other files than its merge changes: merge the base into the branch";
	const judgeMerge = async (merged: string[], obstacle: string | null = null) =>
		(await judge(owners, { paths: merged, obstacle })).join();
	assert.is(await judgeMerge(paths), isApproved);
	assert.is(await judgeMerge([...paths, "SECURITY.md"]), differs);
	assert.is(await judgeMerge(["layers/ab/abd.json"]), differs);
	assert.is(await judgeMerge(paths, "2 merge bases"), "failure: 2 merge bases");
	pull.from = "maps:register/abc";
	assert.match(await judgeMerge(paths, "a conflict"), /^failure: it has a conflict: close it;/);
	pull.files = [];
	assert.is(await judgeMerge([]), "failure: it changes no file");
	pull.files = [{ ...layer, previous_filename: "layers/ab/old.json", status: "copied" }];
	assert.is(await judgeMerge(paths), isApproved);
});

test("missing owners are mentioned once", async () => {
	const pull = propose();
	for (let run = 0; run < 2; run += 1) {
		await judge();
		assert.is(asked().length, 1);
	}
	pull.files.push(energy);
	await judge();
	assert.match(asked().join(), /\n@Ann @bob @rita: you own files of this change\.[\s\S]*\n@eve: /);
});

/** A pull request of the service that its owners have approved, with the required checks. */
function proposeReady(parts: Partial<PeerPull> = {}, checks: [string, string, string][] = []) {
	const pull = propose({ ...byService, ...byBob, ...parts });
	checks.push(["layers", "maps-workflows", "success"], ["check", "github-actions", "skipped"]);
	const output = { title: "", summary: "" };
	for (const [name, app, conclusion] of checks)
		peer.checks.push({ id: 0, head_sha: pull.sha, name, conclusion, app, output });
	return pull;
}

test("an approved pull request of the service is merged as one commit, with the requests of all", async () => {
	const request = (sum: string) => `Sender: energy\nTimeStamp: 2026-03-04T12:00:00Z\nRequest: ${sum}`;
	const commits = ["1", "2"].map((sum) => {
		return { author: null, committer: null, message: `register abc (wms)\n\n${request(sum)}` };
	});
	const pull = proposeReady({ commits: commits.slice(0, 1), statuses: "success", reviews: [] });
	assert.equal(await judge(), [anyone]);
	assert.is(pull.merged, undefined);
	const people = "can approve <code>Ann</code>, <code>bob</code>, <code>rita</code>";
	const summary = () => peer.checks.findLast(({ name }) => name === "owners")?.output.summary ?? "";
	assert.match(summary(), people);
	pull.reviews.push(approval("bob"));
	assert.equal(await judge(), [`${isApproved}; merged`]);
	assert.match(summary(), "The owners have approved");
	const title = "register abc (wms) (#1)";
	const expected = { sha: head, merge_method: "squash", commit_title: title, commit_message: request("1") };
	assert.equal(pull.mergedWith, expected);
	const both = proposeReady({ from: "maps:repair/abc", commits });
	await judge();
	const { commit_title, commit_message } = both.mergedWith ?? {};
	assert.equal([commit_title, commit_message], ["a change (#2)", `${request("1")}\nRequest: 2`]);
});

const unmerged: [string, Partial<PeerPull>, [string, string, string][]?][] = [
	["of a person", { author: "carl", from: "maps:fix/abc" }],
	["of a person below repair", { author: "carl", from: "maps:repair/a/b" }],
	["of a fork", { from: "mallory:register/abc" }],
	["with a conflict", { mergeable: false }],
	[
		"to which an operator objects",
		{ reviews: [{ ...approval("boss", older), state: "CHANGES_REQUESTED" }, approval("bob")] },
	],
	["whose other check is red", {}, [["spelling", "another-app", "failure"]]],
	["with a commit status that is not green", { statuses: "pending" }],
	["that needs no approval", refresh],
];

for (const [what, parts, checks] of unmerged)
	test(`a pull request ${what} is not merged`, async () => {
		proposeReady(parts, checks);
		assert.match((await judge())[0] ?? "", /^success: /);
		assert.not.ok(peer.requests.some((request) => request.endsWith("/merge")));
	});

test("an objection of someone who is no owner blocks a merge only while members of a team are not known", async () => {
	const objection = { ...approval("stranger", older), state: "CHANGES_REQUESTED" };
	const pull = proposeReady({ reviews: [objection, approval("bob")] });
	teams.delete("@maps/energy");
	assert.equal(await judge(), [isApproved]);
	teams.set("@maps/energy", members("eve"));
	assert.equal([await judge(), pull.merged], [[`${isApproved}; merged`], true]);
});

test("without the checks of the ruleset, each by its App, nothing is merged", async () => {
	const pull = proposeReady();
	const checks = peer.checks.splice(0);
	for (const name of ["layers", "check"]) {
		const others = checks.map((run) => (run.name === name ? { ...run, app: "another" } : run));
		peer.checks.splice(0, Infinity, ...others);
		assert.equal(await judge(), [isApproved], name);
	}
	assert.is(pull.merged, undefined);
});

test("the command judges the merges of its own clone, by the owners of the branch's newest commit", async () => {
	using repository = new Repository({ "layers/owners.json": JSON.stringify(ownersFile) });
	repository.git("remote", "add", "origin", ".");
	writeFiles(repository.path, { ".git/teams.json": "{}" });
	const commitOf = (path: string) => {
		repository.propose({ [path]: "1" });
		return repository.git("rev-parse", "head").trim();
	};
	const command = async (...words: string[]) => {
		process.chdir(repository.path);
		const options = ["--author", bot, "--teams", join(repository.path, ".git/teams.json"), ...words];
		return runScript("approvals", options, peer.env).finally(() => process.chdir(root));
	};
	const paths = ["layers/ab/abc.json", "layers/ab/abc.json", "x"];
	const [first = "", second = "", third = ""] = paths.map(commitOf);
	propose({ sha: first, reviews: [approval("ada", first)] });
	propose({ sha: second });
	propose({ sha: third });
	const newer = JSON.stringify({ operators: [named("ada")], layers: { "*": [named("ada")] } });
	repository.commit("other owners", { "layers/owners.json": newer, x: "2" });
	// Neither a tag of the branch's name nor the older commit of the run counts.
	repository.git("tag", "main", "HEAD~1");
	repository.git("checkout", "-q", "--detach", "HEAD~1");
	const pulls = JSON.stringify([{ number: 1, headRefOid: first }]);
	await prints(command("--pulls", pulls), 0, /^#1: success: approved by ada\n$/);
	// One that cannot be judged keeps its check, and the others are judged.
	peer.checks.length = 0;
	peer.answers.push({ path: /pulls\/1\/reviews$/, status: 403, message: "suspended" });
	const { stdout, stderr } = await exits(command("--all"), 2);
	assert.match(stderr, /^#1: could not be judged: .*suspended$/m);
	const conflict = "the base has changed the same lines: merge it into the branch";
	assert.is(stdout, `#2: failure: can still approve: ada\n#3: failure: ${conflict}\n`);
	const checks = peer.checks.map(({ head_sha, output }) => [head_sha, output.title]);
	assert.equal(checks, [
		[peer.tip, "layers/owners.json: each owner can approve"],
		[second, "can still approve: ada"],
		[third, conflict],
	]);
});

test.run();
