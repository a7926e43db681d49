import * as assert from "uvu/assert";
import { judgeProvenance } from "../../../extensions/review/provenance.ts";
import { descriptionPath, layerPath } from "../../../registry/smallkey.ts";
import { type LoggedCommit, parseCommit } from "../../../store/git/commands/commits.ts";
import { runGit } from "../../../store/git/commands/run.ts";
import { Local, noon, wms } from "../../helpers/local.ts";
import { type Ended, exits, prints, runScript, warns } from "../../helpers/process.ts";
import { eventually } from "../../helpers/wait.ts";
import { sharedSuite } from "../../helpers/world.ts";

let local: Local;
const test = sharedSuite("audit", async (use) => {
	local = use(await Local.open({ files: { [layerPath("seeded")]: wms("seed") } }));
});

function audit(...words: string[]): Promise<Ended> {
	const io = { now: () => new Date(noon + 3_600_000) };
	return runScript("audit", words, { DATA_DIR: local.folder }, io);
}

/** What a commit says; what is left out is as the service writes it. */
interface Claims {
	author?: string;
	committer?: string;
	committerMs?: number;
	parents?: string[];
	message?: string;
	paths?: string[];
}

const request = "5".repeat(64);
const noonText = "2026-03-04T12:00:00.900Z";
const trailers = (sender: string, time: string, sum = request) =>
	`Sender: ${sender}\nTimeStamp: ${time}\nRequest: ${sum}`;
const message = `register forged (wms)\n\n${trailers("jstest", noonText)}`;
const service = "fragment-publisher <fragment-publisher@sender.invalid>";
const jstest = "jstest <jstest@sender.invalid>";
const eve = "Eve <eve@x>";

function people({ author = jstest, committer = service, committerMs = noon + 1_000 }: Claims): string {
	return `author ${author} ${noon / 1_000} +0000\ncommitter ${committer} ${committerMs / 1_000} +0000\n`;
}

/** Pushes a commit that changes a file of a layer, and says whatever it likes. */
async function push(path: string, text: string | null, claims: Claims): Promise<void> {
	const { message: words = message, parents: [, merged] = [] } = claims;
	const edit =
		text === null ? `D ${path}\n` : `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
	const head = `commit refs/heads/main\n${people(claims)}data ${Buffer.byteLength(words)}\n${words}\n`;
	const merge = merged === undefined ? "" : `merge ${merged}\n`;
	const input = `${head}from ${local.store.tip}\n${merge}${edit}\n`;
	await runGit(local.repository, ["fast-import", "--quiet"], { input });
	const id = await local.git("rev-parse", "refs/heads/main");
	await eventually(() => local.store.tip === id);
}

/** How a commit that changes the layer `forged` is judged. */
function judge(claims: Claims) {
	const { parents = ["1"], message: words = message, paths = [layerPath("forged")] } = claims;
	const lines = parents.map((id) => `parent ${id}\n`).join("");
	const body = Buffer.from(`${lines}${people(claims)}\n${words}`);
	const files = paths.map((path) => ({ status: "M", path }));
	const commit: LoggedCommit = { ...parseCommit({ id: "0", type: "commit", body }), files };
	const { isForged, lines: texts } = judgeProvenance(commit, new Map());
	return { isForged, text: texts.join("\n") };
}

const several = `change 2 layers\n\n${trailers("jstest", noonText)}\nRequest: ${"6".repeat(64)}`;
const both = [descriptionPath("forged"), layerPath("forged")];
const batch = "register 1 layer\n\nSender: jstest";

/** What is forged, and why it is no request of the sender. */
const forged: [why: string, ...Claims[]][] = [
	["its author and committer are not", { committer: "fragment-publisher <eve@x>" }, { author: eve }],
	["it does not name one sender", { message: `${message}\nSender: other` }],
	["of a sender, and is not: it does not name", { message: message.replace("Sender: jstest\n", "") }],
	[
		"a request has one TimeStamp and one Request",
		{ message: message.replace(request, "5") },
		{ message: `${message}\nTimeStamp: ${noonText}` },
	],
	[
		"its TimeStamp is not the time",
		{ message: message.replace("12:00:00.900", "11:59:00") },
		{ committerMs: noon - 200_000 },
		{ committerMs: noon + 301_000 },
	],
	[
		"its subject does not name the one layer",
		{ paths: ["forged", "other"].map(layerPath) },
		{ message: message.replace("forged", "forged-2") },
		{ message: several, paths: ["forged", "other", "third"].map(layerPath) },
	],
	["the service changes no", { author: service, message: "repair other\n\nRepairs: other", paths: both }],
	["it is a merge", { parents: ["1", "2"], message: batch }],
];

test("trailers that the service cannot have written are named as forged, each with its reason", () => {
	for (const claims of [
		{},
		{ author: service, committer: eve, message: "x" },
		{ author: service, message: "repair forged\n\nRepairs: forged" },
		{ author: service, message: "harvest forged", paths: both.slice(0, 1) },
		{ message: several, paths: ["forged", "other"].map(layerPath) },
	])
		assert.is(judge(claims).isForged, false);
	assert.match(judge({ message: batch }).text, "by the sender jstest, with npx fragment-publisher register:");
	for (const [why, ...all] of forged)
		for (const { isForged, text } of all.map(judge)) {
			assert.ok(isForged, why);
			assert.match(text, "FORGED: it says that it is a request of ");
			assert.match(text, why);
		}
});

test("a review that GitHub squashed is no forgery; the same in another name is", () => {
	const late = { committer: "GitHub <noreply@github.com>", committerMs: noon + 86_400_000 };
	const author = "maps-service[bot] <7+maps-service[bot]@users.noreply.github.com>";
	const twice = `${message}\n${trailers("jstest", noonText, "6".repeat(64))}`;
	for (const claims of [late, { ...late, author, message: twice }]) {
		const { isForged, text } = judge(claims);
		assert.not(isForged);
		assert.match(text, "by the sender jstest, merged at GitHub");
	}
	const others = [{ committer: "GitHub <eve@x>" }, { parents: ["1", "2"] }, { author: "x[bot] <eve@x>" }];
	for (const claims of [...others, { author: eve }, { message: `${message}\nSender: other` }])
		assert.ok(judge({ ...late, ...claims }).isForged);
});

test("a layer's changes are listed with sender, time, door and request, since a time", async () => {
	local.now = noon + 60_000;
	await local.put("told", wms("before"));
	local.now = noon + 30 * 60_000;
	await local.put("told", wms("after"));
	await local.delete("told");
	const [removed = "", changed = "", , count] = (await audit("told")).stdout.trim().split("\n\n");
	assert.match(removed, /^2026-03-04 12:30:00 {2}[0-9a-f]{12} {2}removed\n/);
	assert.match(
		changed,
		/by the sender jstest, with a signed request of 2026-03-04T12:30:00.000Z\n {2}checksum of the request [0-9a-f]{64}$/,
	);
	assert.is(count, "3 changes");
	await prints(audit("told", "--since", "45m"), 0, /\n2 changes\n$/);
	const none = "the smallkey told: nothing since 2027-01-01 in the repository";
	await warns(audit("told", "--since", "2027-01-01"), 1, none);
});

test("a push is listed as one, its text cannot steer the terminal, and a description is among the changes", async () => {
	const author = "Ann\x1b[31m <ann@example.org>";
	const words = { author, committer: "Bo <bo@x>", message: "red\x1b[0m ##[error]" };
	await push(descriptionPath("seeded"), "{}", words);
	const { stdout } = await prints(audit("seeded"), 0, [
		/by Ann.*<ann@example.org>, with a push or a pull request: red/,
		"committed by Bo <bo@x>",
		"by the service itself: seed 1 files",
	]);
	for (const text of ["\x1b", "##[error]"]) assert.not.match(stdout, text);
	await push(descriptionPath("seeded"), null, { message: "describe nothing" });
});

test("a request that is copied from an honest commit is named with that commit", async () => {
	local.now = noon;
	await local.put("copied", wms("honest"));
	const honest = local.store.tip;
	const copied = await local.git("log", "-1", "--format=%B", honest);
	await push(layerPath("copied"), wms("evil"), { message: copied });
	const { stdout } = await exits(audit("copied"), 1);
	assert.match(stdout, `its Request is copied from ${honest.slice(0, 12)}`);
	assert.match(stdout, /by the sender jstest, with a signed request of[\s\S]*\n2 changes, 1 forged\n/);
});

test("--since believes no date before a commit's parent or in the future", async () => {
	local.now = noon;
	await local.put("dated", wms("one"));
	const hand = { author: eve, committer: eve, message: "by hand" };
	await push(layerPath("dated"), wms("two"), { ...hand, committerMs: Date.UTC(2001, 0, 1) });
	const parents = ["", await local.git("rev-parse", "refs/heads/main~1")];
	await push(layerPath("dated"), wms("three"), { ...hand, parents, committerMs: Date.UTC(2099, 0, 1) });
	const { stdout } = await exits(audit("dated", "--since", "1d"), 0);
	const heads = stdout.match(/^2026-03-04 .{8} {2}\w{12} {2}\w+(?:\n {2}its.*)?/gm);
	assert.equal(
		heads?.map((text) => text.slice(35)),
		[
			"changed\n  its own date, which cannot be, is 2099-01-01 00:00:00",
			"changed\n  its own date, which cannot be, is 2001-01-01 00:00:00",
			"added",
		],
	);
});

test.run();
