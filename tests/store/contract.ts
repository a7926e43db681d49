import * as assert from "uvu/assert";
import { conditionalEdits } from "../../api/conditions.ts";
import { textsOf } from "../../registry/problems.ts";
import { descriptionPath, folderOf, layerPath } from "../../registry/smallkey.ts";
import { problemAt, textIn } from "../../registry/texts.ts";
import { blobId } from "../../store/hashes.ts";
import {
	type Commit,
	type Edit,
	isRefusal,
	type Meta,
	type Reader,
	type Store,
	StoreBusy,
	twinWaits,
	usedBefore,
	waitsOf,
} from "../../store/store.ts";
import { sharedSuite } from "../helpers/world.ts";

/** A store, and what ends it. */
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
 * What every store promises, by its interface alone. Each test has smallkeys of its own.
 * @param open makes a store without layers
 */
export function testStore(name: string, open: () => Promise<Fresh>): void {
	const test = sharedSuite<Fresh>(name, async (use) => {
		const fresh = await open();
		use(fresh.close);
		return fresh;
	});

	test("nothing is stored at first", async ({ store }) => {
		assert.is(await store.read("23ax5t"), null);
		assert.equal(await store.keys("23"), []);
		assert.is(await store.read("__proto__"), null);
		assert.equal(await store.keys("__"), []);
	});

	test("a change is read back, a further one builds on it, and a repeated state makes no commit", async (scene) => {
		const { store } = scene;
		const first = await accepted(store.change(putting("23ax5t", textOf(1)), metaOf("23ax5t")));
		assert.is(first.changed, true);
		assert.is(first.branch, undefined);
		assert.equal(await store.read("23ax5t"), { registration: textOf(1), description: null });
		const second = await accepted(store.change(putting("23ax5t", textOf(2)), metaOf("23ax5t")));
		assert.is.not(second.commit, first.commit);
		assert.equal(await store.read("23ax5t"), { registration: textOf(2), description: null });
		const again = await accepted(store.change(putting("23ax5t", textOf(2)), metaOf("23ax5t")));
		assert.equal([again.commit, again.changed], [second.commit, false]);
	});

	test("a key is removed, with its description in the same commit", async ({ store }) => {
		const long = `${JSON.stringify({ name: "Réseau routier 道路 🛣 ".repeat(3_000) })}\n`;
		const both = async () => [
			{ path: layerPath("ozone"), text: long },
			{ path: descriptionPath("ozone"), text: `{"image":"${"A".repeat(400_000)}"}\n` },
		];
		await accepted(store.change(both, metaOf("ozone")));
		const [registration, description] = (await both()).map(({ text }) => text);
		assert.equal(await store.read("ozone"), { registration, description }, "byte for byte");
		await accepted(store.change(putting("ozonly", textOf(2)), metaOf("ozonly")));
		assert.equal(await store.keys("oz"), ["ozone", "ozonly"]);
		const gone = async () => (await both()).map(({ path }) => ({ path, text: null }));
		assert.is((await accepted(store.change(gone, metaOf("ozone")))).changed, true);
		assert.is(await store.read("ozone"), null);
		assert.equal(await store.keys("oz"), ["ozonly"]);
	});

	test("keys that differ only in case share a folder, and are the spellings of a key", async ({ store }) => {
		for (const key of ["aB1", "Ab1", "ab-=+_"])
			await accepted(store.change(putting(key, textOf(key)), metaOf(key)));
		assert.equal(await store.keys(folderOf("AB")), ["Ab1", "aB1", "ab-=+_"]);
		assert.is(await store.read("ab1"), null);
		assert.is((await store.read("ab-=+_"))?.registration, textOf("ab-=+_"));
		await accepted(store.change(putting("+=x", textOf("+=x")), metaOf("+=x")));
		assert.equal(await store.keys(folderOf("+=x")), ["+=x"]);
		assert.equal(await store.keys("ab", "AB1"), ["Ab1", "aB1"]);
		assert.equal(await store.keys("ab", "ab3"), []);
		await accepted(store.change(removing("aB1"), metaOf("aB1")));
		assert.equal(await store.keys("ab", "ab1"), ["Ab1"]);
		const seen: string[][] = [];
		await Promise.all([
			store.change(putting("aB1", textOf(1)), metaOf("aB1")),
			store.change(async (now) => {
				seen.push(await now.keys("ab", "ab1"));
				return [];
			}, metaOf("ab1")),
		]);
		assert.equal(seen.at(-1), ["Ab1", "aB1"], "with changes that are not made yet");
	});

	test("what the edits refuse or throw is handed on, nothing is stored, and no other change stops", async (scene) => {
		const { store } = scene;
		const first = await accepted(store.change(putting("re", textOf(1)), metaOf("re")));
		const refusal = { status: 409, errors: [problemAt("smallkey", "required")] };
		const broken = async () => {
			throw new Error("a fault of the test");
		};
		const [refused, failed, other] = await Promise.allSettled([
			store.change(async () => refusal, metaOf("re")),
			store.change(broken, metaOf("re")),
			accepted(store.change(putting("re", textOf(1)), metaOf("re"))),
		]);
		assert.equal(refused, { status: "fulfilled", value: refusal });
		assert.match(failed.status === "rejected" ? String(failed.reason) : "", "a fault of the test");
		assert.equal(other, { status: "fulfilled", value: { commit: first.commit, changed: false } });
	});

	test("a request that is repeated changes nothing twice", async ({ store }) => {
		const meta = metaOf("use");
		const first = await accepted(store.change(putting("use", textOf(1)), meta));
		const again = await accepted(store.change(putting("use", textOf(1)), meta));
		assert.equal([again.commit, again.changed], [first.commit, false]);
		await accepted(store.change(putting("use", textOf(2)), metaOf("use")));
		assert.equal(await store.change(putting("use", textOf(1)), meta), usedBefore);
		assert.is((await store.read("use"))?.registration, textOf(2));
		await accepted(store.change(removing("use"), metaOf("use", { subject: "remove use" })));
		assert.equal(await store.change(putting("use", textOf(1)), meta), usedBefore);
		assert.is(await store.read("use"), null);
	});

	test("a condition is decided on the state on which the change is made", async ({ store }) => {
		const conditions = { ifMatch: "", ifNoneMatch: "" };
		const putIf = (value: number, more: Partial<typeof conditions>, meta = metaOf("if")) => {
			const { edits, etag } = conditionalEdits("if", putting("if", textOf(value)), {
				...conditions,
				...more,
			});
			return store.change(edits, meta).then((outcome) => ({ outcome, etag: etag() }));
		};
		const statusOf = ({ outcome }: Awaited<ReturnType<typeof putIf>>) =>
			isRefusal(outcome) ? outcome.status : outcome.changed;
		const first = await putIf(1, { ifNoneMatch: "*" });
		assert.equal([statusOf(first), first.etag], [true, `"${(await store.ids("if"))?.registration}"`]);
		const ifMatch = first.etag ?? "";
		const meta = metaOf("if");
		const racing = [putIf(2, { ifMatch }, meta), putIf(3, { ifMatch }), putIf(4, { ifNoneMatch: "*" })];
		assert.equal((await Promise.all(racing)).map(statusOf), [true, 412, 412]);
		assert.is((await store.read("if"))?.registration, textOf(2));
		const waiting = await putIf(
			5,
			{ ifMatch: `"${await blobId(textOf(2))}"` },
			metaOf("if", { review: true }),
		);
		assert.equal([statusOf(waiting), waiting.etag], [true, `"${await blobId(textOf(5))}"`]);
		const later = await putIf(6, { ifMatch: waiting.etag ?? "" }, metaOf("if", { review: true }));
		assert.is(statusOf(later), true, "of the change that waits, not of what is served");
		assert.is((await store.read("if"))?.registration, textOf(2));
	});

	test("one signature twice at the same moment takes effect once", async ({ store }) => {
		const meta = metaOf("once");
		const [first, second, again] = await Promise.all([
			store.change(putting("once", textOf(1)), meta),
			store.change(putting("once", textOf(2)), metaOf("once")),
			store.change(putting("once", textOf(1)), meta),
		]);
		assert.equal(
			[first, second].map((outcome) => !isRefusal(outcome) && outcome.changed),
			[true, true],
		);
		assert.equal(again, usedBefore);
		assert.is((await store.read("once"))?.registration, textOf(2));
	});

	test("changes without a signature are never taken for repeats", async ({ store }) => {
		for (const value of [1, 2, 1]) {
			const meta = metaOf("plain", { request: null });
			assert.is((await accepted(store.change(putting("plain", textOf(value)), meta))).changed, true);
		}
		assert.is((await store.read("plain"))?.registration, textOf(1));
	});

	test("20 changes of one key and of others at once: each builds on the one before", async ({ store }) => {
		const counting = async (now: Reader) => {
			const layer = await now.read("counter");
			const { value } = layer ? JSON.parse(layer.registration) : { value: 0 };
			return [{ path: layerPath("counter"), text: textOf(value + 1) }];
		};
		const changes = Array.from({ length: 20 }, (_, index) => [
			accepted(store.change(counting, metaOf("counter"))),
			accepted(store.change(putting(`many-${index}`, textOf(index)), metaOf(`many-${index}`))),
		]);
		const commits = new Set((await Promise.all(changes.flat())).map(({ commit }) => commit));
		assert.is(commits.size, 40);
		assert.is((await store.read("counter"))?.registration, textOf(20));
		assert.is((await store.keys("ma")).length, 20);
	});

	test("a change for review waits on a branch of its own", async ({ store }) => {
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
		const removal = await accepted(store.change(removing("nhn"), metaOf("nhn", review)));
		assert.equal([removal.changed, removal.branch], [true, "register/nhn"]);
		assert.is((await store.read("nhn"))?.registration, textOf(1));
	});

	test("a change that waits for review is not replaced by another sender's", async ({ store }) => {
		const stored = await accepted(store.change(putting("wait", textOf(1)), metaOf("wait")));
		const meta = (author: string) => metaOf("wait", { author, review: true });
		const first = await accepted(store.change(putting("wait", textOf(2)), meta("ann")));
		for (const edits of [putting("wait", textOf(3)), removing("wait"), putting("wait", textOf(2))]) {
			const other = meta("bo");
			assert.equal(await store.change(edits, other), waitsOf("ann"));
			assert.equal(await store.change(edits, other), waitsOf("ann"), "sent again");
		}
		const same = await accepted(store.change(putting("wait", textOf(1)), meta("bo")));
		assert.equal(same, { commit: stored.commit, changed: false }, "what is stored is no change");
		const again = await accepted(store.change(putting("wait", textOf(2)), meta("ann")));
		assert.equal(again, { ...first, changed: false }, "the change of ann still waits");
	});

	test("of two new keys that differ only in case, one can wait for review", async ({ store }) => {
		const meta = (smallkey: string, author: string) => metaOf(smallkey, { author, review: true });
		const first = await accepted(store.change(putting("Twin", textOf(1)), meta("Twin", "ann")));
		for (const author of ["ann", "bo"])
			assert.equal(
				await store.change(putting("twin", textOf(2)), meta("twin", author)),
				twinWaits("twin", "Twin"),
			);
		const again = await accepted(store.change(putting("Twin", textOf(1)), meta("Twin", "ann")));
		assert.equal(again, { ...first, changed: false });
		await accepted(store.change(putting("twins", textOf(2)), meta("twins", "bo")));
		await accepted(store.change(putting("tWin", textOf(3)), metaOf("tWin")));
		const stored = await accepted(store.change(putting("tWin", textOf(4)), meta("tWin", "bo")));
		assert.is(stored.branch, "register/tWin", "a stored key can be changed");
	});

	test("a request for review that is repeated changes nothing twice", async ({ store }) => {
		const meta = metaOf("twice", { review: true });
		await accepted(store.change(putting("twice", textOf(1)), meta));
		await accepted(store.change(putting("twice", textOf(2)), metaOf("twice", { review: true })));
		assert.equal(await store.change(putting("twice", textOf(1)), meta), usedBefore);
		assert.is(await store.read("twice"), null);
	});

	test("the changes of a sender for one review wait together, and another review or sender has its own branch", async ({
		store,
	}) => {
		const stored = await accepted(store.change(putting("same", textOf(1)), metaOf("same")));
		const meta = (smallkey: string, reviewName = "Spring.2026", author = "ann") =>
			metaOf(smallkey, { author, review: true, reviewName });
		const put = (smallkey: string, ...more: string[]) =>
			accepted(store.change(putting(smallkey, textOf(1)), meta(smallkey, ...more)));
		assert.equal(await put("same"), { commit: stored.commit, changed: false }, "nothing waits yet");
		const [first, second] = await Promise.all([put("g1"), put("g2"), put("g3")]);
		const { pullRequest } = first;
		const branch = "register/ann/review.Spring.2026";
		for (const one of [first, second]) assert.equal([one.changed, one.branch], [true, branch]);
		const later = await put("g4");
		assert.equal([later.changed, later.branch, later.pullRequest], [true, branch, pullRequest]);
		const removal = await accepted(store.change(removing("same"), meta("same")));
		assert.equal([removal.changed, removal.branch], [true, branch]);
		const again = await put("g1");
		assert.equal([again.changed, again.branch, again.pullRequest], [false, branch, pullRequest]);
		assert.is((await put("g1", "autumn")).branch, "register/ann/review.autumn");
		assert.is((await put("g1", "autumn", "bo")).branch, "register/bo/review.autumn");
		assert.equal([await store.read("g1"), (await store.read("same"))?.registration], [null, textOf(1)]);
	});

	test("a new key that differs only in case from one of a review of many layers is refused", async ({
		store,
	}) => {
		const meta = (smallkey: string, parts = {}) =>
			metaOf(smallkey, { author: "ann", review: true, ...parts });
		const group = { reviewName: "twins" };
		await accepted(store.change(putting("Lake", textOf(1)), meta("Lake", group)));
		await accepted(store.change(putting("Road", textOf(1)), meta("Road")));
		for (const [smallkey, other, parts] of [
			["lake", "Lake", {}],
			["lake", "Lake", { reviewName: "others" }],
			["road", "Road", group],
		] as const) {
			const outcome = await store.change(putting(smallkey, textOf(2)), meta(smallkey, parts));
			assert.equal(outcome, twinWaits(smallkey, other));
		}
		await accepted(store.change(putting("road2", textOf(2)), meta("road2", group)));
	});

	test("a repeated request of a review of many layers changes nothing twice", async ({ store }) => {
		const group = { review: true, reviewName: "replay" };
		const meta = metaOf("rep", group);
		await accepted(store.change(putting("rep", textOf(1)), meta));
		await accepted(store.change(putting("rep", textOf(2)), metaOf("rep", group)));
		assert.equal(await store.change(putting("rep", textOf(1)), meta), usedBefore);
	});

	test("a request that changed nothing, or was refused, takes no effect later", async ({ store }) => {
		const put = (value: number, meta = metaOf("later")) =>
			store.change(putting("later", textOf(value)), meta);
		await accepted(put(1));
		const unchanged = metaOf("later");
		assert.is((await accepted(put(1, unchanged))).changed, false);
		await accepted(put(2));
		assert.equal(await put(1, unchanged), usedBefore);
		const refused = metaOf("absent", { method: "DELETE" });
		const remove = async (now: Reader) => {
			const errors = [problemAt("smallkey", "not-registered", "absent")];
			return (await now.ids("absent")) ? removing("absent")() : { status: 404, errors };
		};
		assert.equal(await store.change(remove, refused), await remove(store));
		await accepted(store.change(putting("absent", textOf(1)), metaOf("absent")));
		assert.equal(await store.change(remove, refused), usedBefore);
		assert.equal(
			[(await store.read("later"))?.registration, (await store.read("absent"))?.registration],
			[textOf(2), textOf(1)],
		);
	});

	test.run();
}
