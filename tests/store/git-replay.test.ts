import { open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { decideChange, isRefusal } from "../../store/decide.ts";
import { syncPath } from "../../store/git/writer.ts";
import type { Edit, Meta } from "../../store/store.ts";
import { UsedRequests } from "../../store/used-requests.ts";
import { noon } from "../helpers/local.ts";
import { freshSuite, temporaryFolder } from "../helpers/world.ts";
import { metaOf, newRequest } from "./contract.ts";
import { commitIdOf, TestRepository } from "./git-store.ts";
import { replaceGit } from "./other-git.ts";

const minuteMs = 60_000;

const test = freshSuite("requests that were used", async (use) => {
	const repository = new TestRepository(use(await temporaryFolder()).path);
	repository.now = noon;
	await repository.open();
	return { repository: use(repository) };
});

/** Sends the layer `k`. A refusal stores nothing. @param parts request and time of the signature */
async function put(
	repository: TestRepository,
	layer: string,
	parts: Partial<Meta>,
): Promise<"stored" | "refused"> {
	const stateOf = async () => [await repository.tip(), await repository.read("k")];
	const before = await stateOf();
	const outcome = await repository.put("k", layer, { method: "PUT", ...parts });
	if (!isRefusal(outcome)) return "stored";
	assert.is(outcome.status, 401);
	assert.equal(await stateOf(), before);
	return "refused";
}

const remember = ({ store }: TestRepository, request = newRequest()): Promise<boolean> =>
	store.remember({ request, method: "PUT", time: noon, outcome: 404 });

const logOf = ({ folder }: TestRepository) => join(folder, "requests/requests.log");

test("a replay of a change that was refused after its commit is refused", async ({ repository }) => {
	const first = { request: newRequest(), method: "PUT", time: noon };
	{
		using _ = replaceGit(
			repository.folder,
			`case $* in *fast-import*) "$git" "$@"; exit 1; esac; exec "$git" "$@"`,
		);
		assert.match(String(await repository.put("k", "one", first).catch(String)), "StoreBusy");
	}
	const second = repository.put("k", "two");
	const replay = repository.put("k", "one", first);
	const commit = await commitIdOf(second);
	assert.ok(isRefusal(await replay));
	assert.is(await repository.tip(), commit);
});

test("a use is on the disk before its answer, in a new log and in the same one", async ({ repository }) => {
	// Node does not export the class of its file handles.
	const handle = await open(repository.folder);
	const prototype = Object.getPrototypeOf(handle);
	await handle.close();
	const { sync } = prototype;
	const texts: string[] = [];
	prototype.sync = async function (...args: unknown[]) {
		await sync.apply(this, args);
		for (const name of await readdir(join(repository.folder, "requests")))
			texts.push(await readFile(join(repository.folder, "requests", name), "utf8"));
	};
	try {
		for (const request of [newRequest(), newRequest()]) {
			await remember(repository, request);
			assert.match(texts.splice(0).join(), request);
		}
		await syncPath(repository.folder);
		assert.is(texts.length, 1, "a folder is synced like a file");
		assert.match(String(await syncPath(join(repository.folder, "none")).catch(String)), "ENOENT");
	} finally {
		prototype.sync = sync;
	}
});

test("a use that cannot be written is not remembered, and can be written later", async ({ repository }) => {
	const request = newRequest();
	await remember(repository);
	const requests = join(repository.folder, "requests");
	await rename(requests, `${requests}.away`);
	for (const log of ["the same log", "a new log"])
		assert.match(
			String(await remember(repository, request).catch(String)),
			"StoreBusy: the repository cannot be written",
			log,
		);
	await rename(`${requests}.away`, requests);
	assert.is(await remember(repository, request), true);
	await repository.restart();
	assert.is(await remember(repository, request), false);
});

test("a line that a power cut has cut off spoils no other line", async ({ repository }) => {
	const [first, cut] = [newRequest(), newRequest()];
	for (const request of [first, cut]) await remember(repository, request);
	await repository.store.close();
	const text = await readFile(logOf(repository), "utf8");
	await writeFile(logOf(repository), text.slice(0, -20));
	await repository.open();
	assert.is(await remember(repository, first), false);
	assert.is(await remember(repository, cut), true);
	await repository.restart();
	assert.is(await remember(repository, cut), false);
	assert.equal(await readdir(join(repository.folder, "requests")), ["requests.log"]);
});

test("a repeat whose first method is unknown is answered like the first", async ({ repository }) => {
	const decide = async () => ((await repository.read("k")) ? [] : [{ path: layerPath("k"), text: "1\n" }]);
	const meta = { ...metaOf("k", { time: noon }), method: "PUT" };
	const change = () => commitIdOf(repository.store.change(decide, meta));
	const commit = await change();
	// Without the log, the request is read from the commit.
	await repository.store.close();
	await rm(logOf(repository), { force: true });
	await repository.open();
	for (let starts = 0; starts < 2; starts += 1) {
		await remember(repository);
		assert.match(
			await readFile(logOf(repository), "utf8"),
			new RegExp(`^${meta.request} \\? ${commit} \\d+$`, "m"),
		);
		assert.is(await change(), commit);
		await repository.restart();
	}
});

test("a clock that goes ahead and back reopens no request, with restarts between", async ({ repository }) => {
	const [request, refused, time] = [newRequest(), newRequest(), noon];
	assert.is(await put(repository, "one", { request, time }), "stored");
	assert.is(await remember(repository, refused), true);
	for (const minutes of [-60, 10, 70, 1.5]) {
		repository.now = noon + minutes * minuteMs;
		const layer = `after ${minutes}`;
		const fresh = { request: newRequest(), time: repository.now };
		assert.is(await put(repository, layer, fresh), "stored", layer);
		assert.is(await remember(repository), true, layer);
		for (const where of [layer, `${layer} and a restart`]) {
			assert.is(await put(repository, "one", { request, time }), "refused", where);
			assert.is(await remember(repository, refused), false, where);
			await repository.restart();
		}
	}
});

test("a use is kept where the clock was ahead, and a clock that is set back is not believed", async () => {
	let [nowMs, monotonicMs] = [noon, 0];
	const used = new UsedRequests(
		() => nowMs,
		() => monotonicMs,
	);
	const use = (request: string, time: number) => used.note({ request, method: "PUT", time, outcome: 404 });
	const hourMs = 60 * minuteMs;
	use("ahead", noon + hourMs);
	use("usual", noon);
	[nowMs, monotonicMs] = [noon + 6 * minuteMs, 6 * minuteMs];
	use("later", nowMs);
	assert.equal([used.find("ahead")?.time, used.find("usual")], [noon + hourMs, undefined]);
	const unread = null as never;
	const isRefused = async (time: number, request: string | null, ...edits: Edit[]) => {
		const change = { decide: async () => edits, meta: metaOf("k", { time, request }) };
		return isRefusal(await decideChange(change, unread, null, used));
	};
	const edit = { path: layerPath("k"), text: "1\n" };
	assert.is(await isRefused(noon, "new", edit), true, "its minute is forgotten");
	assert.is(await isRefused(noon + minuteMs, "new", edit), false, "another minute");
	assert.is(await isRefused(noon, "new"), false, "no change");
	assert.is(await isRefused(noon, null, edit), false, "no signature");
});

test.run();
