import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseOwners } from "../../../registry/owners.ts";
import { judgePull, openPulls, readTeams } from "../../../review/approvals/github.ts";
import { branchOfRun } from "../../../scripts/approvals.ts";
import { connectToGithub } from "../../../service/github.ts";
import { readConfiguration } from "../../../service/settings.ts";
import { runScript } from "../../process.ts";
import { bot, type PeerPull, type ReviewPeer, startReviewPeer } from "./review-peer.ts";

const ownersFile = {
	operators: ["@boss"],
	layers: { "*": ["@maps/reviewers", "@rita"], "energy-*": ["@maps/energy"], "empty-*": ["@maps/empty"] },
};

const owners = parseOwners(new TextEncoder().encode(JSON.stringify(ownersFile))).owners;

const head = "a".repeat(40);
const older = "b".repeat(40);

const approvals = suite<{ peer: ReviewPeer }>("approvals of owners");

approvals.before.each(async (context) => {
	context.peer = await startReviewPeer();
	context.peer.teams.set("maps/reviewers", ["Ann", "bob"]);
	context.peer.teams.set("maps/energy", ["eve"]);
	context.peer.teams.set("maps/empty", []);
});
approvals.after.each(({ peer }) => peer.close());

function propose(peer: ReviewPeer, parts: Partial<PeerPull> = {}): PeerPull {
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

/** Looks at all open pull requests, as the workflow does. */
async function judge(peer: ReviewPeer, isRequesting = true, known = owners): Promise<string[]> {
	const github = connectToGithub(
		readConfiguration({ GITHUB_REPOSITORY: "maps/layers", GITHUB_TOKEN: "t", GITHUB_API_URL: peer.url }),
	);
	const lines: string[] = [];
	const teams = known ? await readTeams(github, known) : new Map();
	for (const pull of await openPulls(github, "main")) {
		const judgement = await judgePull(github, pull, known, teams, { author: bot, isRequesting });
		lines.push(judgement ? `${judgement.state}: ${judgement.description}` : "newer");
	}
	return lines;
}

approvals("without an approval: red, with the people who can approve", async ({ peer }) => {
	propose(peer);
	assert.equal(await judge(peer), ["failure: can still approve: Ann, bob, rita"]);
	assert.equal(
		peer.statuses.map(({ sha, state, context }) => [sha, state, context]),
		[[head, "failure", "owners"]],
	);
	assert.match(
		peer.comments[0]?.body ?? "",
		"can approve <code>Ann</code>, <code>bob</code>, <code>rita</code>",
	);
});

approvals(
	"one owner of each group is enough, by a team or by name, in any case of letters",
	async ({ peer }) => {
		const files = [{ filename: "layers/ab/abc.json" }, { filename: "layers/en/energy-x.json" }];
		const pull = propose(peer, { files, reviews: [approval("ANN")] });
		assert.equal(await judge(peer), ["failure: can still approve: eve"]);
		pull.reviews.push(approval("eve"));
		assert.equal(await judge(peer), ["success: approved by Ann, eve"]);
		assert.is(peer.comments.length, 1, "one comment, edited");
		assert.match(peer.comments[0]?.body ?? "", "The owners have approved");
	},
);

const refused: [string, Partial<PeerPull>, string][] = [
	["the author's own", { author: "ann", reviews: [approval("Ann")] }, "bob, rita"],
	["a stranger's", { reviews: [approval("mallory")] }, "Ann, bob, rita"],
	["one of an older commit", { reviews: [approval("bob", older)] }, "Ann, bob, rita"],
	["one of an account that is gone", { reviews: [approval(null)] }, "Ann, bob, rita"],
	[
		"one that was dismissed",
		{ reviews: [approval("bob"), { ...approval("bob"), state: "DISMISSED" }] },
		"Ann, bob, rita",
	],
	[
		"one that was taken back",
		{ reviews: [approval("bob"), { ...approval("bob"), state: "CHANGES_REQUESTED" }] },
		"Ann, bob, rita",
	],
	["one of an owner of other layers", { reviews: [approval("eve")] }, "Ann, bob, rita"],
];

for (const [what, parts, people] of refused) {
	approvals(`${what} does not count`, async ({ peer }) => {
		propose(peer, parts);
		assert.equal(await judge(peer), [`failure: can still approve: ${people}`]);
	});
}

approvals("a comment after an approval takes nothing back", async ({ peer }) => {
	propose(peer, { reviews: [approval("bob"), { ...approval("bob"), state: "COMMENTED" }] });
	assert.equal(await judge(peer), ["success: approved by bob"]);
});

approvals("an approval of the 300th reviewer is found", async ({ peer }) => {
	const crowd = Array.from({ length: 299 }, (_, index) => approval(`crowd-${index}`));
	propose(peer, { reviews: [...crowd, approval("rita")] });
	assert.equal(await judge(peer), ["success: approved by rita"]);
});

approvals("what is no layer is the operators', owners and workflows above all", async ({ peer }) => {
	for (const filename of ["layers/owners.json", ".github/workflows/review.yml", "README.md"]) {
		propose(peer, { files: [{ filename }, { filename: "layers/ab/abc.json" }], reviews: [approval("bob")] });
	}
	assert.equal(await judge(peer), Array(3).fill("failure: can still approve: boss"));
});

approvals("a layer that is renamed needs the owners of both of its names", async ({ peer }) => {
	const files = [{ filename: "layers/ab/abc.json", previous_filename: "layers/en/energy-x.json" }];
	propose(peer, { files, reviews: [approval("bob")] });
	assert.equal(await judge(peer), ["failure: can still approve: eve"]);
});

approvals("what a machine writes needs nobody's approval", async ({ peer }) => {
	const files = [{ filename: "layers/ab/abc.service.json" }, { filename: "layers/health.json" }];
	propose(peer, { author: bot, files });
	assert.equal(await judge(peer), ["success: needs nobody's approval"]);
	assert.equal(peer.comments, []);
});

approvals("more files than GitHub lists are not approved", async ({ peer }) => {
	const files = Array.from({ length: 3_000 }, (_, index) => ({
		filename: `layers/ab/ab${index}.service.json`,
	}));
	propose(peer, { files, changedFiles: 3_001 });
	propose(peer, { files: [], changedFiles: 2 });
	assert.equal(
		await judge(peer),
		Array(2).fill("failure: too many files for GitHub to list them: split the change"),
	);
});

approvals("a team that is empty, or that nobody can see, is named", async ({ peer }) => {
	propose(peer, { files: [{ filename: "layers/em/empty-x.json" }] });
	peer.teams.delete("maps/energy");
	propose(peer, { files: [{ filename: "layers/en/energy-x.json" }] });
	assert.equal(await judge(peer), [
		"failure: nobody is known of @maps/empty",
		"failure: nobody is known of @maps/energy",
	]);
	peer.answers.push({ path: /teams\/energy\/members/, status: 403, message: "Resource not accessible" });
	assert.is((await judge(peer))[1], "failure: nobody is known of @maps/energy");
});

approvals("without a usable file of owners nothing is approved", async ({ peer }) => {
	propose(peer, { reviews: [approval("bob")] });
	assert.equal(await judge(peer, true, null), [
		"failure: layers/owners.json of the branch below cannot be read",
	]);
});

approvals("an owner who was removed from the file approves no more", async ({ peer }) => {
	propose(peer, { reviews: [approval("rita")] });
	const fewer = { ...ownersFile, layers: { "*": ["@maps/reviewers"] } };
	const without = parseOwners(new TextEncoder().encode(JSON.stringify(fewer))).owners;
	assert.equal(await judge(peer, true, without), ["failure: can still approve: Ann, bob"]);
});

approvals("owners and a layer in one change: those of the branch below count for both", async ({ peer }) => {
	// Whoever makes himself the owner in his own change is none yet.
	const files = [{ filename: "layers/owners.json" }, { filename: "layers/en/energy-x.json" }];
	const pull = propose(peer, { author: "mallory", files, reviews: [approval("mallory"), approval("eve")] });
	assert.equal(await judge(peer), ["failure: can still approve: boss"]);
	pull.reviews.push(approval("boss"));
	assert.equal(await judge(peer), ["success: approved by boss, eve"]);
});

approvals(
	"two who approve at the same moment: two looks at once end green, with one comment",
	async ({ peer }) => {
		const files = [{ filename: "layers/ab/abc.json" }, { filename: "layers/en/energy-x.json" }];
		const pull = propose(peer, { files });
		await judge(peer);
		pull.reviews.push(approval("bob"));
		const first = judge(peer);
		pull.reviews.push(approval("eve"));
		await Promise.all([first, judge(peer)]);
		// The workflow's runs wait for each other, so that the last one sees both.
		assert.equal(await judge(peer), ["success: approved by bob, eve"]);
		assert.is(peer.statuses.at(-1)?.state, "success");
		assert.is(peer.comments.length, 1);
	},
);

approvals("300 reviews by gone accounts and on older commits hide none that counts", async ({ peer }) => {
	const noise = Array.from({ length: 300 }, (_, index) =>
		index % 2 === 0 ? approval(null) : approval("bob", older),
	);
	const pull = propose(peer, { reviews: noise });
	assert.equal(await judge(peer), ["failure: can still approve: Ann, bob, rita"]);
	pull.reviews.push(approval("rita"));
	assert.equal(await judge(peer), ["success: approved by rita"]);
});

approvals(
	"a push while it is looked at: the files of the new commit say nothing of the old one",
	async ({ peer }) => {
		// An approval of the old one must not be taken for one of other files, to which the branch is moved back later.
		const pull = propose(peer, {
			files: [{ filename: "layers/en/energy-x.json" }],
			reviews: [approval("bob")],
		});
		peer.meanwhile = () => {
			pull.sha = older;
			pull.files = [{ filename: "layers/ab/abc.json" }];
		};
		assert.equal(await judge(peer), ["newer"]);
		assert.equal(peer.statuses, []);
	},
);

/** Runs `npx fragments approvals` as the workflow does. */
async function command(peer: ReviewPeer) {
	const env = { GITHUB_REPOSITORY: "maps/layers", GITHUB_TOKEN: "t", GITHUB_API_URL: peer.url };
	return runScript("approvals", ["--author", bot], env);
}

approvals("one that cannot be judged keeps its status, and the others are judged", async ({ peer }) => {
	propose(peer, { sha: older });
	propose(peer);
	peer.answers.push({
		path: /pulls\/1\/reviews$/,
		status: 403,
		message: "This installation has been suspended",
	});
	const { code, stdout, stderr } = await command(peer);
	assert.is(code, 2);
	assert.match(stderr, /^#1: could not be judged: .*This installation has been suspended$/m);
	assert.match(stdout, /^#2: failure: /m);
	assert.equal(
		peer.statuses.map(({ sha }) => sha),
		[head],
	);
});

approvals(
	"an archived repository, and an App that is suspended: a line with GitHub's words",
	async ({ peer }) => {
		propose(peer, { reviews: [approval("bob")] });
		for (const message of [
			"Repository was archived so is read-only.",
			"This installation has been suspended",
		]) {
			peer.answers.splice(0, 1, { path: /\/statuses\//, status: 403, message });
			const { code, stderr } = await command(peer);
			assert.is(code, 2);
			assert.match(stderr, message);
		}
		assert.equal(peer.statuses, []);
	},
);

approvals("those are asked who may be, once; a second look writes nothing", async ({ peer }) => {
	peer.collaborators.add("Ann").add("rita");
	propose(peer, { reviews: [{ ...approval("rita"), state: "COMMENTED" }] });
	await judge(peer);
	assert.equal(peer.requested, [{ number: 1, login: "Ann" }]);
	const isWrite = (request: string) => !request.startsWith("GET ");
	peer.collaborators.delete("bob");
	peer.requests.length = 0;
	await judge(peer, false);
	assert.equal(peer.requests.filter(isWrite), []);
});

approvals("where GitHub does not answer nothing is judged", async ({ peer }) => {
	propose(peer, { reviews: [approval("bob")] });
	peer.answers.push({ path: /reviews$/, status: 401, message: "Bad credentials" });
	await judge(peer).then(
		() => assert.unreachable("nobody can tell"),
		(error: unknown) => assert.match(String(error), /401 .*Bad credentials/),
	);
	assert.equal(peer.statuses, []);
});

approvals("the event tells whose pull request it is; one of a push is none's", async () => {
	const folder = await mkdtemp(join(tmpdir(), "publisher-approvals-"));
	const event = async (name: string) => {
		const run = {
			event: name,
			head_sha: head,
			head_branch: "change",
			head_repository: { owner: { login: "carl" } },
		};
		await writeFile(join(folder, "event.json"), JSON.stringify({ workflow_run: run }));
		return branchOfRun(join(folder, "event.json"));
	};
	assert.is(await event("pull_request_review"), "carl:change");
	assert.is(await event("pull_request"), "carl:change");
	assert.is(await event("push"), null);
	await rm(folder, { recursive: true });
});

approvals.run();
