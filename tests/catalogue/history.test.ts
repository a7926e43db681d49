import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { lastChanges, readHistory } from "../../catalogue/history.ts";
import { runGit } from "../../system/git/run.ts";
import { temporaryFolder } from "../local.ts";

interface Context {
	folder: string;
	remove: () => Promise<void>;
}

const history = suite<Context>("history");

history.before.each(async (context) => {
	const { path, remove } = await temporaryFolder();
	context.folder = path;
	context.remove = remove;
	await git(path, "init", "-q", "-b", "main");
	await git(path, "config", "user.name", "Test");
	await git(path, "config", "user.email", "test@example.ca");
});

history.after.each(({ remove }) => remove());

async function git(folder: string, ...args: string[]): Promise<string> {
	return (await runGit(folder, args)).toString("utf8").trim();
}

/** Commits files, null for one that goes; the commit's id. */
async function commit(folder: string, files: Record<string, string | null>): Promise<string> {
	for (const [path, text] of Object.entries(files)) {
		const target = join(folder, path);
		await mkdir(dirname(target), { recursive: true });
		if (text === null) await rm(target);
		else await writeFile(target, text);
	}
	await git(folder, "add", "-A");
	await git(folder, "-c", "core.fsync=none", "commit", "-q", "-m", "change");
	return git(folder, "rev-parse", "HEAD");
}

history("names what each commit did to layers, and leaves out what touches none", async ({ folder }) => {
	const first = await commit(folder, { "layers/ab/abc.json": "1", "layers/ab/abd.json": "1", README: "1" });
	await commit(folder, { README: "2", "layers/owners.json": "{}" });
	const second = await commit(folder, { "layers/ab/abc.json": "2", "layers/ab/abc.service.json": "1" });
	const third = await commit(folder, { "layers/ab/abc.service.json": "2", "layers/ab/abd.json": null });
	const found = await readHistory(folder, null, "main");
	assert.equal(
		found?.map(({ commit, layers }) => [
			commit,
			...layers.map(({ smallkey, kind }) => `${smallkey} ${kind}`),
		]),
		[
			[first, "abc added", "abd added"],
			[second, "abc changed"],
			[third, "abc changed", "abd removed"],
		],
	);
	const date = new Date(await git(folder, "log", "-1", "--format=%cI", third)).toISOString();
	assert.is(found?.[2]?.date, date.replace(".000", ""));
	assert.is(lastChanges(found ?? []).get("abc")?.changed?.commit, third);
	assert.equal(await readHistory(folder, second, "main"), found?.slice(2));
});

history("a merge is one commit of the branch, with all that it brings", async ({ folder }) => {
	await commit(folder, { "layers/ab/abc.json": "1" });
	await git(folder, "checkout", "-q", "-b", "other");
	await commit(folder, { "layers/ab/abd.json": "1" });
	await commit(folder, { "layers/ab/abe.json": "1" });
	await git(folder, "checkout", "-q", "main");
	await commit(folder, { "layers/ab/abc.json": "2" });
	await git(folder, "merge", "-q", "--no-ff", "-m", "merge", "other");
	const found = await readHistory(folder, null, "main");
	assert.equal(
		found?.map(({ layers }) => layers.map(({ smallkey }) => smallkey)),
		[["abc"], ["abc"], ["abd", "abe"]],
	);
});

history(
	"a sender is named by the service's own commits alone, whatever encoding another has",
	async ({ folder }) => {
		const person = (name: string, mail: string) => ["-c", `user.name=${name}`, "-c", `user.email=${mail}`];
		const commits: [words: string[], sender: string | null][] = [
			[person("fragment-publisher", "fragment-publisher@sender.invalid"), "jstest"],
			[person("Eve", "eve@example.org"), null],
			[
				[
					...person("fragment\x1b(B-publisher", "fragment\x1b(B-publisher@sender.invalid"),
					...["-c", "i18n.commitEncoding=ISO-2022-JP"],
				],
				null,
			],
		];
		for (const [index, [words]] of commits.entries()) {
			await mkdir(join(folder, "layers/ab"), { recursive: true });
			await writeFile(join(folder, "layers/ab/abc.json"), String(index));
			await git(folder, "add", "-A");
			await git(folder, ...words, "commit", "-q", "-m", "register abc", "-m", "Sender: jstest");
		}
		assert.equal(
			(await readHistory(folder, null, "main"))?.map(({ sender }) => sender),
			commits.map(([, sender]) => sender),
		);
	},
);

history("a commit with a time that no date has is dated 1970", async ({ folder }) => {
	const first = await commit(folder, { "layers/ab/abc.json": "1" });
	const tree = await git(folder, "rev-parse", "HEAD^{tree}");
	const eve = "Eve <eve@example.org> 99999999999999999 +0000";
	const input = `tree ${tree}\nauthor ${eve}\ncommitter ${eve}\n\nlate\n`;
	const words = ["hash-object", "-t", "commit", "-w", "--stdin", "--literally"];
	const late = (await runGit(folder, words, { input })).toString("latin1").trim();
	assert.not.equal(late, first);
	assert.equal(
		(await readHistory(folder, null, late))?.map(({ date }) => date),
		["1970-01-01T00:00:00Z"],
	);
});

history("is not read from a shallow clone, and not from a commit that is no ancestor", async ({ folder }) => {
	await commit(folder, { "layers/ab/abc.json": "1" });
	await commit(folder, { "layers/ab/abc.json": "2" });
	const clone = join(folder, "clone");
	await git(folder, "clone", "-q", "--depth", "1", `file://${folder}`, clone);
	assert.is(await readHistory(clone, null, "main"), null);
	await git(folder, "checkout", "-q", "-b", "other", "HEAD^");
	const other = await commit(folder, { "layers/ab/abc.json": "3" });
	assert.is(await readHistory(folder, other, "main"), null);
});

history.run();
