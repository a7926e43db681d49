import * as assert from "uvu/assert";
import { addConditions } from "../../api/register.ts";
import { descriptionPath, layerPath } from "../../registry/smallkey.ts";
import { problemAt, textsOf } from "../../registry/texts.ts";
import { isRefusal, refuseOther, refuseTwin, usedBefore } from "../../store/decide.ts";
import { blobId } from "../../store/hashes.ts";
import { type Commit, type Edit, type Meta, type Reader, type Store, StoreBusy } from "../../store/store.ts";
import { sharedSuite } from "../helpers/world.ts";

export interface Fresh {
	store: Store;
	close(): Promise<void>;
}

export function assertBusy(error: unknown, code: StoreBusy["code"]): void {
	assert.instance(error, StoreBusy);
	assert.is((error as StoreBusy).code, code);
}

let requests = 0;

export function newRequest(): string {
	requests += 1;
	return requests.toString(16).padStart(64, "0");
}

export function metaOf(smallkey: string, parts: Partial<Meta> = {}): Meta {
	return {
		smallkey,
		author: "jstest",
		time: Date.now(),
		subject: `register ${smallkey} (wms)`,
		request: newRequest(),
		review: false,
		...parts,
	};
}

/** A layer's text: not a registration, which a store does not look at. @param value null: no layer */
function textOf(value: unknown): string | null {
	return value === null ? null : `${JSON.stringify({ value }, null, 2)}\n`;
}

/** @param text null removes the key */
export function putting(smallkey: string, text: string | null) {
	return async (now: Reader): Promise<Edit[]> => {
		const stored = (await now.read(smallkey))?.registration ?? null;
		return stored === text ? [] : [{ path: layerPath(smallkey), text }];
	};
}

/** @throws {Error} if a change is refused */
export async function commitOf(change: ReturnType<Store["change"]>): Promise<Commit> {
	const outcome = await change;
	if (isRefusal(outcome)) throw new Error(`refused: ${textsOf(outcome.errors).join()}`);
	assert.match(outcome.commit, /^[0-9a-f]{40}$/);
	return outcome;
}

interface Scene {
	store: Store;
	send(smallkey: string, value: unknown, meta?: Meta): ReturnType<Store["change"]>;
	put(smallkey: string, value: unknown, meta?: Meta): Promise<Commit>;
	read: Reader["read"];
	stored(smallkey: string): Promise<unknown>;
}

/**
 * What every store promises, by its interface alone. Each test has smallkeys of its own.
 * @param open makes a store without layers
 */
export function testStore(name: string, open: () => Promise<Fresh>): void {
	const test = sharedSuite<Scene>(name, async (use) => {
		const { store, close } = await open();
		use(close);
		const send: Scene["send"] = (smallkey, value, meta = metaOf(smallkey)) =>
			store.change(putting(smallkey, textOf(value)), meta);
		const read: Reader["read"] = async (smallkey) => (await store.served()).read(smallkey);
		return {
			store,
			send,
			read,
			put: (...words) => commitOf(send(...words)),
			async stored(smallkey) {
				const layer = await read(smallkey);
				return layer ? JSON.parse(layer.registration).value : undefined;
			},
		};
	});

	test("a change is read back, and a repeated state makes no commit", async ({ store, put, read }) => {
		const empty = await store.served();
		for (const key of ["23ax5t", "__proto__"])
			assert.equal([await empty.read(key), await empty.spellings(key)], [null, []]);
		const first = await put("23ax5t", 1);
		assert.equal([first.changed, first.branch], [true, undefined]);
		assert.equal(await read("23ax5t"), { registration: textOf(1), description: null });
		const second = await put("23ax5t", 2);
		assert.is.not(second.commit, first.commit);
		assert.equal(await read("23ax5t"), { registration: textOf(2), description: null });
		const again = await put("23ax5t", 2);
		assert.equal([again.commit, again.changed], [second.commit, false]);
	});

	test("a key is removed, with its description in the same commit", async ({ store, put, read }) => {
		const registration = `${JSON.stringify({ name: "Réseau routier 道路 🛣 ".repeat(3_000) })}\n`;
		const description = `{"image":"${"A".repeat(400_000)}"}\n`;
		const edits = (...texts: (string | null)[]) => {
			const paths = [layerPath("ozone"), descriptionPath("ozone")];
			return async () => paths.map((path, at) => ({ path, text: texts[at] ?? null }));
		};
		await commitOf(store.change(edits(registration, description), metaOf("ozone")));
		assert.equal(await read("ozone"), { registration, description }, "byte for byte");
		await put("ozonly", 2);
		assert.is((await commitOf(store.change(edits(), metaOf("ozone")))).changed, true);
		const after = await store.served();
		assert.is(await after.read("ozone"), null);
		assert.equal([await after.spellings("ozone"), await after.spellings("ozonly")], [[], ["ozonly"]]);
	});

	test("keys that differ only in case are the spellings of a key", async ({ store, put, stored }) => {
		for (const key of ["aB1", "Ab1", "ab-=+_", "+=x"]) await put(key, key);
		assert.equal([await stored("ab1"), await stored("ab-=+_")], [undefined, "ab-=+_"]);
		for (const [key, keys] of [
			["AB1", ["Ab1", "aB1"]],
			["AB-=+_", ["ab-=+_"]],
			["+=X", ["+=x"]],
			["ab3", []],
		] as const)
			assert.equal(await (await store.served()).spellings(key), keys);
		await put("aB1", null);
		assert.equal(await (await store.served()).spellings("ab1"), ["Ab1"]);
		let state: unknown;
		const look = async (now: Reader) => {
			state = [await now.spellings("ab1"), await now.read("Ab1")];
			return [];
		};
		await Promise.all([put("aB1", 1), put("Ab1", null), store.change(look, metaOf("ab1"))]);
		assert.equal(state, [["aB1"], null], "with changes that are not made yet");
	});

	test("what `decide` refuses or throws is handed on, and stops no other change", async ({ store, put }) => {
		const first = await put("re", 1);
		const refusal = { status: 409, errors: [problemAt("smallkey", "required")] };
		const broken = async () => {
			throw new Error("a fault of the test");
		};
		const [refused, failed, other] = await Promise.allSettled([
			store.change(async () => refusal, metaOf("re")),
			store.change(broken, metaOf("re")),
			put("re", 1),
		]);
		assert.equal(refused, { status: "fulfilled", value: refusal });
		assert.match(failed.status === "rejected" ? String(failed.reason) : "", "a fault of the test");
		assert.equal(other, { status: "fulfilled", value: { ...first, changed: false } });
	});

	test("a request that is repeated changes nothing twice", async ({ send, put, stored }) => {
		for (const [key, parts] of [
			["use", {}],
			["twice", { review: true }],
			["many", { review: true, reviewName: "replay" }],
		] as const) {
			const meta = metaOf(key, parts);
			const first = await put(key, 1, meta);
			const again = await put(key, 1, meta);
			assert.equal([again.commit, again.changed], [first.commit, false]);
			for (const value of [2, null]) {
				await put(key, value, metaOf(key, parts));
				assert.equal(await send(key, 1, meta), usedBefore);
				assert.is(await stored(key), (!meta.review && value) || undefined);
			}
		}
	});

	test("a condition is decided on the state on which the change is made", async ({ store, stored }) => {
		const putIf = async (value: number, more: { ifMatch?: string; ifNoneMatch?: string }, parts = {}) => {
			const conditions = { ifMatch: "", ifNoneMatch: "", ...more };
			const { decide, etag } = addConditions("if", putting("if", textOf(value)), conditions);
			const outcome = await store.change(decide, metaOf("if", parts));
			return [isRefusal(outcome) ? outcome.status : outcome.changed, etag()];
		};
		const tagOf = async (value: number) => `"${await blobId(String(textOf(value)))}"`;
		assert.equal(await putIf(1, { ifNoneMatch: "*" }), [true, await tagOf(1)]);
		assert.is(`"${(await (await store.served()).ids("if"))?.registration}"`, await tagOf(1));
		const ifMatch = await tagOf(1);
		const racing = [putIf(2, { ifMatch }), putIf(3, { ifMatch }), putIf(4, { ifNoneMatch: "*" })];
		assert.equal(
			(await Promise.all(racing)).map(([status]) => status),
			[true, 412, 412],
		);
		assert.is(await stored("if"), 2);
		for (const value of [5, 6]) {
			// The second time the condition is of the change that waits, not of what is served.
			const matching = { ifMatch: await tagOf(value === 5 ? 2 : 5) };
			assert.equal(await putIf(value, matching, { review: true }), [true, await tagOf(value)]);
		}
		assert.is(await stored("if"), 2);
	});

	test("one signature twice at the same moment takes effect once", async ({ send, put, stored }) => {
		const meta = metaOf("once");
		const all = [put("once", 1, meta), put("once", 2), send("once", 1, meta)];
		const [first, second, again] = (await Promise.all(all)) as [Commit, Commit, unknown];
		assert.equal([first.changed, second.changed, again], [true, true, usedBefore]);
		assert.is(await stored("once"), 2);
	});

	test("changes without a signature are never taken for repeats", async ({ put, stored }) => {
		for (const value of [1, 2, 1])
			assert.is((await put("plain", value, metaOf("plain", { request: null }))).changed, true);
		assert.is(await stored("plain"), 1);
	});

	test("20 changes at once: each builds on the one before", async ({ store, put, stored }) => {
		const counting = async (now: Reader) => {
			const layer = await now.read("counter");
			const { value } = layer ? JSON.parse(layer.registration) : { value: 0 };
			return [{ path: layerPath("counter"), text: textOf(value + 1) }];
		};
		const changes = Array.from({ length: 20 }, (_, index) => [
			commitOf(store.change(counting, metaOf("counter"))),
			put(`many-${index}`, index),
		]);
		for (const { changed } of await Promise.all(changes.flat())) assert.is(changed, true);
		assert.is(await stored("counter"), 20);
		for (const index of Array(20).keys()) assert.is(await stored(`many-${index}`), index);
	});

	test("a change for review waits on a branch of its own", async ({ put, stored }) => {
		await put("nhn", 1);
		const review = () => metaOf("nhn", { review: true });
		const first = await put("nhn", 2, review());
		assert.equal([first.changed, first.branch], [true, "register/nhn"]);
		assert.equal(await put("nhn", 2, review()), { ...first, changed: false });
		const second = await put("nhn", 3, review());
		assert.equal(second, { ...first, commit: second.commit });
		assert.is.not(second.commit, first.commit);
		const removal = await put("nhn", null, review());
		assert.equal([removal.changed, removal.branch], [true, "register/nhn"]);
		assert.is(await stored("nhn"), 1);
		const batch = () => put("nhn", 2, metaOf("nhn", { smallkey: null, review: true }));
		assert.equal(await batch(), { ...(await batch()), changed: true });
	});

	test("a change that waits for review is not replaced by another sender's", async ({ put, send }) => {
		const stored = await put("wait", 1);
		const meta = (author: string) => metaOf("wait", { author, review: true });
		const first = await put("wait", 2, meta("ann"));
		for (const value of [3, null, 2]) {
			const other = meta("bo");
			for (const _ of ["first", "sent again"])
				assert.equal(await send("wait", value, other), refuseOther("ann"));
		}
		assert.equal(
			await put("wait", 1, meta("bo")),
			{ ...stored, changed: false },
			"what is stored is no change",
		);
		assert.equal(await put("wait", 2, meta("ann")), { ...first, changed: false }, "the change of ann waits");
	});

	test("of two senders for review at once, the second hears whose change waits", async (scene) => {
		const meta = (author: string) => metaOf("pair", { author, review: true });
		const both = [scene.put("pair", 1, meta("ann")), scene.send("pair", 2, meta("bo"))];
		assert.equal((await Promise.all(both))[1], refuseOther("ann"));
	});

	test("of two new keys that differ only in case, one can wait for review", async ({ send, put }) => {
		const meta = (smallkey: string, author: string, parts = {}) =>
			metaOf(smallkey, { author, review: true, ...parts });
		const first = await put("Twin", 1, meta("Twin", "ann"));
		for (const author of ["ann", "bo"])
			assert.equal(await send("twin", 2, meta("twin", author)), refuseTwin("twin", "Twin"));
		assert.equal(await put("Twin", 1, meta("Twin", "ann")), { ...first, changed: false });
		await put("twins", 2, meta("twins", "bo"));
		await put("tWin", 3);
		const { branch } = await put("tWin", 4, meta("tWin", "bo"));
		assert.is(branch, "register/tWin", "a stored key can be changed");
		const group = { reviewName: "twins" };
		await put("Lake", 1, meta("Lake", "ann", group));
		await put("Road", 1, meta("Road", "ann"));
		for (const [smallkey, other, parts] of [
			["lake", "Lake", {}],
			["lake", "Lake", { reviewName: "others" }],
			["road", "Road", group],
		] as const)
			assert.equal(await send(smallkey, 2, meta(smallkey, "ann", parts)), refuseTwin(smallkey, other));
		await put("road2", 2, meta("road2", "ann", group));
	});

	test("the changes of a sender for one review wait together, on a branch of their own", async (scene) => {
		const stored = await scene.put("same", 1);
		const meta = (smallkey: string, reviewName = "Spring.2026", author = "ann") =>
			metaOf(smallkey, { author, review: true, reviewName });
		const put = (key: string, ...more: string[]) => scene.put(key, 1, meta(key, ...more));
		assert.equal(await put("same"), { ...stored, changed: false }, "nothing waits yet");
		const [first, second] = await Promise.all([put("g1"), put("g2"), put("g3")]);
		const branch = "register/ann+review.Spring.2026";
		for (const { changed, branch: name } of [first, second]) assert.equal([changed, name], [true, branch]);
		assert.is((await put("same")).branch, undefined);
		const { pullRequest } = first;
		const later = await put("g4");
		assert.equal([later.changed, later.branch, later.pullRequest], [true, branch, pullRequest]);
		const removal = await scene.put("same", null, meta("same"));
		assert.equal([removal.changed, removal.branch], [true, branch]);
		const again = await put("g1");
		assert.equal([again.changed, again.branch, again.pullRequest], [false, branch, pullRequest]);
		assert.is((await put("g1", "autumn")).branch, "register/ann+review.autumn");
		assert.is((await put("g1", "autumn", "bo")).branch, "register/bo+review.autumn");
		assert.equal([await scene.stored("g1"), await scene.stored("same")], [undefined, 1]);
	});

	test("no review is in the way of another, whatever they are called", async ({ put }) => {
		const senders = ["ann", "ann.batch", "ann.review.x", "ann..lock", ".ann"];
		const reviews = senders.flatMap((author) =>
			["x", "y.x"].map((reviewName) => ({ author, reviewName, review: true })),
		);
		const branches: unknown[] = [];
		const send = async (smallkey: string, parts: Partial<Meta>) =>
			branches.push((await put(smallkey, 1, metaOf(smallkey, { review: true, ...parts }))).branch);
		await send("ann", { author: "bo" });
		for (const [at, parts] of reviews.entries()) await send(`in-${at}`, parts);
		for (const key of ["ann+review", "review"]) await send(key, { author: "ann" });
		assert.is(new Set(branches).size, reviews.length + 3, String(branches));
	});

	test("a request without an effect takes none later", async ({ store, send, put, stored }) => {
		await put("later", 1);
		const unchanged = metaOf("later");
		assert.is((await put("later", 1, unchanged)).changed, false);
		const asOther = { ...unchanged, method: "DELETE" };
		assert.equal(await store.change(async () => [], asOther), usedBefore, "with another method");
		await put("later", 2);
		assert.equal(await send("later", 1, unchanged), usedBefore);
		const refused = metaOf("absent", { method: "DELETE" });
		const remove = async (now: Reader) => {
			const errors = [problemAt("smallkey", "not-registered", "absent")];
			return (await now.ids("absent")) ? putting("absent", null)(now) : { status: 404, errors };
		};
		assert.equal(await store.change(remove, refused), await remove(await store.served()));
		await put("absent", 1);
		const otherwise = async () => ({ status: 409, errors: [] });
		for (const decide of [remove, otherwise, async () => []])
			assert.equal(await store.change(decide, refused), usedBefore);
		assert.equal([await stored("later"), await stored("absent")], [2, 1]);
	});

	test.run();
}
