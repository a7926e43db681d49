import * as assert from "uvu/assert";
import { judgeChange } from "../../registry/judge.ts";
import { judgeKey } from "../../registry/key-rules.ts";
import { type LayerFile, namesOf } from "../../registry/layer-file.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { type TextCode, textIn } from "../../registry/texts.ts";
import { wms } from "../helpers/local.ts";
import { test } from "../helpers/suite.ts";

/** Judges changes of files in `layers/ab`: a name that is written, or one with a minus that is removed. */
function judged(stored: string[], ...changes: string[]): [string, string, string][] {
	const edits = changes.map((change) => ({
		path: `layers/ab/${change.replace(/^-/, "")}`,
		kind: change.startsWith("-") ? ("removed" as const) : ("written" as const),
	}));
	const { problems } = judgeChange(() => stored, edits, "anyone");
	return problems.map(({ file, ...problem }) => [problem.code, file, textIn("en", problem)]);
}

const twin = (one: string, kept: string, state = "is registered"): [TextCode, string, string] => [
	state === "is registered" ? "case-twin" : "case-twin-here",
	layerPath(one),
	`smallkey: ${one} differs only in case from ${kept}, which ${state}`,
];

test("a new smallkey may not differ only in case from a stored one, whichever comes first by name", () => {
	assert.equal(judged(["abc.json"], "ABC.json"), [twin("ABC", "abc")]);
	assert.equal(judged(["ABC.json"], "abc.json"), [twin("abc", "ABC")]);
	assert.equal(judged(["abc.json", "abcd.json"], "abc.json"), []);
});

test("of two that are new the first by name is kept", () => {
	assert.equal(judged([], "abc.json", "ABC.json"), [twin("abc", "ABC", "the same change registers")]);
});

test("of two that are stored the first may be changed, and the other one removed", () => {
	const stored = ["abc.json", "ABC.json"];
	assert.equal(judged(stored, "ABC.json"), []);
	assert.equal(judged(stored, "abc.json"), [twin("abc", "ABC")]);
	assert.equal(judged(stored, "-abc.json"), []);
});

test("a smallkey is new only where it is known that it was not stored", () => {
	const asked = [() => false, () => true, () => null].map(
		(isStored) => judgeKey("abc", "ABC", isStored)?.[0],
	);
	assert.equal(asked, ["case-twin-here", "case-twin", "case-twin-here"]);
	assert.is(
		judgeKey("abc", "abc", () => false),
		null,
	);
});

test("a smallkey may get another spelling in one change", () => {
	assert.equal(judged(["abc.json"], "-abc.json", "ABC.json"), []);
});

test("a service description has a layer, before and after a change", () => {
	const orphan = [
		"orphan",
		"layers/ab/abc.service.json",
		"describes a layer that is not at layers/ab/abc.json",
	];
	assert.equal(judged([], "abc.service.json"), [orphan]);
	assert.equal(judged(["abc.json", "abc.service.json"], "-abc.json"), [orphan]);
	assert.equal(judged(["abc.json", "abc.service.json"], "-abc.json", "abc.service.json"), [orphan]);
	assert.equal(judged(["abc.json", "abc.service.json"], "-abc.json", "-abc.service.json"), []);
	assert.equal(judged(["abc.json"], "abc.service.json"), []);
});

test("each problem of stored files has the code of its rule, and good layers are handed on", () => {
	const file = (path: string, text = wms("a"), kind: LayerFile["kind"] = "file"): LayerFile => {
		return { path, kind, bytes: new TextEncoder().encode(text) };
	};
	const files = [
		file("layers/ab/ABC.json"),
		file("layers/ab/abc.json"),
		file("layers/ab/abd.json"),
		file("layers/ab/abe.json", "{"),
		file("layers/ab/abf.json", "", "symlink"),
		file("layers/ab/abg.json", wms("a").padEnd(65_537)),
		file("layers/ab/abh.service.json", '{"en":{}}'),
		file("layers/ab/readme"),
		file("layers/ab/x y.json"),
		file("layers/owners.json", "{"),
		file("layers/xy/abi.json"),
	];
	const { layers, problems } = judgeChange(namesOf(files), files, "stored");
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

test("where the stored names are not known, those of a change are judged against each other only", () => {
	const edits = ["ABC.json", "abc.json", "abd.service.json"].map((name) => ({
		path: `layers/ab/${name}`,
		kind: "written" as const,
	}));
	const found = judgeChange(null, edits, "anyone").problems.map(({ code, file }) => [code, file]);
	assert.equal(found, [["case-twin-here", "layers/ab/abc.json"]]);
});

test("layers/health.json has to be JSON", () => {
	const codes = (text: string) => {
		const bytes = new TextEncoder().encode(text);
		const file = { path: "layers/health.json", kind: "file", bytes } as const;
		return judgeChange(() => [], [file], "anyone").problems.map(({ code }) => code);
	};
	assert.equal(codes("not JSON"), ["json"]);
	assert.equal(codes('{"sick":{}}'), []);
});

test.run();
