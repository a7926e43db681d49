import * as assert from "uvu/assert";
import { descriptionPath, layerPath } from "../../../registry/smallkey.ts";
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

/** What a forged commit says; what is left out is as the service writes it. */
interface Forgery {
	author?: string;
	committer?: string;
	committerMs?: number;
	merged?: string;
	message: string;
}

const service = "fragment-publisher <fragment-publisher@sender.invalid>";
const jstest = "jstest <jstest@sender.invalid>";

/** Pushes a commit that changes a file of a layer, and says whatever it likes. */
async function push(
	smallkey: string,
	text: string | null,
	forgery: Forgery,
	path = layerPath(smallkey),
): Promise<string> {
	const { author = jstest, committer = service, merged, message } = forgery;
	const { committerMs = noon + 1_000 } = forgery;
	const edit =
		text === null ? `D ${path}\n` : `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
	const stream = [
		"commit refs/heads/main\n",
		`author ${author} ${noon / 1_000} +0000\n`,
		`committer ${committer} ${committerMs / 1_000} +0000\n`,
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

const eve = "Eve <eve@x>";
const message = `register forged (wms)\n\n${trailers("jstest", noonText)}`;
const repair = "repair other: the same layer at another place\n\nRepairs: other";

/** What is forged, and why it is no request of the sender. A message that is left out is an honest one. */
const forged: [string, Partial<Forgery>, string | RegExp][] = [
	["a committer", { committer: eve }, "its committer is Eve <eve@x>, and not the service"],
	["a committer of its name", { committer: "fragment-publisher <eve@x>" }, "<eve@x>, and not the service"],
	["two senders", { message: `${message}\nSender: other` }, "it does not name one sender"],
	["a time", { message: message.replace("12:00:00.000", "11:59:00") }, "its TimeStamp is not the time"],
	["a request of the future", { committerMs: noon - 200_000 }, "its TimeStamp is not the time"],
	["a subject", { message: message.replace("forged", "other") }, "its subject does not name the one layer"],
	[
		"the repair of another layer",
		{ author: service, message: repair },
		"the service changes no registration",
	],
];

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
		/by the sender jstest, with a signed request of 2026-03-04T12:30:00.000Z\n {2}request [0-9a-f]{64}$/,
	);
	assert.is(count, "3 changes");
	await prints(audit("told", "--since", "45m"), 0, /\n2 changes\n$/);
	const none = "the smallkey told: nothing since 2027-01-01 in the repository";
	await warns(audit("told", "--since", "2027-01-01"), 1, none);
});

test("a push is listed as one, its text cannot steer the terminal, and the service's own commits are named", async () => {
	const author = "Ann\x1b[31m <ann@example.org>";
	await push("pushed", wms("x"), { author, committer: "Bo <bo@x>", message: "red\x1b[0m ##[error]" });
	const { stdout } = await prints(audit("pushed"), 0, [
		/by Ann.*<ann@example.org>, with a push or a pull request: red/,
		"committed by Bo <bo@x>",
	]);
	for (const text of ["\x1b", "##[error]"]) assert.not.match(stdout, text);
	await prints(audit("seeded"), 0, "by the service itself: seed 1 files");
});

test("a commit that changes only a layer's service description is among the layer's changes", async () => {
	await push("seeded", "{}", { author: eve, message: "describe" }, descriptionPath("seeded"));
	await prints(audit("seeded"), 0, "by Eve <eve@x>, with a push or a pull request: describe");
	await push("seeded", null, { message: "describe nothing" }, descriptionPath("seeded"));
});

test("trailers that the service cannot have written are named as forged, each with its reason", async () => {
	const merged = await local.git("rev-parse", "refs/heads/main~1");
	const merge = { merged, message: "register 1 layer\n\nSender: jstest" };
	const all = [...forged, ["a merge", merge, "it is a merge"] as const];
	for (const [index, [, forgery]] of all.entries())
		await push("forged", wms(`f${index}`), { message, ...forgery });
	const { stdout } = await exits(audit("forged"), 1);
	const entries = stdout.trim().split("\n\n").slice(0, -1).reverse();
	for (const [index, [name, , why]] of all.entries()) {
		assert.match(entries[index] ?? "", "  FORGED: it says that it is a request of ", name);
		assert.match(entries[index] ?? "", why, name);
	}
	assert.match(stdout, `\n${all.length} changes, ${all.length} forged\n`);
});

test("a request that is copied from an honest commit is named with that commit", async () => {
	local.now = noon;
	await local.put("copied", wms("honest"));
	const honest = local.store.tip;
	await push("copied", wms("evil"), { message: await local.git("log", "-1", "--format=%B", honest) });
	const { stdout } = await exits(audit("copied"), 1);
	assert.match(stdout, `its Request is copied from ${honest.slice(0, 12)}`);
	assert.match(stdout, /by the sender jstest, with a signed request of[\s\S]*\n2 changes, 1 forged\n/);
});

test("a review that GitHub squashed is no forgery; the same in another name is", async () => {
	const committer = "GitHub <noreply@github.com>";
	const app = "maps-service[bot] <7+maps-service[bot]@users.noreply.github.com>";
	const squash = `register squashed (wms) (#7)\n\n${trailers("jstest", noonText)}`;
	const both = `${squash}\n${trailers("jstest", noonText, "6".repeat(64))}`;
	const late = { committer, committerMs: noon + 86_400_000 };
	const states: [Forgery, boolean][] = [
		[{ ...late, message: squash }, true],
		[{ ...late, author: app, message: both }, true],
		[{ ...late, author: eve, message: squash }, false],
		[{ ...late, author: "jstest, other <x@x>", message: `${squash}\nSender: other` }, false],
	];
	for (const [index, [forgery]] of states.entries()) await push("squashed", wms(`s${index}`), forgery);
	const entries = (await audit("squashed")).stdout.trim().split("\n\n").slice(0, -1).reverse();
	for (const [index, [, isHonest]] of states.entries())
		assert.match(
			entries[index] ?? "",
			isHonest ? "by the sender jstest, merged at GitHub" : "  FORGED: ",
			`${index}`,
		);
});

test("--since believes no date before a commit's parent or in the future", async () => {
	local.now = noon;
	await local.put("dated", wms("one"));
	const push2001 = { author: eve, committer: eve, committerMs: Date.UTC(2001, 0, 1), message: "by hand" };
	await push("dated", wms("two"), push2001);
	await push("dated", wms("three"), { ...push2001, committerMs: Date.UTC(2099, 0, 1) });
	const { stdout } = await exits(audit("dated", "--since", "1d"), 0);
	assert.equal(
		stdout.match(/^2026-03-04 .{8} {2}\w{12} {2}\w+(?:\n {2}its.*)?/gm)?.map((text) => text.slice(35)),
		[
			"changed\n  its own date, which cannot be, is 2099-01-01 00:00:00",
			"changed\n  its own date, which cannot be, is 2001-01-01 00:00:00",
			"added",
		],
	);
	assert.match(stdout, "\n3 changes\n");
});

test.run();
