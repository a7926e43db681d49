import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { textOf as busy } from "../../registry/texts.ts";
import { type GitStore, openGitStore } from "../../store/git/git-store.ts";
import { createGroupWriter, type StoreContext } from "../../store/git/groups.ts";
import { authorMail, type Commit, type Refusal, StoreBusy, serviceAuthor } from "../../store/store.ts";
import { GitFailure } from "../../system/git/run.ts";
import { noon, wms } from "../helpers/local.ts";
import { gate } from "../helpers/wait.ts";
import { freshSuite, temporaryFolder, words } from "../helpers/world.ts";
import { metaOf } from "./contract.ts";
import { committed, git, openEmpty, optionsIn, put } from "./git-store.ts";

/** A store with a clock that tests move. */
class World {
	now = noon;
	store!: GitStore;

	constructor(readonly folder: string) {}

	async open(): Promise<void> {
		this.store = await openEmpty(this.folder, { now: () => new Date(this.now) });
	}

	/** A signed PUT of a layer, now; its timestamp is the clock's unless given. */
	put(layer: string, request: string, time = this.now): Promise<Commit | Refusal> {
		return put(this.store, "one", layer, { request: request.repeat(64), method: "PUT", time });
	}

	/** The commit of the branch and the layer `one`. */
	async state(): Promise<string[]> {
		const layer = await this.store.read("one");
		return [await git(this.folder, "rev-parse", "refs/heads/main"), layer?.registration ?? ""];
	}

	/** Checks that a request is refused as used before, and that nothing was stored. */
	async refusesAgain(layer: string, request: string, time: number): Promise<void> {
		const before = await this.state();
		const outcome = await this.put(layer, request, time);
		assert.is("errors" in outcome ? outcome.status : outcome.commit, 401);
		assert.equal(await this.state(), before);
	}
}

const test = freshSuite("groups and used requests", async (use) => {
	const world = new World(use(await temporaryFolder()).path);
	await world.open();
	use(() => world.store.close());
	return { world };
});

test("changes that come together are committed in their order, each on the ones before it", async (scene) => {
	const { world } = scene;
	const { store, folder } = world;
	const seen: string[] = [];
	const texts = Array.from({ length: 40 }, (_, index) => wms(`turn-${index}`));
	await Promise.all(
		texts.map(async (text, index) => {
			// In several groups: some come while others are written.
			if (index >= 20) await put(store, `other-${index}`);
			return store.change(async (now) => {
				seen.push((await now.read("one"))?.registration ?? "");
				return [{ path: layerPath("one"), text }];
			}, metaOf("one"));
		}),
	);
	const path = layerPath("one");
	const commits = words(await git(folder, "log", "--reverse", "--format=%H", "refs/heads/main", "--", path));
	const stored = await Promise.all(commits.map((commit) => git(folder, "show", `${commit}:${path}`)));
	assert.is(stored.length, texts.length);
	assert.equal(stored.slice(0, 20), texts.slice(0, 20));
	assert.equal(seen, ["", ...stored.slice(0, -1)], "each has seen what the one before it left");
});

test("a change that would change nothing is judged on what others have brought to the branch", async (scene) => {
	const { world } = scene;
	const { store, folder } = world;
	const first = await committed(put(store, "one", "first"));
	const second = await committed(put(store, "one", "second"));
	const identity = ["-c", "user.name=other", "-c", "user.email=other@example.org"];
	const words = ["commit-tree", "-p", second, "-m", "revert", `${first}^{tree}`];
	await git(folder, "update-ref", "refs/heads/main", await git(folder, ...identity, ...words));
	const text = wms("second");
	const outcome = await store.change(async (now) => {
		return (await now.read("one"))?.registration === text ? [] : [{ path: layerPath("one"), text }];
	}, metaOf("one"));
	assert.is("changed" in outcome && outcome.changed, true);
	assert.is((await store.read("one"))?.registration, text);
});

test("a request that a commit from elsewhere has carried out is not carried out again", async ({ world }) => {
	const { store, folder, now } = world;
	const tip = await committed(put(store, "one", "first"));
	const identity = ["-c", `user.name=${serviceAuthor}`, "-c", `user.email=${authorMail(serviceAuthor)}`];
	const trailers = [`TimeStamp: ${new Date(now).toISOString()}`, `Request: ${"b".repeat(64)}`];
	const message = ["register one (wms)", trailers.join("\n")].join("\n\n");
	const words = ["commit-tree", "-p", tip, "-m", message, `${tip}^{tree}`];
	await git(folder, "update-ref", "refs/heads/main", await git(folder, ...identity, ...words));
	await world.refusesAgain("second", "b", now);
});

test("groups follow each other in the order in which their changes came", async ({ world }) => {
	const { folder } = world;
	const [first, published] = gate();
	const [held, goOn] = gate();
	const publish = async () => {
		published();
		await held;
		return { warnings: Promise.resolve([]) };
	};
	await world.store.close();
	world.store = await openGitStore({ ...optionsIn(folder), publish }, async () => []);
	const changes = [put(world.store, "one", "first")];
	await first;
	for (const layer of ["second", "third"]) changes.push(put(world.store, "one", layer));
	goOn();
	const commits = await Promise.all(changes.map(committed));
	const log = await git(folder, "log", "--reverse", "--format=%H", "refs/heads/main");
	assert.equal(log.split("\n").slice(1), commits);
});

test("one signature twice at the same moment takes effect once", async ({ world }) => {
	const changes = [world.put("earlier", "a"), world.put("later", "b"), world.put("earlier", "a")];
	const [first, second, again] = await Promise.all(changes);
	assert.ok(first && "commit" in first && second && "commit" in second);
	assert.is(again && "errors" in again && again.status, 401);
	assert.match((await world.state())[1] as string, "later");
	assert.is((await git(world.folder, "rev-list", "refs/heads/main")).split("\n").length, 3);
});

test("after a failure that may have left a commit on a review's branch, its request is read from there", async () => {
	let isFailing = true;
	let moved = false;
	let read = 0;
	const context = {
		catFile: { read: async () => null },
		branch: {
			commit: "a".repeat(40),
			follow: async () => {
				if (moved && isFailing) throw new GitFailure("cat-file");
			},
			readerAt: () => ({ folder: async () => new Map(), overlay: () => undefined }),
		},
		requests: {
			find: () => null,
			isForgotten: () => false,
			noteCommitted: () => undefined,
			keep: async () => undefined,
			readCommitted: async () => {
				read += 1;
			},
		},
		health: { failed: () => new StoreBusy(busy("git-failed"), 5), recovered: () => undefined },
		writer: {
			store: async () => ["b".repeat(40)],
			move: async () => {
				moved = true;
				if (isFailing) throw new GitFailure("update-ref");
			},
			syncNames: async () => undefined,
			kill: () => undefined,
		},
		measure: () => undefined,
	};
	const write = createGroupWriter(context as unknown as StoreContext);
	const propose = () =>
		new Promise((resolve, reject) => {
			const meta = metaOf("one", { review: true });
			const edits = async () => [{ path: layerPath("one"), text: "" }];
			void write([{ edits, meta, sinceMs: 0, resolve, reject }]);
		});
	assert.instance(await propose().catch((error: unknown) => error), StoreBusy);
	assert.is(read, 0);
	isFailing = false;
	await propose();
	assert.is(read, 1);
	await propose();
	assert.is(read, 1, "once is enough");
});

test.run();
