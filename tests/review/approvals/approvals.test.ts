import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { parseOwners } from "../../../registry/owners.ts";
import { textsOf } from "../../../registry/problems.ts";
import { judgePull } from "../../../review/approvals/github.ts";
import { readTeams, unknownOwners } from "../../../review/approvals/owners.ts";
import type { MergedPaths } from "../../../review/approvals/pull-state.ts";
import { openPulls, partOf } from "../../../review/pulls.ts";
import { connectToGithub } from "../../../service/github.ts";
import { readConfiguration } from "../../../service/settings.ts";
import { exits, prints, root, runScript, warns } from "../../helpers/process.ts";
import { freshSuite, Repository, temporaryFolder, writeFiles } from "../../helpers/world.ts";
import { bot, idOf, type PeerCheck, type PeerPull, type ReviewPeer, startReviewPeer } from "./review-peer.ts";

const ownersFile = {
	operators: [`@boss#${idOf("boss")}`],
	layers: {
		"*": ["@maps/reviewers", `@rita#${idOf("rita")}`],
		"energy-*": ["@maps/energy"],
		"empty-*": ["@maps/empty"],
	},
};

const parse = (file: object) => parseOwners(new TextEncoder().encode(JSON.stringify(file)));
const { owners } = parse(ownersFile);

/** What the command fetches from, with the owners of the fixtures; its commits are the heads of all pull requests. */
const repository = new Repository({
	"layers/owners.json": readFileSync(join(root, "tests/fixtures/layers/owners.json"), "utf8"),
});
const commitOf = (text: string) => {
	repository.propose({ "layers/ab/abc.json": text });
	return repository.git("rev-parse", "head").trim();
};
const [head, older] = [commitOf("newer"), commitOf("older")];
repository.git("remote", "add", "origin", ".");

let peer: ReviewPeer;
const test = freshSuite("approvals of owners", async (use) => {
	peer = use(await startReviewPeer());
	peer.teams.set("maps/reviewers", ["Ann", "bob"]).set("maps/energy", ["eve"]).set("maps/empty", []);
});
test.after(() => repository.remove());

function propose(parts: Partial<PeerPull> = {}): PeerPull {
	const pull = {
		number: peer.pulls.length + 1,
		author: "carl",
		from: "carl:change",
		base: "main",
		sha: head,
		files: [{ filename: "layers/ab/abc.json" }],
		reviews: [],
		...parts,
	};
	peer.pulls.push(pull);
	return pull;
}

const approval = (login: string | null, commit = head) => ({ login, state: "APPROVED", commit });

const approvalComments = () =>
	peer.comments.filter(({ body }) => body.startsWith("<!-- fragment-publisher: approvals -->"));

/** Looks at all open pull requests, as the workflow does. */
async function judge(isRequesting = true, known = owners, merge?: MergedPaths): Promise<string[]> {
	const github = connectToGithub(readConfiguration(peer.env));
	const lines: string[] = [];
	const teams = known ? await readTeams(github, known) : new Map();
	for (const pull of await openPulls(github, "main")) {
		const { files = [] } = peer.pulls.find(({ number }) => number === pull.number) ?? {};
		const paths = files.flatMap((file) => [file.filename, file.previous_filename ?? file.filename]);
		const readMerge = async () => merge ?? { paths: [...new Set(paths)], obstacle: null };
		const run = { github, base: "main", owners: known, teams, author: bot, isRequesting, readMerge };
		const done = await judgePull(run, pull);
		lines.push((done ?? ["newer"]).join("; "));
	}
	return lines;
}

test("without an approval the check is red, and names the people who can approve", async () => {
	propose();
	assert.equal(await judge(), ["failure: can still approve: Ann, bob, rita"]);
	const found = peer.checks.map(({ head_sha, conclusion, name }) => [head_sha, conclusion, name]);
	assert.equal(found, [[head, "failure", "owners"]]);
	assert.match(
		peer.comments[0]?.body ?? "",
		"can approve <code>Ann</code>, <code>bob</code>, <code>rita</code>",
	);
});

test("one owner of each group is enough, by a team or by name, in any case of letters", async () => {
	const files = [{ filename: "layers/ab/abc.json" }, { filename: "layers/en/energy-x.json" }];
	const pull = propose({ files, reviews: [approval("ANN")] });
	assert.equal(await judge(), ["failure: can still approve: eve"]);
	pull.reviews.push(approval("eve"));
	assert.equal(await judge(), ["success: approved by Ann, eve"]);
	assert.is(approvalComments().length, 1, "one comment, edited");
	assert.match(peer.comments[0]?.body ?? "", "The owners have approved");
});

const ofAnother = [{ author: "carl", committer: null }];
const bobThen = (state: string) => ({ reviews: [approval("bob"), { ...approval("bob"), state }] });
const refused: [string, Partial<PeerPull>, people?: string][] = [
	["the author's own", { author: "ann", reviews: [approval("Ann")] }, "bob, rita"],
	[
		"the author's own of another's commits",
		{ author: "ann", commits: ofAnother, reviews: [approval("Ann")] },
		"bob, rita",
	],
	["a stranger's", { reviews: [approval("mallory")] }],
	["one of an older commit", { reviews: [approval("bob", older)] }],
	["one of an account that is gone", { reviews: [approval(null)] }],
	["one that was dismissed", bobThen("DISMISSED")],
	["one that was taken back", bobThen("CHANGES_REQUESTED")],
	["one of an owner of other layers", { reviews: [approval("eve")] }],
];

for (const [what, parts, people = "Ann, bob, rita"] of refused) {
	test(`${what} does not count`, async () => {
		propose(parts);
		assert.equal(await judge(), [`failure: can still approve: ${people}`]);
	});
}

test("an approval is compared by the account's id: who claims an owner's old login is a stranger", async () => {
	const pull = propose({ reviews: [approval("rita")] });
	peer.ids.set("rita", 666);
	assert.equal(await judge(), ["failure: can still approve: Ann, bob, rita"]);
	peer.ids.set("rita", 666).set("rita-two", idOf("rita"));
	pull.reviews.push(approval("rita-two"));
	assert.equal(await judge(), ["success: approved by rita"]);
});

test("an author is known by the id, too: a rename does not let him approve his own change", async () => {
	peer.ids.set("rita-two", idOf("rita"));
	propose({ author: "rita-two", reviews: [approval("rita")] });
	assert.equal(await judge(), ["failure: can still approve: Ann, bob"]);
});

test("an owner without an id approves nothing, and the check says what to do", async () => {
	const file = { ...ownersFile, layers: { "*": ["@rita"] } };
	const { owners: known, problems } = parse(file);
	assert.equal(textsOf(problems), [
		"/layers/*/0: @rita must have the id of the account, as in @ada#123: npx fragment-publisher owners writes it",
	]);
	propose({ reviews: [approval("rita")] });
	assert.equal(await judge(true, known), [
		"failure: npx fragment-publisher owners has to write the id of @rita",
	]);
	assert.match(peer.comments[0]?.body ?? "", /rita<\/code> cannot approve without an id/);
});

test("an approval from before the pull request was pointed at this branch is needed again", async () => {
	const pull = propose({
		reviews: [{ ...approval("bob"), at: "2026-01-02T00:00:00Z" }],
		baseChanges: ["2026-01-01T00:00:00Z"],
	});
	assert.equal(await judge(), ["success: approved by bob"]);
	pull.baseChanges?.push("2026-01-02T00:00:00Z");
	assert.equal(await judge(), ["failure: can still approve: Ann, bob, rita"]);
	pull.reviews.push({ ...approval("bob"), at: "2026-01-02T00:00:01Z" });
	assert.equal(await judge(), ["success: approved by bob"]);
});

test("a pull request that is pointed at another branch during the judgement is not judged", async () => {
	const pull = propose({ reviews: [approval("bob")] });
	peer.meanwhile = () => {
		pull.base = "other";
	};
	assert.equal(await judge(), ["newer"]);
	assert.equal(peer.checks, []);
});

test("who has the secret of a sender does not approve what it sent, and may approve other changes", async () => {
	const file = { ...ownersFile, senders: { energy: [`@rita#${idOf("rita")}`, "@maps/energy"] } };
	const known = parse(file).owners;
	const service = { author: "maps-service[bot]", commits: [{ author: null, committer: null }] };
	const reviews = [approval("rita")];
	const pull = propose({
		...{ ...service, reviews, from: "maps:register/abc", mails: ["energy@sender.invalid"] },
	});
	assert.equal(await judge(true, known), ["failure: can still approve: Ann, bob"]);
	pull.mails = ["other@sender.invalid"];
	assert.equal(await judge(true, known), ["success: approved by rita"]);
	// On a branch of another repository anyone can write such an address.
	Object.assign(pull, { from: "mallory:register/abc", mails: ["energy@sender.invalid"] });
	assert.equal(await judge(true, known), ["success: approved by rita"]);
});

test("owners whom GitHub cannot ask for a review are mentioned, once each", async () => {
	peer.collaborators.add("Ann");
	const pull = propose();
	const asked = () => peer.comments.map(({ body }) => body).filter((body) => body.includes(": asked -->"));
	for (let run = 0; run < 2; run += 1) {
		await judge();
		assert.equal(peer.requested, [{ number: 1, login: "Ann" }]);
		assert.is(asked().length, 1);
		assert.match(asked()[0] ?? "", /^<!-- .*-->\n@bob @rita: you own files of this change\./);
	}
	pull.files.push({ filename: "layers/en/energy-x.json" });
	await judge();
	assert.is(asked().length, 2);
	assert.match(asked()[1] ?? "", /\n@eve: /);
});

test("a comment after an approval does not revoke it", async () => {
	propose({ reviews: [approval("bob"), { ...approval("bob"), state: "COMMENTED" }] });
	assert.equal(await judge(), ["success: approved by bob"]);
});

test("an approval of the 300th reviewer is found", async () => {
	const crowd = Array.from({ length: 299 }, (_, index) => approval(`crowd-${index}`));
	propose({ reviews: [...crowd, approval("rita")] });
	assert.equal(await judge(), ["success: approved by rita"]);
});

test("files other than layers, such as owners and workflows, need the operators' approval", async () => {
	for (const filename of ["layers/owners.json", ".github/workflows/review.yml", "README.md"]) {
		propose({
			files: [{ filename }, { filename: "layers/ab/abc.json" }],
			reviews: [approval("bob")],
		});
	}
	assert.equal(await judge(), Array(3).fill("failure: can still approve: boss"));
});

test("a layer that is renamed needs the owners of both of its names", async () => {
	const files = [{ filename: "layers/ab/abc.json", previous_filename: "layers/en/energy-x.json" }];
	propose({ files, reviews: [approval("bob")] });
	assert.equal(await judge(), ["failure: can still approve: eve"]);
});

const machineMade = [{ filename: "layers/ab/abc.service.json" }, { filename: "layers/health.json" }];

test("the weekly refresh needs no approval for what it writes", async () => {
	const pull = propose({ author: bot, from: "maps:refresh", files: machineMade });
	assert.equal(await judge(), ["success: needs no approval"]);
	assert.equal(peer.comments, []);
	pull.files = [...machineMade, { filename: "layers/ab/abc.json" }];
	assert.equal(await judge(), ["failure: can still approve: Ann, bob, rita"]);
});

for (const [what, parts] of [
	["a fork's branch of that name", { author: bot, from: "carl:refresh" }],
	["another branch of this repository", { author: bot, from: "maps:register/abc" }],
	["another author", { author: "carl", from: "maps:refresh" }],
	["another App", { author: "github-actions[bot]", from: "maps:refresh" }],
] as [string, Partial<PeerPull>][]) {
	test(`descriptions and health of ${what} need the owners`, async () => {
		const pull = propose({ ...parts, files: machineMade });
		assert.equal(await judge(), ["failure: can still approve: Ann, bob, rita, boss"]);
		pull.reviews.push(approval("bob"), approval("boss"));
		assert.match((await judge())[0] ?? "", /^success: approved by bob, boss/);
	});
}

test("who wrote or committed one of its commits does not count", async () => {
	const commits = [
		{ author: null, committer: "web-flow" },
		{ author: "Bob", committer: null },
		{ author: "carl", committer: "RITA" },
	];
	const reviews = [approval("bob"), approval("rita")];
	const pull = propose({ author: "maps-service[bot]", from: "maps:register/abc", commits, reviews });
	assert.equal(await judge(), ["failure: can still approve: Ann"]);
	pull.reviews.push(approval("ann"));
	assert.equal(await judge(), ["success: approved by Ann"]);
});

test("who pushed to its branch under another name does not count", async () => {
	const commits = [{ author: "carl", committer: "carl" }];
	const parts = { author: "carl", commits, pushers: ["carl", "Bob"], reviews: [approval("bob")] };
	const pulls = ["maps:patch", "carl:patch"].map((from) => propose({ ...parts, from }));
	assert.equal(await judge(), Array(2).fill("failure: can still approve: Ann, rita"));
	for (const pull of pulls) pull.reviews.push(approval("ann"));
	assert.equal(await judge(), Array(2).fill("success: approved by Ann"));
});

test("a commit pushed by a workflow is not approved, as its author is hidden", async () => {
	propose({ from: "maps:patch", pushers: ["carl", "github-actions[bot]"], reviews: [approval("bob")] });
	propose({ from: "maps:other", pushers: ["carl", "maps-service[bot]"], reviews: [approval("bob")] });
	assert.equal(await judge(), [
		"failure: a workflow has pushed to it, which hides who made it: use another branch",
		"success: approved by bob",
	]);
});

test("more commits than GitHub lists are not approved", async () => {
	const commits = Array.from({ length: 250 }, () => ({ author: "carl", committer: "carl" }));
	propose({ commits, allCommits: 251, reviews: [approval("bob")] });
	propose({ commits, reviews: [approval("bob")] });
	assert.equal(
		await judge(),
		Array(2).fill("failure: too many commits for GitHub to list them: squash them"),
	);
});

/** A pull request of the service's that its owners have approved, with the checks that a ruleset requires. */
function proposeReady(parts: Partial<PeerPull> = {}, checks: [string, string, string][] = []) {
	const author = "maps-service[bot]";
	const pull = propose({ author, from: "maps:register/abc", reviews: [approval("bob")], ...parts });
	const all = [["layers", "maps-workflows", "success"], ["check", "github-actions", "skipped"], ...checks];
	for (const [name = "", app = "", conclusion = ""] of all) {
		const output = { title: "", summary: "", annotations: [] };
		peer.checks.push({ id: 0, head_sha: pull.sha, name, conclusion, app, output });
	}
	return pull;
}

for (const branch of ["register/abc", "repair/abc"])
	test(`${branch} is merged once its owners have approved`, async () => {
		const pull = proposeReady({ from: `maps:${branch}`, reviews: [] });
		assert.equal(await judge(), ["failure: can still approve: Ann, bob, rita"]);
		assert.is(pull.merged, undefined);
		pull.reviews.push(approval("bob"));
		assert.equal(await judge(), ["success: approved by bob; merged"]);
		assert.is(pull.merged, true);
	});

test("the merge is one commit, with the requests of all", async () => {
	const request = (sum: string) => `Sender: energy\nTimeStamp: 2026-03-04T12:00:00Z\nRequest: ${sum}`;
	const commits = [{ author: null, committer: null }];
	const messages = [`register abc (wms)\n\n${request("1")}`, `register abc (wms)\n\n${request("2")}`];
	const pull = proposeReady({ commits, messages, statuses: "success" });
	await judge();
	const sha = pull.sha;
	assert.equal(pull.mergedWith, {
		...{ sha, merge_method: "squash", commit_title: "register abc (wms) (#1)", commit_message: request("1") },
	});
	const both = proposeReady({ commits: [...commits, ...commits], messages });
	await judge();
	assert.is(both.mergedWith?.commit_title, "a change (#2)");
	assert.is(both.mergedWith?.commit_message, `${request("1")}\nRequest: 2`);
});

test("a pull request without the checks that a ruleset requires is not merged", async () => {
	const pull = proposeReady();
	const checks = peer.checks.splice(0);
	for (const missing of ["layers", "check"]) {
		peer.checks.splice(0, Infinity, ...checks.filter(({ name }) => name !== missing));
		assert.equal(await judge(), ["success: approved by bob"], missing);
	}
	assert.is(pull.merged, undefined);
});

for (const [what, parts, checks] of [
	["of a person", { author: "carl", from: "maps:change" }, []],
	["of a fork", { from: "mallory:register/abc" }, []],
	["with a conflict", { mergeable: false }, []],
	["that GitHub still looks at", { mergeable: null }, []],
	["of a person's branch below repair", { author: "carl", from: "maps:repair/a/b" }, []],
	[
		"to which an operator asks for changes",
		{ reviews: [{ ...approval("boss", older), state: "CHANGES_REQUESTED" }, approval("bob")] },
		[],
	],
	["whose other check is red", {}, [["spelling", "another-app", "failure"]]],
	["that has a commit status which is not green", { statuses: "pending" }, []],
	["whose other check has not ended", {}, [["spelling", "another-app", ""]]],
	["whose check layers is red", {}, [["layers", "maps-workflows", "failure"]]],
	["whose check is red", {}, [["check", "github-actions", "failure"]]],
	["that needs no approval", { author: bot, from: "maps:refresh", files: machineMade }, []],
] as [string, Partial<PeerPull>, [string, string, string][]][]) {
	test(`a pull request ${what} is not merged`, async () => {
		const pull = proposeReady(parts, checks);
		assert.match((await judge())[0] ?? "", /^success: /);
		assert.is(pull.merged, undefined);
		assert.not.ok(peer.requests.some((request) => request.endsWith("/merge")));
	});
}

test("only the check layers of the workflows' App lets a change be merged", async () => {
	const pull = proposeReady();
	peer.checks[0] = { ...(peer.checks[0] as PeerCheck), app: "somebody-elses" };
	await judge();
	assert.is(pull.merged, undefined);
});

test("a conflict is commented on once, with what to do, and once it is over", async () => {
	const pull = propose({ mergeable: false });
	const texts = () => peer.comments.map(({ body }) => body).filter((body) => body.includes("conflict -->"));
	assert.match((await judge())[0] ?? "", /; has a conflict, and a comment says what to do$/);
	assert.not.match((await judge())[0] ?? "", /conflict/);
	assert.is(texts().length, 1);
	assert.match(texts()[0] ?? "", "### This cannot be merged: `main` has changed the same lines");
	assert.match(texts()[0] ?? "", "**Next:** press *Resolve conflicts* below");
	pull.mergeable = null;
	assert.not.match((await judge())[0] ?? "", /conflict/);
	pull.mergeable = true;
	assert.match((await judge())[0] ?? "", /; the conflict is over$/);
	assert.equal(texts(), ["<!-- fragment-publisher: conflict -->\nThe conflict is over.\n"]);
});

test("a conflict of the service's own says what ends it", async () => {
	propose({ from: "maps:register/abc", mergeable: false });
	propose({ from: "maps:refresh", mergeable: false });
	propose({ from: "mallory:register/abc", mergeable: false });
	await judge();
	const next = peer.comments
		.filter(({ body }) => body.includes("cannot be merged"))
		.map(({ body }) => /\*\*Next:\*\* (\w+ \S+)/.exec(body)?.[1]);
	assert.equal(next, ["close this", "start the", "press *Resolve"]);
});

test("more files than GitHub lists are not approved", async () => {
	const files = Array.from({ length: 3_000 }, (_, index) => ({
		filename: `layers/ab/ab${index}.service.json`,
	}));
	propose({ files, changedFiles: 3_001 });
	propose({ files: [], changedFiles: 2 });
	assert.equal(
		await judge(),
		Array(2).fill("failure: too many files for GitHub to list them: split the change"),
	);
});

test("the merge may change only the files that GitHub lists, or the check is red", async () => {
	const pull = propose({ reviews: [approval("bob")] });
	const paths = ["layers/ab/abc.json"];
	const differs = "failure: GitHub lists other files than its merge changes: merge the base into the branch";
	const judged = (merge: MergedPaths) => judge(true, owners, merge);
	assert.equal(await judged({ paths, obstacle: null }), ["success: approved by bob"]);
	assert.equal(await judged({ paths: [...paths, "SECURITY.md"], obstacle: null }), [differs]);
	assert.equal(await judged({ paths: ["layers/ab/abd.json"], obstacle: null }), [differs]);
	assert.equal(await judged({ paths, obstacle: "2 merge bases" }), ["failure: 2 merge bases"]);
	pull.files = [];
	assert.equal(await judged({ paths: [], obstacle: null }), ["failure: it changes no file"]);
	pull.files = [
		{ filename: "layers/ab/abc.json", previous_filename: "layers/ab/old.json", status: "copied" },
	];
	assert.equal(await judged({ paths, obstacle: null }), ["success: approved by bob"]);
});

test("a team that is empty, or that is invisible, is named", async () => {
	propose({ files: [{ filename: "layers/em/empty-x.json" }] });
	peer.teams.delete("maps/energy");
	propose({ files: [{ filename: "layers/en/energy-x.json" }] });
	assert.equal(await judge(), [
		"failure: no members are known of @maps/empty",
		"failure: no members are known of @maps/energy",
	]);
	peer.answers.push({ path: /teams\/energy\/members/, status: 403, message: "Resource not accessible" });
	assert.is((await judge())[1], "failure: no members are known of @maps/energy");
});

test("without a usable file of owners nothing is approved", async () => {
	propose({ reviews: [approval("bob")] });
	assert.equal(await judge(true, null), ["failure: layers/owners.json of the base branch cannot be read"]);
});

test("an owner who was removed from the file can no longer approve", async () => {
	propose({ reviews: [approval("rita")] });
	const fewer = { ...ownersFile, layers: { "*": ["@maps/reviewers"] } };
	const without = parse(fewer).owners;
	assert.equal(await judge(true, without), ["failure: can still approve: Ann, bob"]);
});

test("for a change of owners and a layer together, the base branch's owners count for both", async () => {
	// An author who adds himself as owner in the same change is not an owner yet.
	const files = [{ filename: "layers/owners.json" }, { filename: "layers/en/energy-x.json" }];
	const pull = propose({ author: "mallory", files, reviews: [approval("mallory"), approval("eve")] });
	assert.equal(await judge(), ["failure: can still approve: boss"]);
	pull.reviews.push(approval("boss"));
	assert.equal(await judge(), ["success: approved by boss, eve"]);
});

test("two approvals at the same moment end green, with one comment", async () => {
	const files = [{ filename: "layers/ab/abc.json" }, { filename: "layers/en/energy-x.json" }];
	const pull = propose({ files });
	await judge();
	pull.reviews.push(approval("bob"));
	const first = judge();
	pull.reviews.push(approval("eve"));
	await Promise.all([first, judge()]);
	// The workflow's runs wait for each other, so that the last one sees both.
	assert.equal(await judge(), ["success: approved by bob, eve"]);
	assert.is(peer.checks.at(-1)?.conclusion, "success");
	assert.is(approvalComments().length, 1);
});

test("300 reviews by gone accounts and on older commits hide none that counts", async () => {
	const noise = Array.from({ length: 300 }, (_, index) =>
		index % 2 === 0 ? approval(null) : approval("bob", older),
	);
	const pull = propose({ reviews: noise });
	assert.equal(await judge(), ["failure: can still approve: Ann, bob, rita"]);
	pull.reviews.push(approval("rita"));
	assert.equal(await judge(), ["success: approved by rita"]);
});

test("after a push during the judgement, the new commit's files do not count for the old one", async () => {
	// An approval of the old one must not be taken for one of other files, to which the branch is moved back later.
	const pull = propose({
		files: [{ filename: "layers/en/energy-x.json" }],
		reviews: [approval("bob")],
	});
	peer.meanwhile = () => {
		pull.sha = older;
		pull.files = [{ filename: "layers/ab/abc.json" }];
	};
	assert.equal(await judge(), ["newer"]);
	assert.equal(peer.checks, []);
});

/** Runs `npx fragment-publisher approvals` as the workflow does, in a clone. */
async function command(words: string[] = []) {
	process.chdir(repository.path);
	return runScript("approvals", ["--author", bot, ...words], peer.env).finally(() => process.chdir(root));
}

test("a run that has waited reads the owners of the branch's newest commit, past a tag of its name", async () => {
	propose({ reviews: [approval("ada")] });
	const ada = `@ada#${idOf("ada")}`;
	const newer = JSON.stringify({ operators: [ada], layers: { "*": [ada] } });
	repository.commit("other owners", { "layers/owners.json": newer });
	repository.git("tag", "main", "HEAD~1");
	// The commit of the run.
	repository.git("checkout", "-q", "--detach", "HEAD~1");
	try {
		const { stdout } = await command(["--pulls", JSON.stringify([{ number: 1, head }])]);
		assert.is(stdout, "#1: success: approved by ada\n");
	} finally {
		repository.git("tag", "-d", "main");
		repository.git("checkout", "-q", "main");
		repository.git("reset", "-q", "--hard", "HEAD~1");
	}
});

test("a pull request that cannot be judged keeps its check, and the others are judged", async () => {
	propose({ sha: older });
	propose();
	const message = "This installation has been suspended";
	peer.answers.push({ path: /pulls\/1\/reviews$/, status: 403, message });
	const { stderr } = await prints(command(), 2, /^#2: failure: /m);
	assert.match(stderr, /^#1: could not be judged: .*This installation has been suspended$/m);
	const shas = peer.checks.map(({ head_sha }) => head_sha);
	assert.equal(shas, [peer.tip, head]);
});

test("an archived repository or a suspended App gives one line with GitHub's words", async () => {
	propose({ reviews: [approval("bob")] });
	for (const message of [
		"Repository was archived so is read-only.",
		"This installation has been suspended",
	]) {
		peer.answers.splice(0, 1, { path: /\/check-runs$/, status: 403, message });
		await warns(command(), 2, message);
	}
	assert.equal(peer.checks, []);
});

test("each possible reviewer is asked once, and a second run writes nothing", async () => {
	peer.collaborators.add("Ann").add("rita");
	propose({ reviews: [{ ...approval("rita"), state: "COMMENTED" }] });
	await judge();
	assert.equal(peer.requested, [{ number: 1, login: "Ann" }]);
	const isWrite = (request: string) => !request.startsWith("GET ");
	peer.collaborators.delete("bob");
	peer.requests.length = 0;
	await judge(false);
	assert.equal(peer.requests.filter(isWrite), []);
});

test("reviewers who were asked, or have reviewed this commit, are not asked again", async () => {
	peer.collaborators.add("Ann").add("bob").add("rita");
	const reviews = [
		{ ...approval("Rita"), state: "COMMENTED" },
		{ ...approval("bob", older), state: "COMMENTED" },
	];
	propose({ reviews });
	for (let run = 0; run < 2; run += 1) {
		await judge();
		const logins = peer.requested.map(({ login }) => login);
		assert.equal(logins, ["Ann", "bob"]);
	}
});

test("while GitHub does not answer, no pull request is judged", async () => {
	propose({ reviews: [approval("bob")] });
	peer.answers.push({ path: /reviews$/, status: 401, message: "Bad credentials" });
	await judge().then(
		() => assert.unreachable("unknown outcome"),
		(error: unknown) => assert.match(String(error), /401 .*Bad credentials/),
	);
	assert.equal(peer.checks, []);
});

test("the command judges all, or those that it is given, whose owners it asks for a review", async () => {
	propose({ sha: older });
	propose({ sha: head });
	peer.teams.set("fragment-publisher/layer-reviewers", ["Ann"]);
	peer.collaborators.add("Ann");
	const pulls = JSON.stringify([{ number: 2, head }]);
	await prints(command(["--pulls", pulls]), 0, /^#2: failure: .*\n$/);
	assert.equal(peer.requested, [{ number: 2, login: "Ann" }]);
	peer.requests.length = 0;
	const all = await command();
	assert.match(all.stdout, /^warning @fragment-publisher\/operators: there is no such team/m);
	assert.match(all.stdout, /^#1: failure: .*\n#2: failure: .*\n$/m);
	assert.is(peer.requested.length, 1);
	for (const wrong of ["{}", "[1]", '[{"number": "1", "head": "x"}]', "no JSON"])
		assert.is((await command(["--pulls", wrong])).code, 2, wrong);
});

test("an owner who was renamed, or whose account is gone, is named with what to do", async () => {
	peer.accounts.add("boss-two").add("rita");
	peer.ids.set("boss-two", idOf("boss")).set("rita", 666);
	const github = connectToGithub(readConfiguration(peer.env));
	assert.ok(owners);
	assert.equal(await unknownOwners(github, owners, new Map()), [
		`@boss#${idOf("boss")}: is called @boss-two now, which npx fragment-publisher owners writes`,
		`@rita#${idOf("rita")}: there is no such account`,
	]);
});

test("npx fragment-publisher owners writes the ids, and the new login of a renamed account", async () => {
	await using folder = await temporaryFolder();
	const { path } = folder;
	const run = async (text: string) => {
		writeFiles(path, { "layers/owners.json": text });
		process.chdir(path);
		const ended = await runScript("owners", [], peer.env).finally(() => process.chdir(root));
		return { ...ended, text: await readFile(join(path, "layers/owners.json"), "utf8") };
	};
	peer.accounts.add("Ada").add("eve-two");
	peer.ids.set("eve-two", 5);
	const layers = `"layers": {"*": ["@ada", "@maps/energy"],\n"x*": ["@eve#5"]}`;
	const filled = await exits(run(`{ "operators": ["@ada"], ${layers} }`), 0);
	const ada = `"@Ada#${idOf("ada")}"`;
	assert.is(
		filled.text,
		`{ "operators": [${ada}], "layers": {"*": [${ada}, "@maps/energy"],\n"x*": ["@eve-two#5"]} }`,
	);
	assert.equal(parseOwners(new TextEncoder().encode(filled.text)).problems, []);
	assert.match((await run(filled.text)).stdout, "has the id of each account");
	const wrong = `{ "operators": ["@ada", "@gone"], "layers": {} }`;
	const refused = await prints(run(wrong), 1, 'layers/owners.json: "@gone": there is no such account');
	assert.is(refused.text, wrong, "nothing is written");
});

/** What `npx fragment-publisher pull-requests --missing layers` prints. */
async function missing(now = new Date()): Promise<number[]> {
	const words = ["--missing", "layers", "--author", bot];
	const { stdout } = await runScript("pull-requests", words, peer.env, { now: () => now });
	return (JSON.parse(stdout) as { number: number }[]).map(({ number }) => number);
}

test("the hourly run looks again at what it could not check, and not at what is wrong", async () => {
	const output = { title: "something has to be corrected", summary: "", annotations: [] };
	const check = { id: 0, name: "layers", conclusion: "failure", app: "maps-workflows" };
	propose({ sha: older });
	propose();
	peer.checks.push({ ...check, head_sha: older, output });
	peer.checks.push({ ...check, head_sha: head, output: { ...output, title: "could not be checked" } });
	assert.equal(await missing(), [2]);
});

test("with 1,000 open pull requests each hour looks at a part, and within seven hours at all", async () => {
	const sha = (index: number) => index.toString(16).padStart(40, "0");
	for (let index = 0; index < 1_000; index += 1) propose({ sha: sha(index) });
	const hour = (index: number) => new Date(Date.UTC(2026, 0, 1, index, 41));
	const all = peer.pulls.map(({ number, sha: id }) => ({ number, head: id }));
	const parts = Array.from({ length: 7 }, (_, index) => partOf(all, hour(index)));
	assert.is(new Set(parts.flat()).size, 1_000);
	const expected = parts[3]?.map(({ number }) => number);
	assert.equal(await missing(hour(3)), expected);
	assert.ok(peer.requests.length <= 160, `${peer.requests.length} requests`);
	peer.requests.length = 0;
	for (const pull of peer.pulls) pull.sha = head;
	const { stdout } = await command();
	assert.ok((stdout.match(/^#\d+: /gm)?.length ?? 0) >= 142, stdout);
	// Of the 5,000 an hour that an App has. The first look at a pull request also writes a check and a comment.
	assert.ok(peer.requests.length < 2_000, `${peer.requests.length} requests`);
});

test("the App sets a check on the branch, with the owners who can approve nothing", async () => {
	await command();
	const [check, ...others] = peer.checks;
	assert.equal(others, []);
	assert.equal([check?.head_sha, check?.name, check?.conclusion], [peer.tip, "owners", "failure"]);
	assert.match(check?.output.title ?? "", /^layers\/owners\.json: \d+ owners can approve nothing$/);
	assert.match(check?.output.summary ?? "", /there is no such team/);
	for (const name of ["operators", "layer-reviewers", "energy", "weather", "environment"])
		peer.teams.set(`fragment-publisher/${name}`, ["Ann"]);
	await command();
	assert.is(peer.checks[1]?.conclusion, "success");
	await command();
	assert.is(peer.checks.length, 2, "and none while nothing has changed");
	propose();
	await command(["--pulls", JSON.stringify([{ number: 1, head }])]);
	const shas = peer.checks.slice(2).map(({ head_sha }) => head_sha);
	assert.equal(shas, [head]);
});

test("a pull request costs seven requests", async () => {
	propose();
	await judge();
	peer.requests.length = 0;
	await judge(false);
	const own = peer.requests.filter((request) => !/\/(?:members|pulls)$/.test(request));
	assert.is(own.length, 7, own.join("\n"));
});

test.run();
