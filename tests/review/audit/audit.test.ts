import { join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../../registry/smallkey.ts";
import { runGit } from "../../../system/git/run.ts";
import { feature, Local, noon, wms } from "../../helpers/local.ts";
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

/** Who a forged commit says it is of; what is left out is as the service writes it. */
interface Forgery {
	author?: string;
	committer?: string;
	authorMs?: number;
	committerMs?: number;
	/** The header `encoding`; none without it. */
	encoding?: string;
	/** The second parent of a merge. */
	merged?: string;
	message: string;
}

const service = "fragment-publisher <fragment-publisher@sender.invalid>";
const jstest = "jstest <jstest@sender.invalid>";

/** Pushes a commit that changes a layer, and says whatever it likes. */
async function push(smallkey: string, text: string | null, forgery: Forgery): Promise<string> {
	const {
		author = jstest,
		committer = service,
		authorMs = noon,
		committerMs = noon + 1_000,
		encoding,
		merged,
		message,
	} = forgery;
	const path = layerPath(smallkey);
	const edit =
		text === null ? `D ${path}\n` : `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
	const stream = [
		"commit refs/heads/main\n",
		`author ${author} ${Math.floor(authorMs / 1_000)} +0000\n`,
		`committer ${committer} ${Math.floor(committerMs / 1_000)} +0000\n`,
		...(encoding === undefined ? [] : [`encoding ${encoding}\n`]),
		`data ${Buffer.byteLength(message)}\n${message}\n`,
		`from ${local.store.tip}\n`,
		...(merged === undefined ? [] : [`merge ${merged}\n`]),
		`${edit}\n`,
	];
	await runGit(local.repository, ["fast-import", "--quiet"], { input: stream.join("") });
	const id = await local.git("rev-parse", "refs/heads/main");
	await eventually(() => local.store.tip === id);
	return id;
}

const request = "5".repeat(64);
const trailers = (sender: string, time: string, sum = request) =>
	`Sender: ${sender}\nTimeStamp: ${time}\nRequest: ${sum}`;
const noonText = "2026-03-04T12:00:00.000Z";

test("a layer's changes are listed with sender, time, door, request and what viewers read", async () => {
	local.now = noon + 60_000;
	await local.put("told", wms("before"));
	local.now = noon + 120_000;
	await local.put("told", wms("after"));
	local.now = noon + 180_000;
	await local.delete("told");
	const { stdout } = await warns(audit("told"), 0, [
		`Reading the history of the smallkey told in the repository of DATA_DIR, ${local.folder}`,
	]);
	const [removed = "", changed = "", added = "", count = ""] = stdout.trim().split("\n\n");
	assert.match(removed, /^2026-03-04 12:03:00 {2}[0-9a-f]{12} {2}removed\n/);
	assert.match(changed, /^2026-03-04 12:02:00 {2}[0-9a-f]{12} {2}changed\n/);
	assert.match(changed, "by the sender jstest, with a signed request of 2026-03-04T12:02:00.000Z\n");
	assert.match(changed, /\n {2}request [0-9a-f]{64}\n/);
	assert.match(changed, /viewers in en read:[\s\S]*\n {4}-.*before[\s\S]*\n {4}\+.*after/);
	assert.match(added, "  added\n");
	assert.is(count, "3 changes");
});

test("--since leaves out what is older, as a span or a date", async () => {
	local.now = noon + 60_000;
	await local.put("since", wms("old"));
	local.now = noon + 30 * 60_000;
	await local.put("since", wms("new"));
	assert.match((await audit("since", "--since", "45m")).stdout, /\n1 change\n$/);
	assert.match((await audit("since", "--since", "2026-03-04T12:10:00Z")).stdout, /\n1 change\n$/);
	assert.match((await audit("since", "--since", "2026-03-01")).stdout, /\n2 changes\n$/);
	const nothing = await audit("since", "--since", "2027-01-01");
	assert.equal([nothing.code, nothing.stdout], [1, ""]);
	assert.match(nothing.stderr, "the smallkey since: nothing since 2027-01-01 in the repository");
	const bad = await exits(audit("since", "--since", "yesterday"), 2);
	assert.match(bad.stderr, "--since: must be a time such as 7d or 2026-03-04, not yesterday");
});

test("a push is listed as one, and a description that the service found as its own", async () => {
	await local.put("pushed", feature);
	const changed = feature.replace("https", "http");
	await push("pushed", changed, {
		author: "Ann <ann@example.org>",
		committer: "Bo <bo@x>",
		message: "by hand",
	});
	await prints(audit("pushed"), 0, [
		"by Ann <ann@example.org>, with a push or a pull request: by hand\n  committed by Bo <bo@x>\n",
	]);
	const seeded = await audit("seeded");
	assert.match(seeded.stdout, "by the service itself: seed 1 files");
});

const eve = "Eve <eve@x>";
const message = `register forged (wms)\n\n${trailers("jstest", noonText)}`;
const hidden = "fragment\x1b(B-publisher";
const repair = "repair other: the same layer at another place\n\nRepairs: other";
const noRegistration = "the service changes no registration";

/** What is forged, and why it is no request of the sender. A message that is left out is an honest one. */
const forged: [string, Partial<Forgery>, string | RegExp][] = [
	["a committer", { committer: eve }, "its committer is Eve <eve@x>, and not the service"],
	[
		"a committer that reads as the service in another encoding",
		{ committer: `${hidden} <${hidden}@sender.invalid>`, encoding: "ISO-2022-JP" },
		/its committer is fragment.*\(B-publisher <.*>, and not the service/,
	],
	[
		"trailers and names of which nothing is left in another encoding",
		{ author: eve, encoding: "UTF-16" },
		"its author is Eve <eve@x>, and not the sender",
	],
	["an author", { author: eve }, "its author is Eve <eve@x>, and not the sender"],
	["two senders", { message: `${message}\nSender: other` }, "it names more than one sender"],
	["no sender", { message: `register forged (wms)\n\nRequest: ${request}` }, "it names no sender"],
	[
		"a time",
		{ message: message.replace("12:00:00.000", "11:59:00") },
		"its author's time is not its TimeStamp",
	],
	["an old request", { committerMs: noon + 3_600_000 }, "it was committed long after its timestamp"],
	["a request of the future", { committerMs: noon - 200_000 }, "it was committed before its timestamp"],
	["a sum", { message: message.replace(request, "abc") }, "its Request is no SHA-256"],
	["a subject", { message: message.replace("forged", "other") }, "its subject names another layer"],
	[
		"no time",
		{ message: message.replace(/TimeStamp.*\n/, "") },
		"a request has one TimeStamp and one Request",
	],
	["the service's name", { author: service, message: "harvest forged" }, noRegistration],
	["the repair of another layer", { author: service, message: repair }, noRegistration],
];

test("trailers that the service cannot have written are named as forged, each with its reason", async () => {
	for (const [index, [, forgery]] of forged.entries())
		await push("forged", wms(`f${index}`), { message, ...forgery });
	const { stdout } = await exits(audit("forged"), 1);
	const entries = stdout.trim().split("\n\n").slice(0, -1).reverse();
	for (const [index, [name, , why]] of forged.entries()) {
		assert.match(entries[index] ?? "", "  FORGED: it says that it is a request of ", name);
		assert.match(entries[index] ?? "", why, name);
	}
	assert.match(stdout, `\n${forged.length} changes, ${forged.length} forged\n`);
});

test("a request that is copied from an honest commit is named with that commit", async () => {
	local.now = noon;
	await local.put("copied", wms("honest"));
	const honest = local.store.tip;
	const message = await local.git("log", "-1", "--format=%B", honest);
	await push("copied", wms("evil"), { message });
	const { stdout } = await exits(audit("copied"), 1);
	assert.match(stdout, `its Request is copied from ${honest.slice(0, 12)}`);
	assert.match(stdout, "by the sender jstest, with a signed request of");
	assert.match(stdout, "\n2 changes, 1 forged\n");
});

test("a merge is no change of a sender", async () => {
	await local.put("merged", wms("one"));
	const merged = await local.git("rev-parse", "refs/heads/main~1");
	await push("merged", wms("two"), { merged, message: "register 1 layer\n\nSender: jstest" });
	const { stdout } = await exits(audit("merged"), 1);
	assert.match(stdout, "FORGED: it says that it is a request of jstest, and is not: it is a merge");
});

test("a review that GitHub squashed is no forgery; the same in another name is", async () => {
	const committer = "GitHub <noreply@github.com>";
	const message = `register squashed (wms) (#7)\n\n${trailers("jstest", noonText)}`;
	await push("squashed", wms("one"), { committer, committerMs: noon + 86_400_000, message });
	await prints(audit("squashed"), 0, [
		"by the sender jstest, merged at GitHub, which has who merged it: register squashed",
	]);
	await push("squashed", wms("two"), { author: "Eve <eve@x>", committer, message });
	await exits(audit("squashed"), 1);
	// The author of a squash by the workflows' App is the App that opened the pull request.
	const app = "maps-service[bot] <7+maps-service[bot]@users.noreply.github.com>";
	const more = `${message}\n${trailers("jstest", noonText, "6".repeat(64))}`;
	await push("by-app", wms("one"), { author: app, committer, message: more });
	await prints(audit("by-app"), 0, "by the sender jstest, merged at GitHub");
	await push("by-app", wms("two"), { author: app, committer: app, message });
	await exits(audit("by-app"), 1);
	const two = `${message.trimEnd()}\nSender: other\n`;
	await push("squashed", wms("three"), { author: "jstest, other <x@x>", committer, message: two });
	assert.match((await audit("squashed")).stdout, "it names more than one sender");
});

test("a clone without its history says so", async () => {
	local.now = noon;
	await local.put("shallow", wms("x"));
	const clone = join(local.folder, "clone.git");
	await local.git("clone", "-q", "--bare", "--depth", "1", `file://${local.repository}`, clone);
	const { stderr } = await audit("shallow", "--repo", clone);
	assert.match(stderr, "Only the end of its history is here: git fetch --unshallow");
});

test("--sender tells all that is done in a sender's name, what is forged too", async () => {
	local.now = noon;
	await local.write({ target: "/register/abcd", sender: "narrow", body: wms("narrow") });
	const message = `register x1 (wms)\n\n${trailers("narrow", noonText)}`;
	await push("x1", wms("evil"), { author: "Eve <eve@x>", message });
	const { stdout } = await exits(audit("--sender", "narrow"), 1);
	assert.match(stdout, "added abcd\n  by the sender narrow, with a signed request");
	assert.match(stdout, "added x1\n  FORGED");
	assert.match(stdout, "\n2 changes, 1 forged\n");
	await local.write({ target: "/register/abcd", sender: "narrow", body: wms("other") });
	await local.write({ target: "/register/abcd", sender: "narrow", method: "DELETE", body: "" });
	const verbs = (await audit("--sender", "narrow")).stdout.match(/\w+ abcd$/gm);
	assert.equal(verbs, ["removed abcd", "changed abcd", "added abcd"]);
});

test("text of a commit cannot steer the terminal", async () => {
	const author = "Eve\x1b[31m <eve@x>";
	await push("steered", wms("x"), { author, committer: author, message: "red\x1b[0m ##[error]" });
	const { stdout } = await audit("steered");
	assert.not.match(stdout, "\x1b");
	assert.not.match(stdout, "##[error]");
});

test("a smallkey or a sender without history is named, and an impossible one is refused", async () => {
	const never = await audit("never-was");
	assert.equal([never.code, never.stdout], [1, ""]);
	assert.match(never.stderr, "the smallkey never-was: nothing in the repository of DATA_DIR");
	await warns(audit("--sender", "unknown"), 1, "the sender unknown: nothing in the repository of DATA_DIR");
	for (const [words, error] of [
		[["../x"], "smallkey: must be 1 to 64 of A-Z a-z 0-9 _ - + =, not ../x"],
		[["--sender", "../x"], "--sender: an id must be 1 to 64 of A-Z a-z 0-9 . _ -, not ../x"],
		[[], "a smallkey, or --sender <id>: one of them is needed"],
		[["a", "--sender", "b"], "a smallkey, or --sender <id>: one of them is needed"],
		[["a", "--repo", "/nowhere"], "--repo: the repository /nowhere: is no git repository with a branch main"],
	] as const) {
		await warns(audit(...words), 2, error);
	}
});

test.run();
