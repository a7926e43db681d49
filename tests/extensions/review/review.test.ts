import * as assert from "uvu/assert";
import { readConfiguration } from "../../../api/service/settings.ts";
import type { Finding } from "../../../extensions/harvest/finding.ts";
import { type CheckServices, createCheckServices } from "../../../extensions/review/ask-services.ts";
import { renderComment } from "../../../extensions/review/comment.ts";
import { countErrors, type Review, review } from "../../../extensions/review/review.ts";
import { causeOf } from "../../../site/data/health.ts";
import { test } from "../../helpers/suite.ts";
import { eventually } from "../../helpers/wait.ts";
import { answering, type Files, Repository } from "../../helpers/world.ts";
import { featureFile, ownersFile, wmsFile } from "./repository.ts";

const settings = { metadataUrl: "", catalogueUrl: "" };
const baseFiles: Files = {
	"layers/owners.json": ownersFile,
	"README.md": "layers",
	"layers/ab/abc.json": wmsFile("roads"),
	"layers/en/energy-1.json": featureFile(),
};
const shared = new Repository(baseFiles);
test.after(() => shared.remove());

const well: CheckServices = async () => [];

/** Reviews `head` of a repository against `base`; its services are well. */
const reviewIn = ({ path }: Repository, head = "head", base = "main", check = well, publicUrl = "") =>
	review({ repository: path, base, head, settings: { ...settings, publicUrl }, check });

/** Reviews a change; `asked` gets the smallkeys whose services were asked. @param base what main has more */
async function reviewOf(files: Files, findings: Record<string, Finding[]> = {}, base: Files | null = null) {
	using own = base && new Repository(base);
	const repository = own ?? shared;
	const asked: string[] = [];
	repository.propose(files);
	const check: CheckServices = async ({ smallkey }) => {
		asked.push(smallkey);
		return findings[smallkey] ?? [];
	};
	return { outcome: await reviewIn(repository, "head", "main", check), asked };
}

test("after its time, services without an answer are down, and no request continues", async () => {
	const { timeout } = AbortSignal;
	using _ = { [Symbol.dispose]: () => Object.assign(AbortSignal, { timeout }) };
	const ending = new AbortController();
	AbortSignal.timeout = () => ending.signal;
	let [begun, ended] = [0, 0];
	await using server = await answering((_request, response) => {
		begun += 1;
		response.on("close", () => {
			ended += 1;
		});
	});
	const many = Array.from({ length: 12 }, (_, at) => {
		return [`layers/aa/aa${at}.json`, wmsFile("a", `${server.origin}/${at}`)];
	});
	shared.propose(Object.fromEntries(many));
	const check = createCheckServices(readConfiguration({ HARVEST_ALLOW_PRIVATE: "on" }));
	const reviewing = reviewIn(shared, "head", "main", check);
	await eventually(() => begun === 1);
	ending.abort();
	const { remarks } = await reviewing;
	assert.is(remarks.filter(({ text }) => text.endsWith("could not be checked completely")).length, 24);
	const startMs = performance.now();
	await eventually(() => ended === begun);
	assert.ok(performance.now() - startMs < 5_000);
	assert.is(begun, 1);
});

const verbsOf = ({ layers }: Review) => layers.map(({ smallkey, verb }) => `${smallkey} ${verb}`);
const remarksOf = ({ remarks }: Review, kind: string) => remarks.filter(({ state }) => state === kind);
const isWrong = (outcome: Review) => countErrors(outcome) > 0;
const linesOf = (outcome: Review) =>
	remarksOf(outcome, "to correct").map(({ file, line, text }) => `${file}:${line} ${text}`);

test("every problem is at its file, line and JSON pointer", async () => {
	const wrong = wmsFile("roads", "ftp://maps.example/wms", { "x: y": 1 });
	const { outcome, asked } = await reviewOf({ "layers/ab/abc.json": wrong });
	assert.equal(linesOf(outcome), [
		'layers/ab/abc.json:5 /en/service_url: must be an http or https address, not "ftp://maps.example/wms"',
		"layers/ab/abc.json:7 /en/x: y: is not a known member",
		'layers/ab/abc.json:10 /fr/service_url: must be an http or https address, not "ftp://maps.example/wms"',
		"layers/ab/abc.json:12 /fr/x: y: is not a known member",
	]);
	assert.equal([isWrong(outcome), asked], [true, []]);
});

test("a large change has drafts of its first layers, those to correct and changed ones first", async () => {
	const many = Array.from({ length: 120 }, (_, at) => [`layers/aa/aa${at}.json`, wmsFile("a")]);
	const wrong = { "layers/zz/zz.json": wmsFile("a", "ftp://maps.example/wms") };
	shared.propose({ ...Object.fromEntries(many), ...wrong, "layers/ab/abc.json": wmsFile("rivers") });
	const { layers } = await reviewIn(shared, "head", "main", well, "https://fragments.example");
	const keys = layers.filter(({ draft }) => draft !== null).map(({ smallkey }) => smallkey);
	assert.equal([layers.length, keys.length, keys.slice(0, 2)], [122, 20, ["zz", "abc"]]);
});

const added = (name: string, content: Files[string] = wmsFile("a")): Files => ({
	[`layers/ab/${name}`]: content,
});
test("what the base changed meanwhile is no part of the change, but a new twin is found", async () => {
	using repository = new Repository(baseFiles);
	repository.propose({ "layers/ne/new.json": wmsFile("a") });
	repository.commit("meanwhile", { "layers/ab/abc.json": wmsFile("rivers"), "api/app.ts": "" });
	const outcome = await reviewIn(repository);
	assert.equal([verbsOf(outcome), outcome.outside, linesOf(outcome)], [["new added"], [], []]);
	repository.commit("later", { "layers/ne/NEW.json": wmsFile("b") });
	assert.match(linesOf(await reviewIn(repository)).join(), "smallkey: new differs only in case from NEW");
});

test("the tree of the merge is judged: two merge bases, a conflict and a renamed file", async () => {
	using repository = new Repository(baseFiles);
	repository.propose({ "layers/be/beside.json": wmsFile("beside") });
	repository.commit("meanwhile", { "README.md": "others" });
	// A merge from each side.
	repository.git("checkout", "-q", "-b", "crossed", "head");
	repository.git("merge", "-q", "--no-edit", "main");
	repository.git("checkout", "-q", "main");
	repository.git("merge", "-q", "--no-edit", "head");
	const crossed = await reviewIn(repository, "crossed");
	assert.ok(isWrong(crossed));
	assert.match(crossed.obstacle ?? "", /^2 merge bases, so its merge may write what GitHub does not list/);

	repository.propose({ "layers/ab/abc.json": wmsFile("rivers") });
	repository.commit("meanwhile", { "layers/ab/abc.json": null, "layers/en/energy-2.json": wmsFile("roads") });
	const objects = () => repository.git("count-objects", "-v");
	const before = objects();
	const moved = await reviewIn(repository);
	assert.equal(verbsOf(moved), ["energy-2 changed"]);
	assert.equal(moved.approvals, [{ owners: ["@maps/energy"], paths: ["layers/en/energy-2.json"] }]);
	assert.is(objects(), before, "nothing is stored");

	repository.commit("and then", { "layers/en/energy-2.json": wmsFile("lakes") });
	const outcome = await reviewIn(repository);
	assert.is(outcome.obstacle, "the base has changed the same lines: merge it into the branch");
	assert.ok(isWrong(outcome));
	assert.match(renderComment(outcome), "It cannot be merged: the base has changed the same lines");
});

const finding = (state: Finding["state"], lang: Finding["lang"] = "en"): Finding => {
	const what = causeOf("exception", state);
	return { state, lang, pointer: `/${lang}/service_url`, what, text: `says ${state}` };
};

test("a registration that its service contradicts fails, at its line; a server that is down blocks nothing", async () => {
	const { outcome } = await reviewOf(added("abd.json"), { abd: [finding("wrong", "fr"), finding("down")] });
	const [{ file, line, text } = {}] = remarksOf(outcome, "wrong service");
	assert.equal([file, line, text], ["layers/ab/abd.json", 9, "/fr/service_url: says wrong"]);
	assert.ok(isWrong(outcome));
	const { outcome: down } = await reviewOf(added("abd.json"), { abd: [finding("down")] });
	assert.equal([isWrong(down), remarksOf(down, "service down").length], [false, 1]);
});

test("only the services that a change touches are asked, and block it", async () => {
	const both = { abc: [finding("wrong", "en"), finding("down", "fr")] };
	const titled = wmsFile("roads", undefined, { service_name: "Roads" });
	const title = await reviewOf(added("abc.json", titled), both);
	assert.equal([title.asked, isWrong(title.outcome), verbsOf(title.outcome)], [[], false, ["abc changed"]]);
	const fr = wmsFile("roads").replace(/"layer": "roads"(?![\s\S]*"layer")/, '"layer": "routes"');
	const french = await reviewOf(added("abc.json", fr), both);
	assert.equal(
		[french.asked, isWrong(french.outcome), remarksOf(french.outcome, "service down").length],
		[["abc"], false, 1],
	);
});

test("what a change does in one target only is shown, and its service is asked", async () => {
	const targets = { v2: { en: { service_url: "https://v2.example/wms" } } };
	const text = JSON.stringify({ ...JSON.parse(wmsFile("roads")), targets }, null, 2);
	const { outcome, asked } = await reviewOf(added("abc.json", text), { abc: [finding("wrong")] });
	const shown = ({ layers }: Review) =>
		layers[0]?.fragments.map(({ lang, target, lines }) =>
			`${lang} ${target} ${lines.filter((line) => line.startsWith("+"))}`.replace(/\s+/g, " "),
		);
	assert.equal([asked, shown(outcome)], [["abc"], ['en v2 + "url": "https://v2.example/wms",']]);
	const [wrong] = remarksOf(outcome, "wrong service");
	assert.equal([wrong?.line, wrong?.text], [15, "/targets/v2/en/service_url: says wrong"]);
	const renamed = { ...JSON.parse(wmsFile("roads")), targets: { v2: { en: { layer: "b" } } } };
	renamed.en.service_name = "b";
	const hidden = await reviewOf(added("abc.json", JSON.stringify(renamed)));
	assert.equal(shown(hidden.outcome)?.length, 2, "the same values of more members are not the same");
	const tiles = { service_type: "esriTile", service_url: "https://h.example/MapServer" };
	const same = { ...tiles, service_url: "https://maps.example/wms", service_name: "roads" };
	const other = await reviewOf(added("abc.json", JSON.stringify({ version: "2.0", en: same, fr: same })));
	const removals = other.outcome.layers[0]?.fragments.filter(({ target }) => target === "v0.9");
	assert.equal(
		removals?.map(({ alike }) => alike),
		[["v1"], ["v1"]],
		"others have another type",
	);
	const metadata = { metadata_url: "https://meta.example/", catalogue_url: "https://list.example/" };
	const described = await reviewOf(added("abc.json", wmsFile("roads", undefined, { metadata })));
	assert.match(shown(described.outcome)?.join("\n") ?? "", /^en v2 .*meta\.example[\s\S]*^fr v2 /m);
	const moved = await reviewOf(added("abc.json", wmsFile("roads", "https://new.example/wms")));
	const first = shown(moved.outcome)?.map((line) => line.slice(0, 7));
	assert.equal(first, ["en v0.9", "fr v0.9"], "once, where all targets say the same");
});

test("those who own the files on the base have to approve, not those that the change names", async () => {
	const mine = JSON.stringify({ operators: ["@mallory"], layers: { "*": ["@mallory"] } });
	const changed = {
		"layers/owners.json": mine,
		"layers/en/energy-1.json": null,
		".github/workflows/layers.yml": "on: push",
	};
	const { outcome } = await reviewOf({ ...changed, ...added("abc.json", wmsFile("x")) });
	assert.equal(outcome.approvals, [
		{ owners: ["@maps/operators"], paths: [".github/workflows/layers.yml", "layers/owners.json"] },
		{ owners: ["@maps/reviewers"], paths: ["layers/ab/abc.json"] },
		{ owners: ["@maps/energy"], paths: ["layers/en/energy-1.json"] },
	]);
	assert.equal(outcome.outside, [".github/workflows/layers.yml"]);
	const without = await reviewOf(added("abc.json"), {}, { "README.md": "" });
	assert.equal([without.outcome.approvals, linesOf(without.outcome)], [null, []]);
});

test("a review neither checks out nor runs the head's files, and needs two commits with a common one", async () => {
	shared.propose({ ".gitattributes": "*.json filter=evil\n", ...added("abd.json") });
	const before = shared.git("rev-parse", "HEAD");
	await reviewIn(shared);
	assert.equal([shared.git("status", "--porcelain"), shared.git("rev-parse", "HEAD")], ["", before]);
	const unrelated = shared.git("commit-tree", "main^{tree}", "-m", "x").trim();
	for (const [base, head, error] of [
		["--output=/tmp/x", "head", "has no commit"],
		["main", unrelated, "no commit in common"],
	] as const)
		assert.match(await reviewIn(shared, head, base).then(() => "", String), error);
});

test.run();
