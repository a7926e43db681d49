import * as assert from "uvu/assert";
import { judgeChange, judgeStored, type LayerFile, pathsByKey, problemLine } from "../../registry/judge.ts";
import { descriptionPath, layerPath } from "../../registry/smallkey.ts";
import type { TextCode } from "../../registry/texts.ts";
import { wms } from "../helpers/local.ts";
import { test } from "../helpers/suite.ts";
import { describedAt } from "./targets/samples.ts";

/** Code, file and values of each problem. */
function judgePaths(stored: string[], ...changes: string[]) {
	const edits = changes.map((change) => ({
		path: `layers/ab/${change.replace(/^-/, "")}`,
		kind: change.startsWith("-") ? ("removed" as const) : ("written" as const),
	}));
	const before = pathsByKey(stored.map((name) => ({ path: `layers/ab/${name}` })));
	const { problems } = judgeChange(before, edits, "anyone");
	return problems.map(({ code, file, values }) => [code, file, ...values]);
}

const twin = (one: string, kept: string) => ["case-twin", layerPath(one), one, kept];
const orphan = ["orphan", "layers/ab/abc.service.json", "layers/ab/abc.json"];
// biome-ignore format: a table
const changes: [what: string, stored: string[], change: string[], ...problems: string[][]][] = [
	["a new spelling in upper case", ["abc.json"], ["ABC.json"], twin("ABC", "abc")],
	["a new spelling in lower case", ["ABC.json"], ["abc.json"], twin("abc", "ABC")],
	["a stored smallkey", ["abc.json", "abcd.json"], ["abc.json"]],
	["two new spellings: the first by name is kept", [], ["abc.json", "ABC.json"], twin("abc", "ABC")],
	["the first of two stored spellings", ["abc.json", "ABC.json"], ["ABC.json"]],
	["the second of two stored spellings", ["abc.json", "ABC.json"], ["abc.json"], twin("abc", "ABC")],
	["the removal of the second one", ["abc.json", "ABC.json"], ["-abc.json"]],
	["another spelling in one change", ["abc.json"], ["-abc.json", "ABC.json"], twin("ABC", "abc")],
	["the other of two stored spellings", ["abc.json", "ABC.json"], ["-ABC.json", "abc.json"]],
	["a description without a layer", [], ["abc.service.json"], orphan],
	["a removed layer with a stored description", ["abc.json", "abc.service.json"], ["-abc.json"], orphan],
	["one with a written description", ["abc.json", "abc.service.json"], ["-abc.json", "abc.service.json"], orphan],
	["a layer removed with its description", ["abc.json", "abc.service.json"], ["-abc.json", "-abc.service.json"]],
	["a description of a stored layer", ["abc.json"], ["abc.service.json"]],
];

for (const [what, stored, change, ...problems] of changes)
	test(`${what}: ${problems.length > 0 ? "refused" : "accepted"}`, () =>
		assert.equal(judgePaths(stored, ...change), problems));

test("a name that Windows keeps for a device is refused for a new layer only", () => {
	const judge = (smallkey: string, isStored: boolean) => {
		const edit = { path: layerPath(smallkey), kind: "written" as const };
		return judgeChange(pathsByKey(isStored ? [edit] : []), [edit], "anyone").problems.map(({ code }) => code);
	};
	for (const smallkey of ["con", "CON", "Aux", "nul", "prn", "com1", "COM9", "lpt1", "lPt9"]) {
		assert.equal(judge(smallkey, false), ["reserved-key"], smallkey);
		assert.equal(judge(smallkey, true), [], smallkey);
	}
	for (const smallkey of ["com", "com0", "lpt10", "con1", "a-con", "null"])
		assert.equal(judge(smallkey, false), [], smallkey);
});

test("each problem of stored files has the code of its rule, and good layers are handed on", () => {
	const files = Object.entries({
		"ab/ABC.json": wms("a"),
		"ab/abc.json": wms("a"),
		"ab/abd.json": wms("a"),
		"ab/abe.json": "{",
		"ab/abf.json": null,
		"ab/abg.json": wms("a").padEnd(65_537),
		"ab/abh.service.json": '{"en":{}}',
		"ab/readme": "",
		"ab/x y.json": wms("a"),
		"owners.json": "{",
		"xy/abi.json": wms("a"),
	}).map(([name, text]): LayerFile => {
		const kind = text === null ? "symlink" : "file";
		return { path: `layers/${name}`, kind, bytes: new TextEncoder().encode(text ?? "") };
	});
	const { layers, problems } = judgeStored(files);
	assert.equal([...layers.keys()], ["ABC", "abd"]);
	assert.equal(
		problems.map(({ file: path, code }) => [path.slice("layers/".length), code]),
		[
			["ab/abc.json", "case-twin"],
			["ab/abe.json", "json"],
			["ab/abf.json", "plain-file"],
			["ab/abg.json", "size"],
			["ab/abh.service.json", "orphan"],
			["ab/abh.service.json", "description"],
			["ab/readme", "file-name"],
			["ab/x y.json", "smallkey"],
			["xy/abi.json", "folder"],
		],
	);
});

test("a layer has its description in any order of the files", () => {
	const described = JSON.stringify(describedAt("https://maps.example/wms"));
	const texts = { [layerPath("abc")]: wms("a"), [descriptionPath("abc")]: described };
	const files = Object.entries(texts).map(([path, text]): LayerFile => {
		return { path, kind: "file", bytes: new TextEncoder().encode(text) };
	});
	for (const edits of [files, files.toReversed()])
		assert.ok(judgeChange(null, edits, "stored").layers.get("abc")?.description);
});

test("where the stored names are not known, those of a change are judged against each other only", () => {
	const edits = ["ABC.json", "abc.json", "abd.service.json"].map((name) => ({
		path: `layers/ab/${name}`,
		kind: "written" as const,
	}));
	const found = judgeChange(null, edits, "anyone").problems.map(({ code, file }) => [code, file]);
	assert.equal(found, [["case-twin", "layers/ab/abc.json"]]);
});

// biome-ignore format: a table
const places: [path: string, kind: "written" | "removed", code: TextCode | null][] = [
	["README.md", "written", null],
	["docs/a\u202eb", "written", "visible-name"],
	["docs\\a", "written", "visible-name"],
	["layers", "written", "layers-folder"],
	["Layers/ab/abc.json", "written", "layers-folder"],
	["layers/health.json", "written", null],
	["layers/owners.json", "removed", "owners-removed"],
	["layers/ab/readme", "removed", null],
	["layers/ab/readme", "written", "file-name"],
	["layers/AB/abc.json", "written", "folder"],
	[`layers/aa/${"a".repeat(64)}.json`, "written", null],
	[`layers/aa/${"a".repeat(65)}.json`, "written", "smallkey"],
	["layers/ab/ab%63.json", "written", "smallkey"],
	["layers/ab/abc.json\n", "written", "file-name"],
	["layers/+=/+=-_.json", "written", null],
];

test("a file has its place and its name", () => {
	for (const [path, kind, code] of places) {
		const { problems } = judgeChange(new Map(), [{ path, kind }], "anyone");
		assert.equal(
			problems.map((problem) => problem.code),
			code === null ? [] : [code],
			path,
		);
	}
});

test("a sender may change the smallkeys of its globs only, and the first problems are those of the files", () => {
	const written = (...names: string[]) =>
		names.map((name) => ({ path: layerPath(name), kind: "written" as const }));
	const said = (smallkeys: string[] | null, ...names: string[]) =>
		judgeChange(new Map(), written(...names), { id: "office", smallkeys }).problems.map(problemLine);
	assert.equal(said(["ab*", "x?"], "abc", "x1"), []);
	assert.equal(said(null, "other"), []);
	const refused = "layers/ot/other.json: smallkey: sender office may change these keys only:";
	assert.equal(said(["ab*", "x?"], "abc", "other"), [`${refused} ab* x?; not other`]);
	assert.equal(said([], "other"), [`${refused} —; not other`]);
	assert.equal(said([], "abc", "ABC").length, 1);
});

test("layers/health.json has to be JSON", () => {
	const codes = (text: string) => {
		const bytes = new TextEncoder().encode(text);
		const file = { path: "layers/health.json", kind: "file", bytes } as const;
		return judgeChange(new Map(), [file], "anyone").problems.map(({ code }) => code);
	};
	assert.equal(codes("not JSON"), ["json"]);
	assert.equal(codes('{"sick":{}}'), []);
});

test.run();
