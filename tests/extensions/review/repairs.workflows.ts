import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { test } from "../../helpers/suite.ts";
import { commands, Origin, runJob } from "./origin.ts";
import { wmsFile } from "./repository.ts";

const origin = new Origin({ "layers/mo/moved.json": wmsFile("before") });
test.after(() => origin.remove());

const picture = "RIFF of a picture";
const message = "repair moved\n\nRepairs: moved\nEvidence: 0123456789abcdef\n";

/** Git in a checkout; what it prints stays as it is: it may be a patch. */
function gitOf(cwd: string) {
	return (...words: string[]) => execFileSync("git", ["-C", cwd, ...words], { encoding: "utf8" });
}

/** A checkout with what the job that asks the services hands over: the change of one layer, and more that it must not bring. */
function found(change: Record<string, string>): string {
	const cwd = origin.checkout();
	const git = gitOf(cwd);
	for (const [path, text] of Object.entries(change)) writeFileSync(join(cwd, path), text);
	git("add", "--intent-to-add", "--", ...Object.keys(change));
	const patch = git("diff", "--binary", "--", ...Object.keys(change));
	git("reset", "-q", "--hard");
	const folder = join(cwd, "found/repair/moved");
	mkdirSync(folder, { recursive: true });
	const files = { "repair.patch": patch, "message.txt": `${message}Sender: jstest\n` };
	for (const [name, text] of Object.entries({ ...files, "text.md": "The table\n" }))
		writeFileSync(join(folder, name), text);
	return cwd;
}

/** What the job that judges does for repairs, and the job that proposes them. */
const judgeAndPropose = () => [...commands("refresh", "judge").slice(0, 1), ...commands("refresh", "repair")];

/** Runs the jobs that judge and propose repairs; what gh was called with. */
async function propose(cwd: string, open = 0): Promise<string[]> {
	const { env, calls } = origin.gh(cwd, open);
	const ended = await runJob(cwd, judgeAndPropose(), env);
	assert.is(ended.status, 0, ended.output);
	return calls().filter((call) => !call.startsWith("auth ") && !call.startsWith("pr list "));
}

test("a repair is a commit on its own branch and a pull request; only layers come with it", async () => {
	const main = origin.git("rev-parse", "main");
	const change = {
		"layers/mo/moved.json": wmsFile("after"),
		"layers/health.json": "{}",
		"README.md": "mine\n",
	};
	assert.equal(await propose(found(change)), [
		"pr create --head repair/moved --base main --title repair moved --body-file found/repair/moved/text.md",
	]);
	assert.is(origin.git("rev-parse", "main"), main, "main is not written");
	assert.is(origin.git("rev-parse", "repair/moved~1"), main);
	assert.is(origin.git("diff", "--name-only", "main", "repair/moved"), "layers/mo/moved.json");
	assert.match(origin.file("layers/mo/moved.json", "repair/moved") ?? "", "after");
	assert.is(
		origin.git("log", "-1", "--format=%B", "repair/moved"),
		message.trim(),
		"later runs read it, and no other trailer comes",
	);
});

for (const [what, path] of [
	["a file outside of the layers", "SECURITY.md"],
	["the owners", "layers/owners.json"],
	["another layer", "layers/to/toporama.json"],
] as const)
	test(`a repair whose patch renames ${what} is neither pushed nor proposed`, async () => {
		const before = origin.git("for-each-ref");
		const cwd = found({ "layers/mo/moved.json": wmsFile("after") });
		const git = gitOf(cwd);
		git("mv", path, "layers/mo/renamed.json");
		const patch = git("diff", "--cached", "-M100%", "--binary");
		assert.match(patch, `rename from ${path}`);
		git("reset", "-q", "--hard");
		writeFileSync(join(cwd, "found/repair/moved/repair.patch"), patch);
		assert.equal(await propose(cwd), []);
		assert.is(origin.git("for-each-ref"), before);
	});

test("when several new addresses agree equally, the pull request shows them and changes no layer", async () => {
	const cwd = found({ "layers/mo/moved.json": wmsFile("after") });
	writeFileSync(join(cwd, "found/repair/moved/repair.patch"), "");
	assert.is((await propose(cwd)).length, 1);
	assert.is(origin.git("diff", "main", "repair/moved"), "");
	assert.is(origin.git("rev-list", "--count", "main..repair/moved"), "1");
	origin.git("update-ref", "-d", "refs/heads/repair/moved");
});

test("a repair that the review refuses is neither pushed nor proposed", async () => {
	const before = origin.git("for-each-ref");
	assert.equal(await propose(found({ "layers/mo/moved.json": '{"version":"1.1.0"}\n' })), []);
	assert.is(origin.git("for-each-ref"), before);
});

test("a repair that waits is updated, and no second pull request is opened", async () => {
	await propose(found({ "layers/mo/moved.json": wmsFile("after") }));
	const before = origin.git("rev-parse", "repair/moved");
	const change = { "layers/mo/moved.json": wmsFile("later") };
	assert.equal(await propose(found(change), 1), [
		"pr edit repair/moved --title repair moved --body-file found/repair/moved/text.md",
	]);
	assert.is.not(origin.git("rev-parse", "repair/moved"), before);
});

test("with 20 pull requests open no further one is opened or pushed; a waiting one is still updated", async () => {
	origin.git("update-ref", "-d", "refs/heads/repair/moved");
	const cwd = found({ "layers/mo/moved.json": wmsFile("after") });
	// Of the branch itself none is open.
	const { env, calls } = origin.gh(cwd, 20);
	const gh = join(cwd, ".git/bin/gh");
	const answer = readFileSync(gh, "utf8").replace('"pr list"*)', '"pr list --head"*) echo 0 ;; "pr list"*)');
	writeFileSync(gh, answer);
	assert.is((await runJob(cwd, judgeAndPropose(), env)).status, 0);
	assert.not(calls().some((call) => call.startsWith("pr create") || call.startsWith("pr edit")));
	assert.is(origin.git("for-each-ref", "refs/heads/repair"), "", "and nothing was pushed");
	writeFileSync(gh, answer.replace("echo 20", "echo 19"));
	assert.is(
		(await runJob(found({ "layers/mo/moved.json": wmsFile("after") }), judgeAndPropose(), env)).status,
		0,
	);
	assert.is(calls().filter((call) => call.startsWith("pr create")).length, 1);
});

test("an outdated repair is closed under another title, so that it does not count as declined", async () => {
	const cwd = origin.checkout();
	mkdirSync(join(cwd, "found"));
	writeFileSync(join(cwd, "found/withdrawn.txt"), "repair/moved\nmain\nrepair/a b; rm -rf x\n");
	assert.equal(await propose(cwd, 1), [
		"pr edit repair/moved --title withdrawn: repair/moved",
		"pr close repair/moved --delete-branch --comment The layer is well again. · La couche fonctionne de nouveau.",
	]);
	assert.equal(await propose(cwd, 0), [], "it was closed meanwhile");
});

test("pictures of proposals are stored beside the others, and only pictures are stored with them", async () => {
	const cwd = origin.checkout();
	mkdirSync(join(cwd, "found/proposed/mo"), { recursive: true });
	const files = { "mo/moved.webp": picture, "mo/large.webp": "x".repeat(20_000), "mo/page.html": "<script>" };
	for (const [name, text] of Object.entries({ ...files, "proofs.json": "{}" }))
		writeFileSync(join(cwd, "found/proposed", name), text);
	symlinkSync("/etc/passwd", join(cwd, "found/proposed/mo/link.webp"));
	await propose(cwd);
	const listed = origin.git("ls-tree", "-r", "--name-only", "pictures");
	assert.equal(listed.split("\n"), ["proposed/mo/moved.webp", "proposed/proofs.json"]);
	assert.is(origin.git("rev-list", "--count", "pictures"), "1", "the branch has no history");
});

test("pictures are one commit on a branch without history, and the publication takes them over", async () => {
	for (const round of ["first", "second"]) {
		const cwd = origin.checkout();
		mkdirSync(join(cwd, "pictures/mo"), { recursive: true });
		writeFileSync(join(cwd, "pictures/mo/moved.0.webp"), `${picture} ${round}`);
		for (const name of ["mo/large.webp", "mo/page.html", "index.html", ".git-hooks"])
			writeFileSync(join(cwd, "pictures", name), "x".repeat(20_000));
		const ended = await runJob(cwd, commands("prove", "keep"), origin.gh(cwd).env);
		assert.is(ended.status, 0, ended.output);
		assert.is(origin.git("rev-list", "--count", "pictures"), "1", "the branch has no history");
		assert.is(origin.git("ls-tree", "-r", "--name-only", "pictures"), "mo/moved.0.webp", "and no layers");
	}
	const cwd = origin.checkout();
	const taken = await runJob(cwd, commands("publish", "pictures"), {});
	assert.is(taken.status, 0, taken.output);
	assert.is(readFileSync(join(cwd, "pictures/mo/moved.0.webp"), "utf8"), `${picture} second`);
});

test("a publication without pictures succeeds, and copies none", async () => {
	origin.git("update-ref", "-d", "refs/heads/pictures");
	const cwd = origin.checkout();
	assert.is((await runJob(cwd, commands("publish", "pictures"), {})).status, 0);
	assert.not.ok(existsSync(join(cwd, "pictures/mo")));
});

test.run();
