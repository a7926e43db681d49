import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { acceptReview, parseReviewer } from "../../../extensions/review/decide.ts";
import { isStale } from "../../../extensions/review/waiting.ts";
import { healthPath, layerPath } from "../../../registry/smallkey.ts";
import { importCommit } from "../../../store/git/writer.ts";
import { serviceIdentity } from "../../../store/naming.ts";
import { feature, Local, textOf, wms } from "../../helpers/local.ts";
import { exits, prints, runScript, warns } from "../../helpers/process.ts";
import { eventually } from "../../helpers/wait.ts";
import { sharedSuite } from "../../helpers/world.ts";

let local: Local;
const test = sharedSuite("reviews of a service on this machine", async (use) => {
	const health = '{"sick":{"described":{"state":"down","since":"2026-W05"}}}';
	const layers = { [layerPath("first")]: wms("first"), [layerPath("second")]: wms("second") };
	const files = { ...layers, [layerPath("described")]: feature, [healthPath]: health };
	local = use(await Local.open({ files }));
});

const run = (name: string, ...words: string[]) => runScript(name, words, { DATA_DIR: local.folder });
const review = (...words: string[]) => run("review", ...words);

const tipOf = (smallkey: string) => local.git("rev-parse", `refs/heads/register/${smallkey}`);

const accept = async (smallkey: string, ...words: string[]) =>
	review("accept", smallkey, "--commit", await tipOf(smallkey), ...words);

/** What the publisher reads at `/status/<smallkey>`; null: nothing. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
async function statusOf(smallkey: string): Promise<any> {
	const status = await local.context.status?.(smallkey, []);
	return typeof status === "function" ? status("en") : status;
}

async function send(smallkey: string, body: string, headers = {}): Promise<void> {
	local.now += 1_000;
	const answer = await local.write({ target: `/register/${smallkey}`, sender: "careful", body, headers });
	assert.is(answer.status, 201);
}

async function propose(smallkey: string, body = wms(smallkey)): Promise<string> {
	await send(smallkey, body);
	return tipOf(smallkey);
}

async function unchanged<T>(doing: () => Promise<T>): Promise<T> {
	const before = await local.state();
	const result = await doing();
	assert.is(await local.state(), before, "nothing is stored or merged");
	return result;
}

test("a review is listed and shown: who asked, what viewers will read, warnings, and how to decide", async () => {
	const there = "http://wms.ess-ws.nrcan.gc.ca/wms/toporama_en";
	const id = await propose("shown", wms("shown").replaceAll(there, "https://maps.invalid/wms?x=1"));
	const line =
		/register\/shown {2}of careful, 2026-03-04: register shown \(wms\) {2}\(npx fragment-publisher review show register\/shown\)/;
	await prints(review("list"), 0, line);
	await unchanged(() =>
		prints(review("show", "shown"), 0, [
			`register/shown at commit ${id}\n  proposed ${id.slice(0, 12)} of 2026-03-04 12:00:01\n`,
			"    by the sender careful, with a signed request of 2026-03-04T12:00:01.000Z\n",
			/warning layers\/sh\/shown\.json:5: \/en\/service_url: has a query/,
			/shown: added\n {2}viewers in en read \(v0\.9; likewise v1, v2, ramp4, terria\):\n[\s\S]*\n {2}viewers in fr read \(v0\.9; likewise .*\):\n {4}\+/,
			`npx fragment-publisher review accept register/shown --commit ${id.slice(0, 12)} --by "your name"\n`,
		]),
	);
	const status =
		/^3 layers at commit [0-9a-f]{12}\n[\s\S]*\n1 sick layer\n {2}described {2}down since 2026-W05\n/;
	await prints(run("status"), 0, [status, line, /\ndisk: .* left\n$/]);
});

test("only the commit that was shown is merged", async () => {
	const shown = await propose("moving");
	await unchanged(() => warns(review("accept", "moving"), 2, "--commit: is needed"));
	await propose("moving", wms("later"));
	const text = `register/moving: its newest commit is not ${shown.slice(0, 12)}: npx`;
	await unchanged(() => warns(review("accept", "moving", "--commit", shown.slice(0, 12)), 1, text));
	// Also where it changes after it was read.
	const read = { branch: "register/moving", commit: shown };
	const merge = acceptReview(local.repository, read, parseReviewer("Ann"));
	assert.match(await unchanged(() => merge.then(String, String)), text);
	const lock = join(local.repository, "refs/heads/main.lock");
	await writeFile(lock, "");
	await unchanged(() => warns(accept("moving"), 2, /^register\/moving: nothing has changed, .*main\.lock/m));
	await rm(lock);
	const none = "none: does not wait for a review; these wait: register/";
	await warns(review("decline", "none", "--why", "x"), 2, none);
	const refused = (text: string, ...words: string[]) =>
		unchanged(() => warns(review("decline", "moving", "--why", ...words), 2, text));
	await refused("--why: must be a reason", "a\n\nMain: 0");
	await refused("--by: must be a name", "x", "--by", "Ann <a@b>\n");
	const { getuid } = process;
	Object.assign(process, { getuid: () => 4711 });
	await refused("this is the user 4711", "x").finally(() => Object.assign(process, { getuid }));
	await local.git("config", "core.bare", "false");
	await refused("is no repository of a service", "x");
	await local.git("config", "core.bare", "true");
});

test("an accepted change is served beside what others stored, and the audit names sender and reviewer", async () => {
	await propose("taken");
	assert.is((await local.get("/v0.9/doc/en/taken")).status, 404);
	await local.put("other", wms("other"));
	await prints(accept("taken", "--by", "Ann B"), 0, /^Accepted: [0-9a-f]{12} is on the branch main\n$/);
	await eventually(async () => (await local.get("/v0.9/doc/en/taken")).status === 200);
	assert.match(textOf(await local.get("/v0.9/doc/en/taken")), "taken");
	assert.is((await local.get("/v0.9/doc/en/other")).status, 200);
	await prints(run("audit", "taken"), 0, [
		"merged by Ann B <Ann-B@reviewer.invalid>: accept register/taken",
		"  by the sender careful, with a signed request of ",
	]);
});

test("a layer that both have changed is not merged, even where git could join the lines", async () => {
	const { en, fr, ...rest } = JSON.parse(wms("both"));
	await local.put("both", wms("both"));
	const commit = await propose("both", JSON.stringify({ ...rest, en: { ...en, layer: "english" }, fr }));
	assert.is(await isStale(local.repository, commit), false);
	await local.put("both", JSON.stringify({ ...rest, en, fr: { ...fr, layer: "french" } }));
	assert.is(await isStale(local.repository, commit), true);
	await prints(review("list"), 0, "main has changed the same layer since");
	const text = "the branch main has changed the same layer";
	const { stdout } = await prints(review("show", "both"), 1, `It cannot be merged: ${text}`);
	assert.not.match(stdout, /review accept|^error/m);
	assert.match(stdout, "1 layer changed, 1 to correct, 3 warnings\n");
	await unchanged(() => warns(accept("both"), 1, `${text} since. Decline it`));
});

test("a review of a layer that main has already can be closed", async () => {
	await propose("by-hand");
	const none = `the smallkey by-hand: nothing in the repository of DATA_DIR, ${local.repository}; waits on register/by-hand\n`;
	await prints(run("audit", "by-hand"), 0, none);
	await local.put("by-hand", wms("by-hand"));
	await prints(review("show", "by-hand"), 0, "The branch main has it already. To close it: npx");
	await prints(accept("by-hand"), 0, "Accepted");
	assert.not.match((await review("list")).stdout, "register/by-hand");
});

test("a branch whose layer is wrong, or that changes another file, is not merged", async () => {
	const author = `${serviceIdentity} 1 +0000`;
	for (const [path, error] of [
		[layerPath("wrong"), /error layers\/wr\/wrong\.json.*payload_type/],
		["SECURITY.md", /error SECURITY\.md: is no file of a layer/],
	] as const) {
		const edits = [{ path, text: '{"version":"1.0.0"}' }];
		const change = { author, committer: author, message: "x", edits };
		const id = await importCommit(local.repository, await local.git("rev-parse", "main"), change);
		await local.git("update-ref", "refs/heads/register/wrong", id);
		const text = "Not accepted: the problems must be corrected first";
		assert.match((await unchanged(() => warns(accept("wrong"), 1, text))).stdout, error);
		const { stdout } = await review("show", "wrong");
		assert.match(stdout, "It cannot be merged: the problems must be corrected first");
		assert.not.match(stdout, "review accept");
	}
});

test("the audit says what a merge itself has changed", async () => {
	const waiting = await propose("altered");
	const main = await local.git("rev-parse", "main");
	const edits = [{ path: layerPath("altered"), text: wms("evil") }];
	const byAda = { author: "ada <a@b.example> 1 +0000", committer: "ada <a@b.example> 1 +0000", message: "x" };
	const other = await importCommit(local.repository, main, { ...byAda, edits });
	const identity = ["-c", "user.name=ada", "-c", "user.email=a@b.example"];
	const parents = ["-p", main, "-p", waiting, "-m", "accept"];
	const merge = await local.git(...identity, "commit-tree", `${other}^{tree}`, ...parents);
	await local.git("update-ref", "refs/heads/main", merge);
	await prints(run("audit", "altered"), 0, "changed in the merge itself: layers/al/altered.json");
});

test("a declined change leaves the list; status and audit say who declined it and why, until the layer changes", async () => {
	const timestamp = new Date(local.now + 1_000).toISOString();
	const id = await propose("second", wms("declined"));
	const branch = `declined/register/second/${id.slice(0, 12)}`;
	const words = ["second", "--why", "the wrong service", "--by", "Ann"];
	await prints(review("decline", ...words), 0, `Declined; the change is kept on the branch ${branch}\n`);
	assert.not.match((await review("list")).stdout, "register/second");
	assert.is(await local.git("rev-parse", `refs/heads/${branch}^`), id);
	const { review: waiting, declined } = await statusOf("second");
	assert.equal([waiting, declined.commit, declined.reason], [null, id, "the wrong service"]);
	const entry =
		/^[\d-]{10} [\d:]{8} {2}[0-9a-f]{12} {2}declined\n {2}by Ann <.*>: the wrong service\n {2}proposed /m;
	await prints(run("audit", "second"), 0, entry);
	// The same request is used up, after a restart, too.
	await local.restart();
	const again = { target: "/register/second", sender: "careful", body: wms("declined"), timestamp };
	await unchanged(async () => assert.is((await local.write(again)).status, 401));
	await propose("second", wms("better"));
	const later = await statusOf("second");
	assert.equal([later.review.branch, later.declined], ["register/second", null], "its sender may try again");
	local.now += 1_000;
	await local.put("second", wms("faster"));
	assert.is((await statusOf("second")).declined, null);
});

test("a review of many layers is shown as a table, found by its name, and by the status of each layer", async () => {
	const keys = Array.from({ length: 25 }, (_, at) => `group-${at}`);
	for (const key of ["first", ...keys]) await send(key, wms(`${key}-new`), { Review: "spring" });
	const branch = "register/careful+review.spring";
	const keys5 = "first group-0 group-1 group-10 group-11 and 21 more";
	await prints(review("list"), 0, `${branch}  of careful, 2026-03-04: 26 layers: ${keys5}  (npx`);
	for (const key of ["group-7", "first"]) assert.is((await statusOf(key)).review.branch, branch);
	assert.is(await statusOf("group-99"), null);
	await prints(review("show", "group-7"), 0, `${branch} at commit`);
	const { stdout } = await unchanged(() => exits(review("show", "spring"), 0));
	assert.match(
		stdout,
		/\nchanged {2}first {2}service down {2}first-new\nadded {4}group-0 {2}service down {2}group-0-new\nadded {4}group-1 {2}/,
	);
	assert.not.match(stdout, "viewers in en read");
	const commit = await tipOf("careful+review.spring");
	await exits(review("accept", "spring", "--commit", commit), 0);
	await eventually(async () => (await (await local.context.store.served()).ids("group-24")) !== null);
	assert.is((await statusOf("group-7")).review, null);
	for (const key of ["dec-1", "dec-2"]) await send(key, wms(key), { Review: "autumn" });
	await local.put("dec-1", wms("meanwhile"));
	assert.is(await isStale(local.repository, await tipOf("careful+review.autumn")), true);
	await exits(review("decline", "careful+review.autumn", "--why", "not yet"), 0);
	assert.is((await statusOf("dec-2")).declined.reason, "not yet");
	await prints(run("audit", "dec-1"), 0, /declined[\s\S]*not yet/);
	await prints(run("audit", "--sender", "careful"), 0, [
		"  declined dec-1 dec-2\n",
		/ {2}added group-0 [^\n]*\n {2}merged by [^\n]* accept register\/careful\+review\.spring\n/,
	]);
});

test.run();
