import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generateEntries } from "../../../bench/entries.ts";
import { type Entry, nameOf, numberOf, termsOf } from "../../../registry/index/entry.ts";
import { buildIndex, indexPath, updateIndex } from "../../../registry/index/index.ts";
import { facets, keys, layers, maxPieceBytes, names } from "../../../registry/index/kinds.ts";
import { packNumbers, unpackNumbers } from "../../../registry/index/numbers.ts";
import { digits, toDigits } from "../../../registry/index/ordered.ts";
import { byteLength, type Files, readShapeFile, shapePath } from "../../../registry/index/set.ts";
import { IndexBroken } from "../../../registry/index/set-update.ts";
import { parseShape, Shape, shapeText } from "../../../registry/index/shape.ts";
import { readSplits, run, splitsPath } from "../../../registry/index/splits.ts";
import { terms } from "../../../registry/index/terms.ts";
import { numbersOf } from "../../../registry/index/terms-update.ts";

/** An entry that says little. */
export function entryOf(smallkey: string, en: string, fr: string, more: Partial<Entry> = {}): Entry {
	return {
		smallkey,
		type: "wms",
		title: { en, fr },
		host: { en: "maps.example.ca", fr: "maps.example.ca" },
		fragments: { "v0.9": { en: "0123456789abcdef", fr: "fedcba9876543210" } },
		...more,
	};
}

/** What is on disk after some files were written and removed. */
function apply(disk: Files, files: Files): Files {
	const after = new Map(disk);
	for (const [path, text] of files) {
		if (text === null) after.delete(path);
		else after.set(path, text);
	}
	return after;
}

function assertSame(given: Files, expected: Files): void {
	assert.equal([...given.keys()].sort(), [...expected.keys()].sort());
	for (const [path, text] of expected) assert.is(given.get(path), text, path);
}

/** Layers enough for pieces to be split, and their index. */
const many = [...generateEntries(4_000)];
const manyIndex = buildIndex(many);

const word = fc.constantFrom(
	"rail",
	"railway",
	"route",
	"École",
	"eau",
	"water",
	"of",
	"北",
	"x".repeat(400),
	"3",
);
const title = fc.array(word, { maxLength: 4 }).map((words) => words.join(" "));
const smallkey = fc
	.tuple(fc.constantFrom("a", "ab", "abc-", "Zz+", "_"), fc.nat(60))
	.map(([a, b]) => `${a}${b}`);
const box = fc.constantFrom<Entry["extent"]>(
	undefined,
	[0, 0, 10, 10],
	[-1e6, 1e6, -9e5, 1.1e6],
	[-3e6, -1e6, 3e6, 4e6],
);
const entry = fc
	.tuple(smallkey, title, title, box, fc.boolean(), fc.constantFrom("a.example", "b.example:8080"))
	.map(([key, en, fr, extent, isSick, host]) =>
		entryOf(key, en, fr, {
			host: { en: host, fr: "c.example" },
			...(extent && { extent }),
			...(isSick && { health: { state: "down" as const, since: "2026-W10" } }),
		}),
	);
/** Layers that come, change or (null) go, in steps. */
const steps = fc.array(fc.array(fc.tuple(entry, fc.boolean()), { maxLength: 60 }), {
	minLength: 1,
	maxLength: 6,
});

/** Pieces of a few things: in the generated cases, too, they split and join all the time. */
function withSmallPieces<T>(work: () => T): T {
	const kinds = [names, layers, keys, terms, facets];
	const before = kinds.map(({ maxThings, maxBytes }) => ({ maxThings, maxBytes }));
	const { mostLayers } = run;
	for (const kind of kinds) Object.assign(kind, { maxThings: 4, maxBytes: 2_000 });
	run.mostLayers = 2;
	try {
		return work();
	} finally {
		run.mostLayers = mostLayers;
		kinds.forEach((kind, at) => {
			Object.assign(kind, before[at]);
		});
	}
}

test("what changes piece by piece is what a whole build makes", () => {
	const property = fc.property(steps, (given) => {
		const present = new Map<string, Entry>();
		let disk = buildIndex([]);
		for (const step of given) {
			const changes = new Map<string, Entry | null>();
			for (const [one, stays] of step) {
				const twin = [...present.keys(), ...changes.keys()].find(
					(key) => key !== one.smallkey && key.toLowerCase() === one.smallkey.toLowerCase(),
				);
				if (twin) continue;
				changes.set(one.smallkey, stays ? one : null);
			}
			for (const [key, one] of changes) {
				if (one) present.set(key, one);
				else present.delete(key);
			}
			disk = apply(
				disk,
				updateIndex((path) => disk.get(path) ?? null, changes),
			);
			assertSame(disk, buildIndex([...present.values()]));
		}
	});
	withSmallPieces(() => fc.assert(property, { numRuns: 40 }));
});

test("the same layers give the same files, in whatever order they come", () => {
	assertSame(buildIndex([...many].reverse()), manyIndex);
});

test("pieces are bounded, and a layer that comes, changes or goes touches few of them", () => {
	const first = many.slice(0, -20);
	let disk = buildIndex(first);
	for (const [path, text] of disk) assert.ok(byteLength(text ?? "") <= maxPieceBytes, path);
	const counts: number[] = [];
	const change = (key: string, one: Entry | null) => {
		const files = updateIndex((path) => disk.get(path) ?? null, new Map([[key, one]]));
		disk = apply(disk, files);
		return files.size;
	};
	for (const one of many.slice(-20)) change(one.smallkey, one);
	assertSame(disk, manyIndex);
	for (const one of first.slice(0, 30)) {
		counts.push(change(one.smallkey, { ...one, title: { ...one.title, en: `${one.title.en} revised` } }));
		counts.push(
			change(one.smallkey, { ...one, fragments: { "v0.9": { en: "1".repeat(16), fr: "2".repeat(16) } } }),
		);
	}
	assert.ok(Math.max(...counts) <= 12, String(Math.max(...counts)));
	for (const one of first.slice(0, 30)) change(one.smallkey, null);
	assertSame(disk, buildIndex(many.slice(30)));
});

test("a layer that stays as it is changes no file", () => {
	const entries = [...generateEntries(50)];
	const disk = buildIndex(entries);
	const files = updateIndex(
		(path) => disk.get(path) ?? null,
		new Map(entries.map((one) => [one.smallkey, one])),
	);
	assert.is(files.size, 0);
});

test("layers of one number are kept apart, and a term stays while one of them has it", () => {
	// Found by trying: two smallkeys whose hashes begin alike.
	const [one, other] = twins();
	const both = [entryOf(one, "Shared alpha", ""), entryOf(other, "Shared beta", "")];
	const disk = buildIndex(both);
	const after = apply(
		disk,
		updateIndex((path) => disk.get(path) ?? null, new Map([[one, null]])),
	);
	assertSame(after, buildIndex(both.slice(1)));
	assert.ok([...after.values()].join().includes('"shared"'));
});

function twins(): [string, string] {
	const seen = new Map<string, string>();
	for (let at = 0; ; at += 1) {
		const key = `k${at}`;
		const known = seen.get(numberOf(key));
		if (known) return [known, key];
		seen.set(numberOf(key), key);
	}
}

test("pieces that are missing, cut or of another version are reported, and nothing is made of them", () => {
	const entries = [...generateEntries(300)];
	const disk = buildIndex(entries);
	const [some] = entries as [Entry];
	const changed = new Map([
		[some.smallkey, { ...some, title: { en: `${some.title.en}, revised`, fr: some.title.fr } }],
	]);
	const piece = [...disk.keys()].filter((path) => path.startsWith("index/layers/"));
	const wrong: [string, string | null][] = [
		[indexPath, null],
		[indexPath, '{"version":1,"layers":1}'],
		[shapePath(names), '{"version":2,"pieces":9,"shape":"-"}'],
		...piece.flatMap((path): [string, string | null][] => [
			[path, null],
			[path, disk.get(path)?.slice(0, -9) ?? ""],
		]),
	];
	const failed = wrong.filter(([path, text]) => {
		try {
			updateIndex((asked) => (asked === path ? text : (disk.get(asked) ?? null)), changed);
			return false;
		} catch (error) {
			assert.instance(error, IndexBroken);
			assert.match((error as Error).message, path);
			return true;
		}
	});
	// The three that every change reads, and the piece that the layer is in, twice.
	assert.is(failed.length, 5);
});

test("an entry's terms: both languages without accents, its filters, its place", () => {
	const one = entryOf("NRN-1", "Roads of Québec", "Routes de l’Œuvre", {
		sender: "Natural Resources Canada",
		health: { state: "down" as const, since: "2026-W10" },
		extent: [1_000_000, 0, 1_100_000, 90_000],
	});
	assert.equal(termsOf(nameOf(one)), [
		"roads",
		"quebec",
		"routes",
		"oeuvre",
		"=type:wms",
		"=host:maps.example.ca",
		"=sender:Natural Resources Canada",
		"=health:down",
		"=place:12",
	]);
});

test("numbers are packed and come out again, however near or far from each other they are", () => {
	const some = fc.uniqueArray(fc.nat({ max: 2 ** 24 - 1 }), { minLength: 1, maxLength: 80 });
	const near = fc.tuple(fc.nat({ max: 7 }), fc.uniqueArray(fc.nat({ max: 90 }), { minLength: 1 }));
	const sorted = (integers: number[]) => integers.sort((a, b) => a - b).map((value) => toDigits(value, 4));
	fc.assert(
		fc.property(some, near, (far, [figure, offsets]) => {
			assert.equal(unpackNumbers(packNumbers(sorted(far))), sorted(far));
			const numbers = sorted(offsets.map((offset) => figure * 2 ** 21 + offset));
			assert.equal(unpackNumbers(packNumbers(numbers, `${figure}`), `${figure}`), numbers);
		}),
	);
	for (const odd of ["", "-", "zzzz", "A!", "\u0000"]) assert.ok(unpackNumbers(odd).length < 30, odd);
});

test("a term that very many layers have is cut by their numbers, and no layer of it is lost", () => {
	const splits = readSplits(manyIndex.get(splitsPath) ?? "");
	assert.ok(splits?.isHalved("=type:wms", "") && splits.isHalved("quality", ""));
	const read = (path: string) => manyIndex.get(path) ?? null;
	for (const term of ["=type:wms", "quality", "=health:down"]) {
		const expected = many.filter((one) => termsOf(nameOf(one)).includes(term));
		const numbers = new Set(expected.map(({ smallkey: key }) => numberOf(key)));
		assert.equal(numbersOf(read, term), [...numbers].sort(), term);
	}
	assert.is(readSplits('{"version":2,"terms":[7]}'), null);
	for (const wrong of ["7", '["rail"]', '["rail",7]']) {
		assert.is(terms.read(`{"version":2,"terms":[${wrong}]}`), null, wrong);
	}
});

test("a layer whose titles are altogether others touches at most 12 files", () => {
	for (const [at, one] of many.slice(0, 40).entries()) {
		const { title } = many[at + 2_000] as Entry;
		const changed = { ...one, title, fragments: { "v0.9": { en: "1".repeat(16), fr: "2".repeat(16) } } };
		const files = updateIndex((path) => manyIndex.get(path) ?? null, new Map([[one.smallkey, changed]]));
		assert.ok(files.size <= 12, [...files.keys()].join(" "));
	}
});

test("a shape file says how many pieces there are, and no other one is read as one", () => {
	const text = manyIndex.get(shapePath(names)) ?? "";
	const pieces = [...manyIndex.keys()].filter((path) => path.startsWith("index/names/"));
	assert.is(readShapeFile(text)?.paths.length, pieces.length);
	const { pieces: count, shape } = JSON.parse(text);
	for (const wrong of [shape.slice(1), `${shape}-`, `${shape.slice(0, -1)}!`, ""]) {
		assert.is(readShapeFile(JSON.stringify({ version: 2, pieces: count, shape: wrong })), null, wrong);
	}
});

test("pieces that were split for their bytes are one again once their titles are short", () => {
	const titled = (length: number) =>
		Array.from({ length: 100 }, (_, at) => entryOf(`key${at}`, "é".repeat(length), "f".repeat(length)));
	const namesIn = (files: Files) => [...files.keys()].filter((path) => path.startsWith(`${names.folder}/`));
	const [long, short] = [titled(400), titled(10)];
	const disk = buildIndex(long);
	assert.ok(namesIn(disk).length > 1);
	const changes = new Map(short.map((entry) => [entry.smallkey, entry]));
	const after = apply(
		disk,
		updateIndex((path) => disk.get(path) ?? null, changes),
	);
	assertSame(after, buildIndex(short));
	assert.is(namesIn(after).length, 1);
});

test("what stands behind the tree of a shape makes it none", () => {
	const shape = new Shape(["00", "01", "1"]);
	const text = shapeText(shape);
	assert.equal(parseShape(text, 3)?.paths, shape.paths);
	// Ten bits in two characters: the last one's two lowest are left over.
	const last = digits.indexOf(text.at(-1) as string);
	for (const more of [1, 2]) assert.is(parseShape(text.slice(0, -1) + digits[last + more], 3), null);
	for (const other of [`${text}-`, `${text}.`, text.slice(0, -1), ""]) assert.is(parseShape(other, 3), null);
	assert.is(parseShape(text, 2), null);
});

test.run();
