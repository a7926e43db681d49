import { chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { healthPath } from "../../registry/health.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { GitFailure } from "../../system/git/run.ts";
import { feature, Local, textOf, wms } from "../helpers/local.ts";
import { type Ended, exits, prints, runScript, ServerProcess, warns } from "../helpers/process.ts";
import { eventually } from "../helpers/wait.ts";
import { beforeGit, freshSuite, Repository, temporaryFolder } from "../helpers/world.ts";

let local: Local;
const test = freshSuite("reviews of a service on this machine", async (use) => {
	const health = '{"sick":{"described":{"state":"down","since":"2026-W05"}}}';
	const layers = { [layerPath("first")]: wms("first"), [layerPath("described")]: feature };
	local = use(await Local.open({ files: { ...layers, [healthPath]: health } }));
});

function run(name: string, ...words: string[]): Promise<Ended> {
	return runScript(name, words, { DATA_DIR: local.folder });
}

/** Accepts what is there now. */
async function accept(name: string, ...words: string[]): Promise<Ended> {
	const branch = name.includes("/") ? name : `register/${name}`;
	const commit = await local.git("rev-parse", `refs/heads/${branch}`);
	return run("review", "accept", name, "--commit", commit, ...words);
}

/** What the publisher reads at `/status/<smallkey>`; null: nothing. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
async function statusOf(smallkey: string): Promise<any> {
	const status = await local.context.status?.(smallkey, []);
	return typeof status === "function" ? status("en") : status;
}

async function propose(smallkey: string, body: string): Promise<void> {
	const answer = await local.write({ target: `/register/${smallkey}`, sender: "careful", body });
	assert.is(answer.status, 201);
	assert.is(local.get(`/v0.9/doc/en/${smallkey}`).status, 404);
}

test("status lists what is sick, without a harvest, waiting, and the room on the disk", async () => {
	await propose("waits", wms("waits"));
	const { stdout, stderr } = await prints(run("status"), 0, /^2 layers at commit [0-9a-f]{12}\n/);
	assert.match(stderr, `Looking at the branch main of the repository of DATA_DIR, ${local.repository}`);
	assert.match(stdout, "0 files not in order\n1 sick layer\n  described  down since 2026-W05\n");
	assert.match(stdout, "2 layers without a harvest\n  described  was asked: down\n  first\n");
	assert.match(
		stdout,
		"1 review waits\n  register/waits  of careful, 2026-03-04: register waits (wms)  (npx fragment-publisher review show register/waits)",
	);
	assert.match(stdout, /\ndisk: [\d.]+ GB of [\d.]+ GB left\nno service runs on it\n$/);
});

test("a review is listed and shown: who asked, what viewers will read, warnings, and how to decide", async () => {
	const none = await run("review", "list");
	assert.equal([none.code, none.stdout], [0, ""]);
	assert.match(none.stderr, "no review waits in the repository of DATA_DIR");
	const there = "http://wms.ess-ws.nrcan.gc.ca/wms/toporama_en";
	await propose("waits", wms("waits").replaceAll(there, "https://maps.invalid/wms?x=1"));
	const id = await local.git("rev-parse", "refs/heads/register/waits");
	const { stdout } = await run("review", "list");
	assert.is(
		stdout,
		"register/waits  of careful, 2026-03-04: register waits (wms)  (npx fragment-publisher review show register/waits)\n",
	);
	const before = await local.state();
	await prints(run("review", "show", "waits"), 0, [
		`register/waits at commit ${id}\n  proposed ${id.slice(0, 12)} of 2026-03-04 12:00:00\n`,
		"    by the sender careful, with a signed request of 2026-03-04T12:00:00.000Z\n",
		/warning layers\/wa\/waits\.json:5: \/en\/service_url: has a query/,
		/waits: added\n {2}viewers in en read:\n[\s\S]*\n {2}viewers in fr read:\n {4}\+/,
		`npx fragment-publisher review accept register/waits --commit ${id.slice(0, 12)}\n`,
	]);
	const markdown = await run("review", "show", "register/waits", "--markdown");
	assert.match(
		markdown.stdout,
		/^<!-- fragment-publisher: review -->\n### The layers of this change are in order\n/,
	);
	assert.match(markdown.stdout, "#### Accepted, but probably not meant");
	assert.match(markdown.stdout, "`en`: what viewers will read.\n\n```diff\n+{");
	assert.is(await local.state(), before, "and nothing was merged");
});

test("without a terminal only the commit that was shown is merged", async () => {
	await propose("waits", wms("waits"));
	const shown = await local.git("rev-parse", "refs/heads/register/waits");
	const before = await local.state();
	const unseen = await exits(run("review", "accept", "waits"), 2);
	assert.match(unseen.stderr, `--commit ${shown.slice(0, 12)}: is needed to merge this without a terminal`);
	assert.is(await local.state(), before, "and nothing was merged");

	local.now += 1_000;
	await propose("waits", wms("later"));
	const moved = await local.state();
	await warns(run("review", "accept", "waits", "--commit", shown.slice(0, 12)), 1, [
		`register/waits: has changed since ${shown.slice(0, 12)} was shown: npx fragment-publisher review show`,
	]);
	await warns(run("review", "accept", "waits", "--commit", "0123456789ab"), 1, [
		"register/waits: there is no commit 0123456789ab: npx fragment-publisher review show",
	]);
	assert.is(await local.state(), moved, "and nothing was merged");
});

test("a change that comes while the reviewer is asked is not merged", async () => {
	await propose("waits", wms("waits"));
	let moved = "";
	const ask = async () => {
		local.now += 1_000;
		await propose("waits", wms("later"));
		moved = await local.state();
		return "y";
	};
	const { code, stderr } = await runScript(
		"review",
		["accept", "waits"],
		{ DATA_DIR: local.folder },
		{ ask },
	);
	assert.is(code, 1);
	assert.match(stderr, /register\/waits: has changed since [0-9a-f]{12} was shown/);
	assert.is(await local.state(), moved, "and nothing was merged");
	const words = ["accept", "waits"];
	const refused = await runScript("review", words, { DATA_DIR: local.folder }, { ask: async () => "" });
	assert.equal([refused.code, refused.stderr.includes("Not accepted: nothing was merged")], [1, true]);
	assert.is(await local.state(), moved);
});

test("an accepted change is served, and the audit names sender and reviewer", async () => {
	await propose("waits", wms("waits"));
	const { stdout, stderr } = await exits(accept("waits", "--by", "Ann B"), 0);
	assert.match(stderr, "Accepting register/waits of careful in the repository of DATA_DIR");
	assert.match(stdout, "waits: added\n  viewers in en read:\n");
	assert.match(stdout, /\nAccepted: [0-9a-f]{12} is on the branch main\n$/);
	await eventually(() => local.get("/v0.9/doc/en/waits").status === 200);
	assert.match(textOf(local.get("/v0.9/doc/en/waits")), "waits");
	const merge = await local.git("rev-parse", "refs/heads/main");
	await local.put("other", wms("other"));
	assert.match(await (await local.put("waits", wms("waits"))).text(), `"commit":"${merge}"`);
	assert.match((await run("status")).stdout, "\n0 reviews wait\n");
	const audit = await exits(run("audit", "waits"), 0);
	assert.match(audit.stdout, "merged by Ann B <Ann-B@reviewer.invalid>: accept register/waits\n  brought ");
	assert.match(audit.stdout, "    by the sender careful, with a signed request of ");
});

test("an accepted change keeps what others stored meanwhile; a layer that both changed is not merged", async () => {
	await propose("waits", wms("waits"));
	assert.is((await local.put("other", wms("other"))).status, 201);
	await exits(accept("register/waits"), 0);
	await eventually(() => local.get("/v0.9/doc/en/waits").status === 200);
	assert.is(local.get("/v0.9/doc/en/other").status, 200);

	await local.write({ target: "/register/first", sender: "careful", body: wms("careful") });
	assert.match((await run("review", "show", "first")).stdout, "To merge exactly this: ");
	await local.put("first", wms("faster"));
	const { stdout: listed } = await run("review", "list");
	assert.match(listed, "register first (wms); the branch main has changed the same layer since  (npx");
	const shown = await prints(run("review", "show", "first"), 1, [
		"It cannot be merged: the branch main has changed the same layer since. Decline it",
	]);
	assert.not.match(shown.stdout, "review accept");
	const before = await local.git("rev-parse", "refs/heads/main");
	await warns(accept("first"), 1, [
		"register/first: the branch main has changed the same layer since. Decline it, and ask",
	]);
	assert.is(await local.git("rev-parse", "refs/heads/main"), before);
	assert.match((await run("status")).stdout, "\n1 review waits\n");
});

test("changes of different lines of one layer are not joined: no reviewer has seen the result", async () => {
	const { en, fr, ...rest } = JSON.parse(wms("first"));
	const ofReview = JSON.stringify({ ...rest, en: { ...en, layer: "english" }, fr });
	await local.write({ target: "/register/first", sender: "careful", body: ofReview });
	await local.put("first", JSON.stringify({ ...rest, en, fr: { ...fr, layer: "french" } }));
	const before = await local.state();
	assert.match((await run("review", "list")).stdout, "main has changed the same layer since");
	await warns(accept("first"), 1, "the branch main has changed the same layer since. Decline it");
	assert.is(await local.state(), before, "and nothing was merged");
});

test("a branch whose layer is wrong is not merged", async () => {
	await propose("waits", wms("waits"));
	const blob = join(local.folder, "wrong.json");
	await writeFile(blob, '{"version":"1.0.0"}');
	const id = await local.git("hash-object", "-w", blob);
	await local.git("read-tree", "--index-output=index", "refs/heads/register/waits");
	await local.git("update-index", "--add", "--cacheinfo", `100644,${id},${layerPath("waits")}`);
	const tree = await local.git("write-tree");
	const words = ["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", tree, "-m", "x"];
	const commit = await local.git(...words, "-p", "refs/heads/register/waits");
	await local.git("update-ref", "refs/heads/register/waits", commit);
	const before = await local.state();
	const { stderr } = await prints(accept("waits"), 1, /error layers\/wa\/waits\.json.*payload_type/);
	assert.match(stderr, "Not accepted: the problems must be corrected first");
	assert.is(await local.state(), before);
});

test("a declined change leaves the list; status and audit say who declined it and why", async () => {
	await propose("waits", wms("waits"));
	const id = await local.git("rev-parse", "refs/heads/register/waits");
	const words = ["waits", "--why", "the wrong service", "--by", "Ann"];
	const { stdout } = await exits(run("review", "decline", ...words), 0);
	const branch = `declined/register/waits/${id.slice(0, 12)}`;
	assert.match(stdout, `Declined; the change is kept on the branch ${branch}\n`);
	assert.match((await run("status")).stdout, "\n0 reviews wait\n");
	const said = await local.git("log", "-1", "--format=%an <%ae>%n%B", `refs/heads/${branch}`);
	assert.match(said, "Ann <Ann@reviewer.invalid>\ndecline register/waits\n\nthe wrong service\n\nMain: ");
	assert.is(await local.git("rev-parse", `refs/heads/${branch}^`), id);
	const { registered, review, declined } = await statusOf("waits");
	assert.equal([registered, review, declined.commit, declined.reason], [null, null, id, "the wrong service"]);
	await prints(run("audit", "waits"), 0, [
		/^[\d-]{10} [\d:]{8} {2}[0-9a-f]{12} {2}declined\n {2}by Ann <.*>: the wrong service\n/,
		`  proposed ${id.slice(0, 12)} of 2026-03-04 12:00:00\n    by the sender careful, with a`,
	]);
	assert.is((await run("audit", "first")).stdout.includes("declined"), false);
	assert.match((await run("audit", "--sender", "careful")).stdout, "declined\n  by Ann");

	local.now += 1_000;
	await propose("waits", wms("better"));
	assert.match((await run("status")).stdout, "\n1 review waits\n", "its sender may try again");
	const again = await statusOf("waits");
	assert.equal([again.review.branch, again.declined], ["register/waits", null]);
});

test("what a sender did is listed in order of time, declined changes among the others", async () => {
	await propose("before", wms("before"));
	await exits(accept("before", "--by", "Ann"), 0);
	await propose("waits", wms("waits"));
	await exits(run("review", "decline", "waits", "--why", "no", "--by", "Ann"), 0);
	local.now = Date.parse("2090-01-01T00:00:00Z");
	await propose("after", wms("after"));
	await exits(accept("after", "--by", "Ann"), 0);
	const { stdout } = await run("audit", "--sender", "careful");
	const events = stdout.match(/(?<= {2})(?:added \w+|declined)$/gm);
	assert.equal(events, ["added after", "declined", "added before"]);
});

test("a layer that has changed since is no longer declined", async () => {
	await local.write({ target: "/register/first", sender: "careful", body: wms("careful") });
	await run("review", "decline", "first", "--why", "no");
	assert.is((await statusOf("first")).declined.reason, "no");
	local.now += 1_000;
	await local.put("first", wms("faster"));
	assert.is((await statusOf("first")).declined, null);
	await local.delete("first");
	assert.is(await statusOf("first"), null);
});

test("a decline that git cannot read is an error, and not shown as no decline", async () => {
	await local.write({ target: "/register/first", sender: "careful", body: wms("careful") });
	await run("review", "decline", "first", "--why", "no");
	{
		const fails = 'case " $* " in *" merge-base "* | *" rev-list "*) exit 128 ;; esac';
		using _git = beforeGit(join(local.folder, "bin"), [fails]);
		const answer = await statusOf("first").catch((error: Error) => error);
		assert.instance(answer, GitFailure, JSON.stringify(answer));
	}
	assert.is((await statusOf("first")).declined.reason, "no");
});

test("a declined request cannot be sent again after a restart", async () => {
	const timestamp = new Date(local.now).toISOString();
	const write = { target: "/register/waits", sender: "careful", body: wms("waits"), timestamp };
	assert.is((await local.write(write)).status, 201);
	await run("review", "decline", "waits", "--why", "no");
	await local.stop();
	await local.start();
	const before = await local.state();
	assert.is((await local.write(write)).status, 401);
	assert.is(await local.state(), before, "and nothing was stored");
});

test("a proposal on a branch repair/<smallkey> is decided in the same way", async () => {
	for (const smallkey of ["waits", "other"]) {
		await propose(smallkey, wms(smallkey));
		await local.git("branch", "-m", `register/${smallkey}`, `repair/${smallkey}`);
	}
	assert.match((await run("review", "list")).stdout, /^repair\/other .*\nrepair\/waits /m);
	assert.match((await run("review", "show", "waits")).stdout, "waits: added\n");
	assert.is((await statusOf("waits")).review.branch, "repair/waits");
	await exits(accept("repair/waits"), 0);
	await eventually(() => local.get("/v0.9/doc/en/waits").status === 200);
	await exits(run("review", "decline", "other", "--why", "not so"), 0);
	assert.is((await statusOf("other")).declined.reason, "not so");

	local.now += 1_000;
	await propose("twice", wms("twice"));
	await local.git("branch", "repair/twice", "register/twice");
	const before = await local.state();
	await warns(run("review", "decline", "twice", "--why", "x"), 2, /twice: is \S+ or \S+: name one of them/);
	assert.is(await local.state(), before, "and nothing was declined");
});

test("a decision that cannot be made is refused, and nothing changes", async () => {
	await propose("waits", wms("waits"));
	const before = await local.state();
	for (const [words, error] of [
		["show nothing", "nothing: does not wait for a review; these wait: register/waits"],
		["accept nothing", "nothing: does not wait for a review; these wait: register/waits"],
		["accept main", "main: does not wait"],
		["accept ../../x", "../../x: does not wait"],
		["accept waits --by a<b>", "--by: must be a name of 1 to 100 characters without < and >"],
		["accept waits --commit HEAD", "--commit: must be an id as npx fragment-publisher review show prints it"],
		["accept", "missing required argument 'key'"],
		["decline waits", "--why: is needed"],
		["decline waits --why \n", "--why: must be a reason of 1 to 500 characters in one line"],
		["decline nothing --why x", "nothing: does not wait"],
		["acept waits", "too many arguments"],
	] as const) {
		await warns(run("review", ...words.split(" ")), 2, error);
	}
	assert.is(await local.state(), before);
	using checkout = new Repository({});
	const { stderr } = await exits(run("review", "accept", "waits", "--repo", checkout.path), 2);
	assert.match(stderr, "is no repository of a service; a pull request is merged where it was opened");
});

test("accept and decline are shorter names of the same verbs", async () => {
	await propose("waits", wms("waits"));
	assert.match((await run("accept", "waits")).stderr, "is needed to merge this without a terminal");
	await exits(run("decline", "waits", "--why", "no"), 0);
	assert.match((await run("help", "accept")).stdout, "Usage: npx fragment-publisher review accept");
});

(process.getuid?.() === 0 ? test : test.skip)(
	"another user than the repository's is refused, and nothing changes",
	async () => {
		await propose("waits", wms("waits"));
		const before = await local.state();
		await chown(join(local.repository, "refs", "heads"), 12_345, 12_345);
		for (const words of ["accept waits --commit 0123456", "decline waits --why no"]) {
			const { stderr } = await exits(run("review", ...words.split(" ")), 2);
			assert.match(stderr, "belongs to the user 12345, and this is the user 0: run it as that user");
		}
		assert.is(await local.state(), before);
	},
);

test("a publisher and a reviewer, at a service in a process of its own", async () => {
	await using folder = await temporaryFolder();
	const DATA_DIR = folder.path;
	const secret = "a secret of careful";
	await using server = await ServerProcess.start({
		DATA_DIR,
		SENDERS: JSON.stringify({ careful: { key: secret, review: true } }),
	});
	const file = join(DATA_DIR, "waits.json");
	const to = ["--url", server.url, "--sender", "careful"];
	const put = async (layer: string) => {
		await writeFile(file, wms(layer));
		await exits(runScript("put", ["waits", file, ...to], { SENDER_SECRET: secret }), 0);
	};
	const verb = (...words: string[]) => runScript("review", words, { DATA_DIR });
	const status = async () => (await runScript("status", ["waits", "--url", server.url])).stdout;
	await put("first");
	assert.match(
		await status(),
		/^waits is not registered yet\na change waits for a reviewer on register\/waits, since \S+\n$/,
	);
	await exits(verb("decline", "waits", "--why", "the address is a test"), 0);
	assert.match(await status(), /a change was declined at \S+: the address is a test\n/);
	await put("second");
	const [, commit = ""] = /--commit ([0-9a-f]{12})/.exec((await verb("show", "waits")).stdout) ?? [];
	await exits(verb("accept", "waits", "--commit", commit), 0);
	await eventually(async () => (await fetch(`${server.url}/v0.9/doc/en/waits`)).status === 200);
	assert.match(await status(), /^waits registered 20\S+ by commit/);
	assert.is((await status()).includes("declined"), false);
});

test.run();
