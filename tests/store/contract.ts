import * as assert from "uvu/assert";
import { textsOf } from "../../registry/problems.ts";
import { descriptionPath, folderOf, layerPath } from "../../registry/smallkey.ts";
import { problemAt, textIn } from "../../registry/texts.ts";
import {
	type Commit,
	type Edit,
	isRefusal,
	type Meta,
	type Reader,
	type Store,
	StoreBusy,
	usedBefore,
	waitsOf,
} from "../../store/store.ts";
import { suite } from "../helpers/suite.ts";

/** A store without layers, and how to be rid of it. */
export interface Fresh {
	store: Store;
	close(): Promise<void>;
}

/** Asserts that a store refused a change for now, and that a French publisher reads why. */
export function assertBusy(error: unknown, french: string): void {
	assert.instance(error, StoreBusy);
	assert.is(textIn("fr", (error as StoreBusy).text), french);
}

let requests = 0;

/** A signature's SHA-256 that no other change has. */
function newRequest(): string {
	requests += 1;
	return requests.toString(16).padStart(64, "0");
}

/** What a handler would say of a change of one layer. */
export function metaOf(smallkey: string, parts: Partial<Meta> = {}): Meta {
	const request = parts.request === undefined ? newRequest() : parts.request;
	const time = Date.now();
	return {
		smallkey,
		author: "jstest",
		time,
		subject: `register ${smallkey} (wms)`,
		trailers: [
			["Sender", "jstest"],
			["TimeStamp", new Date(time).toISOString()],
			...(request === null ? [] : [["Request", request] as const]),
		],
		request,
		review: false,
		...parts,
	};
}

/** A layer's text: not a registration, which a store does not look at. */
function textOf(value: unknown): string {
	return `${JSON.stringify({ value }, null, 2)}\n`;
}

/** Writes a text where another is stored, as a PUT does. */
function putting(smallkey: string, text: string) {
	return async (now: Reader): Promise<Edit[]> => {
		const layer = await now.read(smallkey);
		return layer?.registration === text ? [] : [{ path: layerPath(smallkey), text }];
	};
}

function removing(smallkey: string) {
	return async (): Promise<Edit[]> => [{ path: layerPath(smallkey), text: null }];
}

/** A change that is expected to be accepted. */
async function accepted(change: ReturnType<Store["change"]>): Promise<Commit> {
	const outcome = await change;
	if (isRefusal(outcome)) throw new Error(`refused: ${textsOf(outcome.errors).join()}`);
	assert.match(outcome.commit, /^[0-9a-f]{40}$/);
	return outcome;
}

/**
 * What every store promises, by its interface alone.
 * @param open makes a store that only this test uses
 */
export function testStore(name: string, open: () => Promise<Fresh>): void {
	const test = suite(name);

	/** A test with a store of its own. */
	function check(title: string, body: (store: Store) => Promise<void>): void {
		test(title, async () => {
			const { store, close } = await open();
			try {
				await body(store);
			} finally {
				await close();
			}
		});
	}

	check("nothing is stored at first", async (store) => {
		assert.is(await store.read("23ax5t"), null);
		assert.equal(await store.keys("23"), []);
		assert.is(await store.read("__proto__"), null);
		assert.equal(await store.keys("__"), []);
	});

	check("a change is read back, and a further one builds on it", async (store) => {
		const first = await accepted(store.change(putting("23ax5t", textOf(1)), metaOf("23ax5t")));
		assert.is(first.changed, true);
		assert.is(first.branch, undefined);
		assert.equal(await store.read("23ax5t"), { registration: textOf(1), description: null });
		const second = await accepted(store.change(putting("23ax5t", textOf(2)), metaOf("23ax5t")));
		assert.is.not(second.commit, first.commit);
		assert.equal(await store.read("23ax5t"), { registration: textOf(2), description: null });
	});

	check("the state asked for is found: no commit", async (store) => {
		const first = await accepted(store.change(putting("a", textOf(1)), metaOf("a")));
		const again = await accepted(store.change(putting("a", textOf(1)), metaOf("a")));
		assert.equal([again.commit, again.changed], [first.commit, false]);
	});

	check("a key is removed, with its description in the same commit", async (store) => {
		const both = async () => [
			{ path: layerPath("ozone"), text: textOf(1) },
			{ path: descriptionPath("ozone"), text: "{}\n" },
		];
		await accepted(store.change(both, metaOf("ozone")));
		assert.equal(await store.read("ozone"), { registration: textOf(1), description: "{}\n" });
		await accepted(store.change(putting("ozonly", textOf(2)), metaOf("ozonly")));
		assert.equal(await store.keys("oz"), ["ozone", "ozonly"]);
		const gone = async () => (await both()).map(({ path }) => ({ path, text: null }));
		assert.is((await accepted(store.change(gone, metaOf("ozone")))).changed, true);
		assert.is(await store.read("ozone"), null);
		assert.equal(await store.keys("oz"), ["ozonly"]);
	});

	check("keys that differ only in case share a folder", async (store) => {
		for (const key of ["aB1", "Ab2", "ab-=+_"]) {
			await accepted(store.change(putting(key, textOf(key)), metaOf(key)));
		}
		assert.equal(await store.keys(folderOf("AB")), ["Ab2", "aB1", "ab-=+_"]);
		assert.is(await store.read("ab1"), null);
		assert.is((await store.read("ab-=+_"))?.registration, textOf("ab-=+_"));
		for (const key of ["+=x", "-", "="]) {
			await accepted(store.change(putting(key, textOf(key)), metaOf(key)));
			assert.equal(await store.keys(folderOf(key)), [key]);
			assert.is((await store.read(key))?.registration, textOf(key));
		}
	});

	check("texts come back byte for byte", async (store) => {
		const long = `${JSON.stringify({ name: "Réseau routier 道路 🛣 ".repeat(3_000) })}\n`;
		const described = `{"image":"${"A".repeat(400_000)}"}\n`;
		const both = async () => [
			{ path: layerPath("nrn"), text: long },
			{ path: descriptionPath("nrn"), text: described },
		];
		await accepted(store.change(both, metaOf("nrn")));
		assert.equal(await store.read("nrn"), { registration: long, description: described });
	});

	check("what the edits refuse is handed on, and nothing is stored", async (store) => {
		const first = await accepted(store.change(putting("a", textOf(1)), metaOf("a")));
		const refusal = { status: 409, errors: [problemAt("smallkey", "required")] };
		assert.equal(await store.change(async () => refusal, metaOf("a", { subject: "no" })), refusal);
		const again = await accepted(store.change(putting("a", textOf(1)), metaOf("a")));
		assert.is(again.commit, first.commit);
	});

	check("edits that throw stop no other change", async (store) => {
		const broken = async () => {
			throw new Error("a fault of the test");
		};
		try {
			await store.change(broken, metaOf("a"));
			assert.unreachable("the error has to come out");
		} catch (error) {
			assert.match(String(error), "a fault of the test");
		}
		await accepted(store.change(putting("a", textOf(1)), metaOf("a")));
		assert.is((await store.read("a"))?.registration, textOf(1));
	});

	check("a request that is repeated changes nothing twice", async (store) => {
		const meta = metaOf("a");
		const first = await accepted(store.change(putting("a", textOf(1)), meta));
		const again = await accepted(store.change(putting("a", textOf(1)), meta));
		assert.equal([again.commit, again.changed], [first.commit, false]);
		await accepted(store.change(putting("a", textOf(2)), metaOf("a")));
		assert.equal(await store.change(putting("a", textOf(1)), meta), usedBefore);
		assert.is((await store.read("a"))?.registration, textOf(2));
		await accepted(store.change(removing("a"), metaOf("a", { subject: "remove a" })));
		assert.equal(await store.change(putting("a", textOf(1)), meta), usedBefore);
		assert.is(await store.read("a"), null);
	});

	check("changes without a signature are never taken for repeats", async (store) => {
		for (const value of [1, 2, 1]) {
			const meta = metaOf("a", { request: null });
			assert.is((await accepted(store.change(putting("a", textOf(value)), meta))).changed, true);
		}
		assert.is((await store.read("a"))?.registration, textOf(1));
	});

	check("20 changes of one key at once: each builds on the one before", async (store) => {
		const counting = async (now: Reader) => {
			const layer = await now.read("counter");
			const { value } = layer ? JSON.parse(layer.registration) : { value: 0 };
			return [{ path: layerPath("counter"), text: textOf(value + 1) }];
		};
		const changes = Array.from({ length: 20 }, () => accepted(store.change(counting, metaOf("counter"))));
		const commits = new Set((await Promise.all(changes)).map(({ commit }) => commit));
		assert.is(commits.size, 20);
		assert.is((await store.read("counter"))?.registration, textOf(20));
	});

	check(
		"the spellings of a key are those that differ only in case, with changes that are not made yet",
		async (store) => {
			for (const key of ["aB1", "Ab1", "ab2"])
				await accepted(store.change(putting(key, textOf(key)), metaOf(key)));
			assert.equal(await store.keys("ab", "AB1"), ["Ab1", "aB1"]);
			assert.equal(await store.keys("ab", "ab3"), []);
			const gone = async () => [{ path: layerPath("aB1"), text: null }];
			await accepted(store.change(gone, metaOf("aB1")));
			assert.equal(await store.keys("ab", "ab1"), ["Ab1"]);
			const seen: string[][] = [];
			await Promise.all([
				store.change(putting("aB1", textOf(1)), metaOf("aB1")),
				store.change(async (now) => {
					seen.push(await now.keys("ab", "ab1"));
					return [];
				}, metaOf("ab1")),
			]);
			assert.equal(seen.at(-1), ["Ab1", "aB1"]);
		},
	);

	check("50 changes of different keys at once: all are there", async (store) => {
		const keys = Array.from({ length: 50 }, (_, index) => `k${index % 3}-${index}`);
		await Promise.all(keys.map((key) => accepted(store.change(putting(key, textOf(key)), metaOf(key)))));
		const stored = (await Promise.all(["k0", "k1", "k2"].map((folder) => store.keys(folder)))).flat();
		assert.equal(stored, [...keys].sort());
		assert.is((await store.read("k1-49"))?.registration, textOf("k1-49"));
	});

	check("a change for review waits on a branch of its own", async (store) => {
		await accepted(store.change(putting("nhn", textOf(1)), metaOf("nhn")));
		const review = { review: true };
		const first = await accepted(store.change(putting("nhn", textOf(2)), metaOf("nhn", review)));
		assert.equal([first.changed, first.branch], [true, "register/nhn"]);
		const again = await accepted(store.change(putting("nhn", textOf(2)), metaOf("nhn", review)));
		assert.equal(again, { ...first, changed: false });
		const second = await accepted(store.change(putting("nhn", textOf(3)), metaOf("nhn", review)));
		assert.equal([second.changed, second.branch], [true, "register/nhn"]);
		assert.is.not(second.commit, first.commit);
		assert.is(second.pullRequest, first.pullRequest);
		assert.is((await store.read("nhn"))?.registration, textOf(1));
		const removal = await accepted(store.change(removing("nhn"), metaOf("nhn", review)));
		assert.equal([removal.changed, removal.branch], [true, "register/nhn"]);
		assert.is((await store.read("nhn"))?.registration, textOf(1));
	});

	check("a change that waits for review is not replaced by another sender's", async (store) => {
		const stored = await accepted(store.change(putting("nhn", textOf(1)), metaOf("nhn")));
		const meta = (author: string) => metaOf("nhn", { author, review: true });
		const first = await accepted(store.change(putting("nhn", textOf(2)), meta("ann")));
		for (const edits of [putting("nhn", textOf(3)), removing("nhn"), putting("nhn", textOf(2))]) {
			const other = meta("bo");
			assert.equal(await store.change(edits, other), waitsOf("ann"));
			assert.equal(await store.change(edits, other), waitsOf("ann"), "sent again");
		}
		const same = await accepted(store.change(putting("nhn", textOf(1)), meta("bo")));
		assert.equal(same, { commit: stored.commit, changed: false }, "what is stored is no change");
		const again = await accepted(store.change(putting("nhn", textOf(2)), meta("ann")));
		assert.equal(again, { ...first, changed: false }, "the change of ann still waits");
	});

	check("a request for review that is repeated changes nothing twice", async (store) => {
		const meta = metaOf("nhn", { review: true });
		await accepted(store.change(putting("nhn", textOf(1)), meta));
		await accepted(store.change(putting("nhn", textOf(2)), metaOf("nhn", { review: true })));
		assert.equal(await store.change(putting("nhn", textOf(1)), meta), usedBefore);
		assert.is(await store.read("nhn"), null);
	});

	test.run();
}
