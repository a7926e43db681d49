import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { StoreBusy } from "../../store/store.ts";
import { noon } from "../helpers/local.ts";
import { freshSuite, temporaryFolder } from "../helpers/world.ts";
import { committed, git, logTo, openEmpty, put } from "./git-store.ts";

const run = promisify(execFile);

const test = freshSuite("refs that others bring", async (use) => {
	const folder = use(await temporaryFolder()).path;
	const reported: unknown[] = [];
	return { folder, store: use(await openEmpty(folder, { log: logTo(reported) })), reported };
});

/** Pushes from a fresh clone; what git says where it is refused, or null. */
async function push(folder: string, refspec: string): Promise<string | null> {
	const clone = join(folder, "clone");
	await run("git", ["clone", "-q", join(folder, "repository.git"), clone]).catch(() => undefined);
	return run("git", ["-C", clone, "push", "-q", "origin", refspec]).then(
		() => null,
		(error: { stderr: string }) => error.stderr,
	);
}

for (const ref of [
	"refs/replace/1",
	"refs/tags/main",
	"refs/notes/commits",
	"refs/anything",
	"refs/heads2/a",
]) {
	test(`${ref} cannot be pushed`, async ({ folder, store }) => {
		await committed(put(store, "one"));
		assert.match((await push(folder, `HEAD:${ref}`)) ?? "", /hidden ref|remote rejected/);
		assert.is(await git(folder, "for-each-ref", "--format=%(refname)"), "refs/heads/main");
		assert.is(await push(folder, "HEAD:refs/heads/topic"), null, "a branch can");
	});
}

test("a replacement that is there all the same changes nothing", async ({ folder, store }) => {
	const first = await committed(put(store, "one"));
	const second = await committed(put(store, "two"));
	// A reader of the second commit would read the first in its place, without the layer two.
	await git(folder, "update-ref", `refs/replace/${second}`, first);
	await committed(put(store, "three"));
	for (const smallkey of ["one", "two", "three"]) assert.ok(await store.read(smallkey), smallkey);
	const names = await git(folder, "ls-tree", "-r", "--name-only", "refs/heads/main");
	assert.match(names, "layers/tw/two.json");
});

test("a tag with the branch's name hides nothing", async ({ folder, store }) => {
	const first = await committed(put(store, "one"));
	await git(folder, "tag", "main", first);
	const second = await committed(put(store, "two"));
	assert.is(await git(folder, "rev-parse", "refs/heads/main"), second);
	await store.close();
	await using reopened = await openEmpty(folder);
	assert.is(reopened.tip, second);
	assert.ok(await reopened.read("two"));
});

test("a broken ref on another branch stops neither the start nor a PUT", async ({ folder, store }) => {
	await committed(put(store, "one"));
	await store.close();
	for (const name of ["refs/heads/empty", "refs/heads/register/broken", "refs/heads/nowhere"]) {
		const path = join(folder, "repository.git", name);
		await mkdir(dirname(path), { recursive: true });
		await writeFile(path, name.endsWith("nowhere") ? `${"1".repeat(40)}\n` : "");
	}
	await using reopened = await openEmpty(folder);
	await committed(put(reopened, "two"));
	assert.ok(await reopened.read("two"));
});

for (const branch of ["register", "register/one/x"]) {
	test(`a branch ${branch} in the way of a review is named`, async ({ folder, store, reported }) => {
		await committed(put(store, "two"));
		await git(folder, "update-ref", `refs/heads/${branch}`, store.tip);
		const error = await put(store, "one", "limits", { review: true }).then(
			() => null,
			(error: unknown) => error,
		);
		assert.instance(error, StoreBusy);
		assert.match(String(error), `the branch ${branch} is in the way of register/one`);
		assert.ok(
			reported.some((error) => String(error).includes(`the branch ${branch} is in the way`)),
			"the log says it",
		);
		await git(folder, "update-ref", "-d", `refs/heads/${branch}`);
		assert.ok(await committed(put(store, "one", "limits", { review: true })), "once it is gone");
	});
}

for (const committer of ["Ada", "fragment-publisher"]) {
	const isOwn = committer === "fragment-publisher";
	test(`after a crash a trailer of ${committer} ${isOwn ? "counts" : "counts for nothing"}`, async (scene) => {
		const { folder, store } = scene;
		const base = await committed(put(store, "one"));
		await store.close();
		const request = "ab".repeat(32);
		// As a process leaves it that ended before it knew whether its change had landed.
		const intent = `${request} PUT ?${base} ${noon} ${noon}\n`;
		await writeFile(join(folder, "requests", "000099.log"), intent);
		const env = {
			...process.env,
			GIT_AUTHOR_NAME: "jstest",
			GIT_AUTHOR_EMAIL: "jstest@sender.invalid",
			GIT_COMMITTER_NAME: committer,
			GIT_COMMITTER_EMAIL: `${committer}@sender.invalid`,
		};
		const message = `update one\n\nSender: jstest\nRequest: ${request}`;
		const repository = join(folder, "repository.git");
		const words = ["-C", repository, "commit-tree", `${base}^{tree}`, "-p", base, "-m", message];
		const { stdout } = await run("git", words, { env });
		await git(folder, "update-ref", "refs/heads/main", stdout.trim());
		await using restarted = await openEmpty(folder, { now: () => new Date(noon) });
		const outcome = await put(restarted, "one", "other", { request, method: "PUT", time: noon });
		assert.is("errors" in outcome, isOwn, JSON.stringify(outcome));
	});
}

test.run();
