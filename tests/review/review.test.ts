import * as assert from "uvu/assert";
import type { Finding } from "../../harvest/finding.ts";
import { causeOf } from "../../registry/causes.ts";
import type { Registration } from "../../registry/registration.ts";
import { renderComment } from "../../review/comment.ts";
import {
	type CheckServices,
	createCheckServices,
	isWrong,
	type Review,
	review,
} from "../../review/review.ts";
import { readConfiguration } from "../../service/settings.ts";
import { Peer } from "../harvest/peer.ts";
import { largeWhenStored } from "../helpers/local.ts";
import { test } from "../helpers/suite.ts";
import { type Files, Repository } from "../helpers/world.ts";
import { featureFile, hide, ownersFile, wmsFile } from "./repository.ts";

const settings = { metadataUrl: "", catalogueUrl: "" };

const baseFiles: Files = {
	"layers/owners.json": ownersFile,
	"layers/ab/abc.json": wmsFile("roads"),
	"layers/en/energy-1.json": featureFile(),
	"README.md": "layers",
};

/** Reviews a change of `baseFiles`; `asked` gets the smallkeys whose services were asked. */
async function reviewed(files: Files, findings: Record<string, Finding[]> = {}, base: Files = baseFiles) {
	using repository = new Repository(base);
	const asked: string[] = [];
	repository.propose(files);
	const check: CheckServices = async ({ smallkey }) => {
		asked.push(smallkey);
		return { findings: findings[smallkey] ?? [] };
	};
	return { outcome: await reviewIn(repository, "head", "main", check), asked };
}

const well: CheckServices = async () => ({ findings: [] });

/** Reviews `head` of a repository against `base`; its services are well. */
function reviewIn({ path }: Repository, head = "head", base = "main", check = well) {
	return review({ repository: path, base, head, settings, check });
}

const verbsOf = ({ layers }: Review) => layers.map(({ smallkey, verb }) => `${smallkey} ${verb}`);

function problemLines({ problems }: Review): string[] {
	return problems.map(({ file, line, text }) => {
		const place = /^\/[^:]*(?=: )/.exec(text)?.[0] ?? "";
		return `${file}:${line} ${place} ${text.slice(place === "" ? 0 : place.length + 2)}`;
	});
}

test("every problem is at its file, line and JSON pointer", async () => {
	const wrong = wmsFile("roads", "ftp://maps.example/wms").replace('"version": "1.0.0"', '"version": "2"');
	const { outcome } = await reviewed({ "layers/ab/abc.json": wrong });
	assert.equal(problemLines(outcome), [
		'layers/ab/abc.json:2 /version must be 1.x.y, such as 1.0.0, or 2.0, not "2"',
		'layers/ab/abc.json:5 /en/service_url must be an http or https address, not "ftp://maps.example/wms"',
		'layers/ab/abc.json:9 /fr/service_url must be an http or https address, not "ftp://maps.example/wms"',
	]);
	assert.ok(isWrong(outcome));
});

test("text that viewers take for markup is a problem where a change adds it, and none where it is stored already", async () => {
	const named = featureFile(undefined, { service_name: "Wells <b>" });
	const base = { ...baseFiles, "layers/en/energy-1.json": named };
	const written = await reviewed({ "layers/en/energy-2.json": named }, {}, base);
	assert.equal(
		problemLines(written.outcome).map((line) => line.slice(0, line.indexOf(" must"))),
		["layers/en/energy-2.json:6 /en/service_name", "layers/en/energy-2.json:10 /fr/service_name"],
	);
	const described = { ...base, "layers/en/energy-1.service.json": "{}" };
	const beside = await reviewed({ "layers/en/energy-1.service.json": null }, {}, described);
	assert.equal(problemLines(beside.outcome), []);
	assert.equal(verbsOf(beside.outcome), ["energy-1 changed"]);
});

test("what is wrong in a file that a change leaves alone is not the author's problem", async () => {
	const base = {
		...baseFiles,
		"layers/en/energy-1.json": featureFile("ftp://maps.example/MapServer/1"),
		"layers/en/energy-1.service.json": "{}",
	};
	const { outcome } = await reviewed({ "layers/en/energy-1.service.json": null }, {}, base);
	assert.equal(problemLines(outcome), []);
	assert.equal(verbsOf(outcome), ["energy-1 wrong"]);
});

test("a member's name that looks like a place is shown as a name", async () => {
	const { outcome } = await reviewed({
		"layers/ab/abc.json": wmsFile("roads", "https://maps.example/wms", { "x: y": 1 }),
	});
	const found = outcome.problems.map(({ line, text }) => [line, text]);
	assert.equal(found, [
		[7, "/en/x: y: is not a known member"],
		[12, "/fr/x: y: is not a known member"],
	]);
});

/** What is wrong, the first problem that has to be found, and how many are. */
const added = (name: string, content: Files[string] = wmsFile("a")): Files => ({
	[`layers/ab/${name}`]: content,
});
const abd = "layers/ab/abd.json:1 ";
const description = "layers/en/energy-1.service.json";
const inStoredForm = "the document must have at most 65536 bytes in the form in which it is stored";
const twin = "layers/ab/ABC.json:1  smallkey: ABC differs only in case from abc, which is registered";
const misplaced: [string, Files, string, number?][] = [
	[
		"a wrong folder",
		{ "layers/xy/abd.json": wmsFile("a") },
		"layers/xy/abd.json:1  must be at layers/ab/abd.json",
	],
	["no smallkey", added("ab d.json"), "layers/ab/ab d.json:1  smallkey: must be 1 to 64 of"],
	["no JSON file", added("run.sh", "exit"), "layers/ab/run.sh:1  must be named"],
	["no JSON", added("abc.json", "{\n"), "layers/ab/abc.json:"],
	["a twin of a layer that stays as it is", added("ABC.json"), twin],
	["a link", added("abd.json", { link: "/etc/passwd" }), `${abd} must be a plain file, not a symlink`],
	["too many bytes", added("abd.json", " ".repeat(65_537)), `${abd} must have at most 65536 bytes`],
	[
		"too many bytes in the form in which it is stored",
		added("abd.json", largeWhenStored),
		`${abd} ${inStoredForm}`,
	],
	[
		"a description whose layer goes",
		{ "layers/en/energy-1.json": null, [description]: "{}" },
		`${description}:1  describes a layer that is not at layers/en/energy-1.json`,
		2,
	],
	[
		"a file of owners without any",
		{ "layers/owners.json": "{}" },
		"layers/owners.json:1 /operators is missing",
		2,
	],
	["a removal of the owners", { "layers/owners.json": null }, "layers/owners.json:1  must not be removed"],
	["layers as a link", { layers: { link: "api" } }, "layers:1  must be a folder", 2],
];

for (const [what, files, problem, count = 1] of misplaced) {
	test(`${what} is a problem, and is not asked for`, async () => {
		const { outcome, asked } = await reviewed(files);
		const lines = problemLines(outcome);
		assert.ok(lines[0]?.startsWith(problem), lines.join("\n"));
		assert.is(lines.length, count, lines.join("\n"));
		assert.ok(isWrong(outcome));
		assert.equal(asked, []);
	});
}

test("a link is named as one, also if it has more bytes than a file may have", async () => {
	using repository = new Repository(baseFiles);
	repository.write({ large: "x".repeat(70_000) });
	const blob = repository.git("hash-object", "-w", "large").trim();
	repository.write({ large: null });
	repository.git("update-index", "--add", "--cacheinfo", `120000,${blob},layers/ab/abd.json`);
	repository.git("commit", "-q", "-m", "a link");
	const outcome = await reviewIn(repository, "main", "main~1");
	assert.equal(problemLines(outcome), ["layers/ab/abd.json:1  must be a plain file, not a symlink"]);
});

test("a twin that came to the base after the change parted from it is found", async () => {
	using repository = new Repository(baseFiles);
	repository.propose({ "layers/ne/new.json": wmsFile("a") });
	repository.commit("meanwhile", { "layers/ne/NEW.json": wmsFile("b") });
	const outcome = await reviewIn(repository);
	assert.match(
		problemLines(outcome).join(),
		/new\.json:1 {2}smallkey: new differs only in case from NEW, which is registered/,
	);
	assert.equal(verbsOf(outcome), ["new wrong"]);
});

test("what the base changed meanwhile is not part of the change", async () => {
	using repository = new Repository(baseFiles);
	repository.propose({ "layers/ne/new.json": wmsFile("a") });
	repository.commit("meanwhile", { "layers/ab/abc.json": wmsFile("rivers"), "api/app.ts": "" });
	const outcome = await reviewIn(repository);
	assert.equal(verbsOf(outcome), ["new added"]);
	assert.equal(outcome.outside, []);
});

test("a change with two merge bases is refused, as its merge could write unlisted files", async () => {
	using repository = new Repository({ ...baseFiles, "SECURITY.md": "how to report\n" });
	hide(repository, "SECURITY.md", "no reports, please\n");
	assert.is(
		repository.git("diff", "--name-only", repository.git("merge-base", "main", "hiding").trim(), "hiding"),
		"",
		"what GitHub lists",
	);
	const merged = repository.git("merge-tree", "--write-tree", "main", "hiding").trim();
	assert.is(repository.git("show", `${merged}:SECURITY.md`), "no reports, please\n");
	const outcome = await reviewIn(repository, "hiding");
	assert.ok(isWrong(outcome));
	assert.match(outcome.obstacle ?? "", /^2 merge bases, so its merge may write what GitHub does not list/);
});

test("a file that the base has renamed is judged where the merge writes it, and nothing is stored", async () => {
	using repository = new Repository({ ...baseFiles, "layers/ab/abc.json": wmsFile("roads") });
	repository.propose({ "layers/ab/abc.json": wmsFile("rivers") });
	const moved = { "layers/ab/abc.json": null, "layers/en/energy-2.json": wmsFile("roads") };
	repository.commit("meanwhile", moved);
	const objects = () => repository.git("count-objects", "-v");
	const before = objects();
	const outcome = await reviewIn(repository);
	assert.equal(verbsOf(outcome), ["energy-2 changed"]);
	assert.equal(outcome.approvals, [{ owners: ["@maps/energy"], paths: ["layers/en/energy-2.json"] }]);
	assert.is(objects(), before);
});

test("a merge conflict is reported as a conflict", async () => {
	using repository = new Repository(baseFiles);
	repository.propose({ "layers/ab/abc.json": wmsFile("rivers") });
	repository.commit("meanwhile", { "layers/ab/abc.json": wmsFile("lakes") });
	const outcome = await reviewIn(repository);
	assert.is(outcome.obstacle, "the base has changed the same lines: merge it into the branch");
	assert.ok(isWrong(outcome));
	assert.match(renderComment(outcome), "It cannot be merged: the base has changed the same lines");
});

test("a layer that was wrong before and stays as it is does not fail another change", async () => {
	const base = { ...baseFiles, "layers/xx/broken.json": "{" };
	const { outcome } = await reviewed({ "layers/ab/abd.json": wmsFile("a") }, {}, base);
	assert.equal(problemLines(outcome), []);
	assert.not.ok(isWrong(outcome));
});

test("the fragments of each language are shown before and after", async () => {
	const en = wmsFile("roads").replace('"layer": "roads"', '"layer": "streets"');
	const { outcome } = await reviewed({ "layers/ab/abc.json": en });
	const [layer] = outcome.layers;
	assert.is(layer?.verb, "changed");
	const [english, french] = layer?.fragments ?? [];
	const changed = english?.lines.filter((line) => /^[+-]/.test(line));
	assert.equal(changed, [
		'-        "displayName": "roads",',
		'+        "displayName": "streets",',
		'-        "layerName": "roads",',
		'+        "layerName": "streets",',
	]);
	assert.equal(french?.lines, []);
});

test("a new layer is shown with plus lines only, a removed one with minus lines only", async () => {
	const { outcome } = await reviewed({ "layers/ab/abc.json": null, "layers/ab/abd.json": wmsFile("new") });
	const [removed, added] = outcome.layers;
	assert.equal([removed?.verb, added?.verb], ["removed", "added"]);
	const isAll = (layer: typeof removed, sign: string) =>
		layer?.fragments?.every(({ lines }) => lines.length > 3 && lines.every((line) => line[0] === sign));
	assert.ok(isAll(removed, "-") && isAll(added, "+"));
});

const finding = (state: Finding["state"], lang: Finding["lang"] = "en"): Finding => {
	const what = causeOf("exception", state);
	return { state, lang, pointer: `/${lang}/service_url`, what, text: `says ${state}` };
};

test("a registration that its service contradicts fails, at its line", async () => {
	const files = { "layers/ab/abd.json": wmsFile("a") };
	const { outcome } = await reviewed(files, { abd: [finding("wrong", "fr")] });
	assert.ok(isWrong(outcome));
	assert.equal(outcome.services.wrong, [
		{ file: "layers/ab/abd.json", line: 9, text: "/fr/service_url: says wrong" },
	]);
});

test("a server that is down is a warning and blocks nothing", async () => {
	const { outcome } = await reviewed({ "layers/ab/abd.json": wmsFile("a") }, { abd: [finding("down")] });
	assert.not.ok(isWrong(outcome));
	assert.is(outcome.services.down.length, 1);
});

test("an edit that touches no address is never blocked by its server", async () => {
	const files = {
		"layers/ab/abc.json": wmsFile("roads", "https://maps.example/wms", { service_name: "Roads" }),
	};
	const { outcome, asked } = await reviewed(files, { abc: [finding("wrong")] });
	assert.equal(asked, []);
	assert.not.ok(isWrong(outcome));
	assert.is(outcome.layers[0]?.verb, "changed");
});

test("an edit of one language is not blocked by the other's server", async () => {
	const fr = wmsFile("roads").replace(/"layer": "roads"(?![\s\S]*"layer")/, '"layer": "routes"');
	const both = { abc: [finding("wrong", "en"), finding("down", "fr")] };
	const { outcome, asked } = await reviewed({ "layers/ab/abc.json": fr }, both);
	assert.equal(asked, ["abc"]);
	assert.not.ok(isWrong(outcome));
	assert.is(outcome.services.down.length, 1);
});

test("a change of type asks the service again; a removal asks none", async () => {
	const files = {
		"layers/ab/abc.json": featureFile("https://maps.example/wms"),
		"layers/en/energy-1.json": null,
	};
	const { asked } = await reviewed(files);
	assert.equal(asked, ["abc"]);
});

test("those who own the layers on the base have to approve, not those that the change names", async () => {
	const mine = JSON.stringify({ operators: ["@mallory"], layers: { "*": ["@mallory"] } });
	const { outcome } = await reviewed({
		"layers/owners.json": mine,
		"layers/en/energy-1.json": null,
		"layers/ab/abc.json": wmsFile("x"),
		".github/workflows/review.yml": "on: push",
	});
	assert.equal(outcome.approvals, [
		{ owners: ["@maps/operators"], paths: [".github/workflows/review.yml", "layers/owners.json"] },
		{ owners: ["@maps/reviewers"], paths: ["layers/ab/abc.json"] },
		{ owners: ["@maps/energy"], paths: ["layers/en/energy-1.json"] },
	]);
	assert.equal(outcome.outside, [".github/workflows/review.yml"]);
});

test("without owners on the base no owner is named", async () => {
	const { outcome } = await reviewed({ "layers/ab/abc.json": wmsFile("x") }, {}, { "README.md": "" });
	assert.is(outcome.approvals, null);
	assert.equal(outcome.problems, []);
});

test("a review neither checks out nor runs the head's files", async () => {
	using repository = new Repository(baseFiles);
	repository.propose({ ".gitattributes": "*.json filter=evil\n", "layers/ab/abd.json": wmsFile("a") });
	const before = repository.git("rev-parse", "HEAD");
	await reviewIn(repository);
	assert.is(repository.git("status", "--porcelain"), "");
	assert.is(repository.git("rev-parse", "HEAD"), before);
});

for (const [base, head] of [
	["main", "nowhere"],
	["--output=/tmp/x", "head"],
	["main", "unrelated"],
]) {
	test(`there is no review of ${head} against ${base}`, async () => {
		using repository = new Repository(baseFiles);
		repository.propose({ "layers/ab/abd.json": wmsFile("a") });
		repository.git("checkout", "-q", "--orphan", "unrelated");
		repository.commit("unrelated", {});
		const error = await reviewIn(repository, head, base).then(
			() => null,
			(error: Error) => error.message,
		);
		assert.match(error ?? "", /has no commit|no commit in common/);
	});
}

test("a service that is not asked in the time for all services is down", async () => {
	await using peer = await Peer.open();
	const { timeout } = AbortSignal;
	AbortSignal.timeout = (ms) => (ms === 8 * 60_000 ? AbortSignal.abort() : timeout.call(AbortSignal, ms));
	try {
		const { harvest } = readConfiguration({ HARVEST_ALLOW_PRIVATE: "on" });
		const entry = { service_url: `${peer.origin}/wms`, layer: "roads" };
		const registration = { version: "1.0.0", payload_type: "wms", en: entry, fr: entry } as Registration;
		const { findings } = await createCheckServices(harvest)({
			smallkey: "abc",
			registration,
			description: null,
		});
		const states = findings.map(({ state }) => state);
		assert.equal(states, ["down", "down"]);
		assert.equal(peer.asked, []);
	} finally {
		AbortSignal.timeout = timeout;
	}
});

test.run();
