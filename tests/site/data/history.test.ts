import { join } from "node:path";
import * as assert from "uvu/assert";
import { addLastChanges, readHistory } from "../../../site/data/history.ts";
import { runGit } from "../../../store/git/commands/run.ts";
import { type Files, freshSuite, gitIn, temporaryFolder, writeFiles } from "../../helpers/world.ts";

const test = freshSuite("history", async (use) => {
	const { path } = use(await temporaryFolder());
	const git = gitIn(path);
	await git("init", "-q", "-b", "main");
	const commit = async (files: Files, ...who: string[]) => {
		writeFiles(path, files);
		await git("add", "-A");
		await git(...who, "commit", "-q", "-m", "change", "-m", "Sender: jstest");
		return git("rev-parse", "HEAD");
	};
	return { folder: path, git, commit };
});

test("names what each commit did to layers, if anything", async ({ folder, git, commit }) => {
	const first = await commit({ "layers/ab/abc.json": "1", "layers/ab/abd.json": "1", README: "1" });
	await commit({ README: "2", "layers/owners.json": "{}" });
	const second = await commit({ "layers/ab/abc.json": "2", "layers/ab/abc.service.json": "1" });
	const third = await commit({ "layers/ab/abc.service.json": "2", "layers/ab/abd.json": null });
	const { commits } = (await readHistory(folder, "main")) ?? { commits: [] };
	assert.equal(
		commits.map(({ commit, layers }) => [
			commit,
			...layers.map(({ smallkey, kind }) => `${smallkey} ${kind}`),
		]),
		[
			[first, "abc added", "abd added"],
			[second, "abc changed"],
			[third, "abc changed", "abd removed"],
		],
	);
	const date = new Date(await git("log", "-1", "--format=%cI", third)).toISOString();
	assert.is(commits[2]?.date, date.replace(".000", ""));
	const last: Parameters<typeof addLastChanges>[0] = new Map();
	addLastChanges(last, commits);
	assert.is(last.get("abc")?.changed?.commit, third.slice(0, 12));
});

test("a merge is one commit of the branch, with all that it brings", async ({ folder, git, commit }) => {
	await commit({ "layers/ab/abc.json": "1" });
	await git("checkout", "-q", "-b", "other");
	await commit({ "layers/ab/abd.json": "1" });
	await commit({ "layers/ab/abe.json": "1" });
	await git("checkout", "-q", "main");
	await commit({ "layers/ab/abc.json": "2" });
	await git("merge", "-q", "--no-ff", "-m", "merge", "other");
	const { commits } = (await readHistory(folder, "main")) ?? { commits: [] };
	const listed = commits.map(({ layers }) => layers.map(({ smallkey }) => smallkey));
	assert.equal(listed, [["abc"], ["abc"], ["abd", "abe"]]);
});

test("only the service's own commits name a sender", async ({ folder, commit }) => {
	const person = (name: string, mail: string) => ["-c", `user.name=${name}`, "-c", `user.email=${mail}`];
	const escaped = "fragment\x1b(B-publisher";
	const encoding = ["-c", "i18n.commitEncoding=ISO-2022-JP"];
	const commits: [words: string[], sender: string | null][] = [
		[person("fragment-publisher", "fragment-publisher@sender.invalid"), "jstest"],
		[person("Eve", "eve@example.org"), null],
		[[...person(escaped, `${escaped}@sender.invalid`), ...encoding], null],
	];
	for (const [index, [words]] of commits.entries())
		await commit({ "layers/ab/abc.json": String(index) }, ...words);
	assert.equal(
		(await readHistory(folder, "main"))?.commits.map(({ sender }) => sender),
		commits.map(([, sender]) => sender),
	);
});

test("a commit is dated between its parent and now", async ({ folder, commit }) => {
	const now = Date.UTC(2026, 2, 4, 12);
	const times = [
		["2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"],
		["2001-01-01T00:00:00Z", "2026-03-01T00:00:00Z"],
		["2002-01-01T00:00:00Z", "2026-03-01T00:00:00Z"],
		["2099-01-01T00:00:00Z", "2026-03-01T00:00:00Z"],
		["2026-03-02T00:00:00Z", "2026-03-02T00:00:00Z"],
		["2026-03-04T13:00:00Z", "2026-03-04T12:00:00Z"],
	];
	for (const [at = ""] of times) {
		await commit({ "layers/ab/abc.json": at });
		const words = ["-c", "user.name=Ada", "-c", "user.email=ada@tests.example", "commit", "-q", "--amend"];
		await runGit(folder, [...words, "--no-edit"], { environment: { GIT_COMMITTER_DATE: at } });
	}
	const dated = times.map(([, shown]) => shown);
	const { commits } = (await readHistory(folder, "main", 0, now)) ?? { commits: [] };
	assert.equal(
		commits.map(({ date }) => date),
		dated,
	);
});

test("is not read from a shallow clone", async ({ folder, git, commit }) => {
	await commit({ "layers/ab/abc.json": "1" });
	await commit({ "layers/ab/abc.json": "2" });
	const clone = join(folder, "clone");
	await git("clone", "-q", "--depth", "1", `file://${folder}`, clone);
	assert.is(await readHistory(clone, "main"), null);
});

test.run();
