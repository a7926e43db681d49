import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { root } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";

/** Words that make a sentence a riddle: say who or what does it, and what happens. */
const riddles =
	/\b(?:nobody|somebody|whoever|told|(?:in|out of) step|stands? in|go(?:es|ing|ne) on|looked at|mend(?:s|ed|ing)?|gathered|most telling|taken in|came up|(?:does|do|did) not come by|comes? or goe?s?|that is none|of its own accord)\b/gi;

/** Tests hold such words as data, and the suites of these folders stay as they are: only comments of the others are read. */
const comment = /^\s*(?:\/\/|\/\*|\*).*/gm;
const unread = ["tests/{conformance,faults,replays,viewer,fixtures}/**"];

/** Each riddle of the files that match, as `docs/review.md:12: whoever`. */
async function riddlesOf(patterns: string[], ignore: string[], part = /^.*$/gm): Promise<string[]> {
	const paths = await glob(patterns, { cwd: root, dot: true, ignore: ["**/node_modules/**", ...ignore] });
	assert.ok(paths.length > 10, `${paths.length} files for ${patterns}`);
	const found = paths.sort().map(async (path) => {
		const text = await readFile(join(root, path), "utf8");
		return [...text.matchAll(part)].flatMap((piece) =>
			[...piece[0].matchAll(riddles)].map((word) => {
				const line = text.slice(0, piece.index + word.index).split("\n").length;
				return `${path}:${line}: ${word[0]}`;
			}),
		);
	});
	return (await Promise.all(found)).flat();
}

test("the documents, and the code with its comments and messages, use plain words", async () => {
	const others = /^(?:\.git|\.wrangler|\.data|node_modules|dist.*|layers|tests)$/;
	const folders = (await readdir(root, { withFileTypes: true })).filter((one) => one.isDirectory());
	const rooms = folders.map(({ name }) => name).filter((name) => !others.test(name));
	assert.ok(rooms.length > 10, rooms.join());
	const patterns = rooms.map((room) => `${room}/**/*.{ts,cts,cjs,mjs,sh,css,json,yml,md}`);
	assert.equal(await riddlesOf(["*.md", ...patterns], []), []);
});

test("the comments of tests use plain words", async () => {
	assert.equal(await riddlesOf(["tests/**/*.ts"], [...unread, "tests/project/words.test.ts"], comment), []);
});

/** A call with a name and a function: a test. And the message of an assertion. */
const testName = /^\s*\w+(?:\.\w+)?\(\s*(["`]).*?\1,\s*(?:async\s*)?(?:\w+ =>|\()/gm;
const message = /(?<=^.*\bassert\.\w+\(.*, )(["`])[^"`\n]*\1(?=\);$)/gm;

test("the names and messages of tests use plain words", async () => {
	const kept = [
		"tests/{faults,replays,viewer,fixtures}/**",
		"tests/doors.test.ts",
		"tests/project/words.test.ts",
	];
	assert.equal(await riddlesOf(["tests/**/*.ts"], kept, testName), []);
	assert.equal(await riddlesOf(["tests/**/*.ts"], kept, message), []);
});

test("a viewer is a visualiseur in every French text", async () => {
	const others = /\b(?:visionneu(?:r|se)s?|visualisat(?:eur|rice)s?|afficheurs?)\b/gi;
	const pages = [
		"CONTRIBUTING.md",
		"docs/fr/*.md",
		"site/text/french*.ts",
		"{registry,prove,review}/**/*.ts",
	];
	const paths = await glob(pages, { cwd: root });
	assert.ok(paths.length > 20);
	const found: string[] = [];
	let good = 0;
	for (const path of paths) {
		const text = await readFile(join(root, path), "utf8");
		found.push(...(text.match(others) ?? []).map((word) => `${path}: ${word}`));
		good += text.match(/\bvisualiseurs?\b/gi)?.length ?? 0;
	}
	assert.equal(found, []);
	assert.ok(good > 20, String(good));
});

test.run();
