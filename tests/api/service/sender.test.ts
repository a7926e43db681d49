import { chmod, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { parseSenders } from "../../../api/senders.ts";
import { followSenders, warnOfReaders } from "../../../api/service/senders-file.ts";
import { noon } from "../../helpers/local.ts";
import { type Ended, exits, runScript, warns } from "../../helpers/process.ts";
import { eventually } from "../../helpers/wait.ts";
import { freshSuite, temporaryFolder } from "../../helpers/world.ts";
import { logTo } from "../../store/git-store.ts";

interface Scene {
	folder: string;
	path: string;
}

const test = freshSuite<Scene>("npx fragment-publisher sender", async (use) => {
	const folder = use(await temporaryFolder()).path;
	return { folder, path: join(folder, "senders.json") };
});

function sender({ folder }: Scene, ...words: string[]): Promise<Ended> {
	return runScript("sender", words, { DATA_DIR: folder }, { now: () => new Date(noon) });
}

async function entries({ path }: Scene): Promise<Record<string, { key?: string }>> {
	return JSON.parse(await readFile(path, "utf8"));
}

async function filesOf(folder: string): Promise<string[]> {
	return (await readdir(folder)).filter((name) => !name.includes(".lock")).sort();
}

async function state({ folder, path }: Scene): Promise<string> {
	return JSON.stringify([await filesOf(folder), await readFile(path, "utf8").catch(() => null)]);
}

test("a sender is added, listed, shown, changed, rotated and removed", async (scene) => {
	const done = (...words: string[]) => exits(sender(scene, ...words), 0);
	const options = ["--smallkeys", "ene*", "x?", "--review", "--contact", "maps@energy.example"];
	const added = await done("add", "energy", ...options);
	const all = await done("add", "everyone", "--all-layers");
	const { energy, everyone = {} } = await entries(scene);
	const { key, ...rest } = energy as { key: string };
	assert.match(key, /^[A-Za-z0-9_-]{43}$/);
	assert.equal(rest, { smallkeys: ["ene*", "x?"], review: true, contact: "maps@energy.example" });
	assert.equal(Object.keys(everyone), ["key"]);
	assert.is((await stat(scene.path)).mode & 0o777, 0o600);

	const list = await done("list");
	assert.is(list.stdout, "energy  ene* x?, with review, maps@energy.example\neveryone  all layers\n");
	const shown = await done("show", "energy");
	assert.is(shown.stdout, "energy  ene* x?, with review, maps@energy.example\n");
	assert.is((await sender(scene, "show", "energy", "--secret")).stdout, `${key}\n`);

	const changed = await done("change", "energy", "--no-review", "--all-layers", "--name", "Energy");
	assert.equal((await entries(scene)).energy, { key, contact: "maps@energy.example", name: "Energy" });

	await done("remove", "energy");
	assert.equal(Object.keys(await entries(scene)), ["everyone"]);
	const last = await done("remove", "everyone");
	assert.is(last.stderr, "warning: it was the last sender: no one can publish\n");
	for (const { stdout, stderr } of [added, all, list, shown, changed, last])
		for (const secret of [key, everyone.key as string]) assert.not.match(stdout + stderr, secret);
});

test("a rotation keeps the secret so far for a time, or not at all", async (scene) => {
	await sender(scene, "add", "x", "--all-layers");
	const first = (await entries(scene)).x?.key;
	const kept = await sender(scene, "rotate", "x", "--keep", "7d");
	assert.match(
		kept.stdout,
		"valid until 2026-03-11T12:00:00.000Z. npx fragment-publisher sender show x --secret prints it\n",
	);
	const { key: second, ...rest } = (await entries(scene)).x as { key: string };
	assert.equal(rest, { previous_key: first, previous_key_until: "2026-03-11T12:00:00.000Z" });
	assert.is.not(second, first);
	assert.match(
		(await sender(scene, "list")).stdout,
		"x  all layers, previous secret valid until 2026-03-11T12:00:00.000Z\n",
	);
	await sender(scene, "rotate", "x");
	const { key: third, ...others } = (await entries(scene)).x as { key: string };
	assert.equal(others, {});
	assert.is.not(third, second);
});

const refusals: [words: string[], code: number, text: string][] = [
	[["add", "x", "--all-layers"], 1, "already has a sender x"],
	[["add", "y"], 2, "y: which layers may it change?"],
	[["add", "y", "--smallkeys", "ene*", "[a"], 2, "'[a' is invalid. It must be a smallkey"],
	[["change", "x", "--smallkeys", "a b"], 2, "'a b' is invalid"],
	[["add", "../x", "--all-layers"], 2, "It must be 1 to 64 of"],
	[["remove", "__proto__"], 1, "has no sender __proto__"],
	[["add", "y", "--all-layers", "--contact", "a\nb"], 2, "contact must be a text"],
	[["add", "y", "--all-layers", "--smallkeys", "a"], 2, "only one of them"],
	[["rotate", "x", "--keep", "soon"], 2, "must be a time such as 7d"],
	[["rotate", "y"], 1, "has no sender y; npx fragment-publisher sender list names them"],
	[["show", "y"], 1, "has no sender y"],
	[["ad", "y"], 2, "unknown command 'ad'\n(Did you mean add?)"],
	[[], 2, "Usage: npx fragment-publisher sender "],
];

test("what is wrong is refused with a sentence, and nothing is changed", async (scene) => {
	await sender(scene, "add", "x", "--all-layers");
	const before = await state(scene);
	for (const [words, code, text] of refusals) {
		const { stderr } = await warns(sender(scene, ...words), code, text);
		assert.not.match(stderr, /\bat .*\.ts/);
		assert.is(await state(scene), before);
	}
});

test("a change makes the senders file unreadable for others, and simultaneous changes are all kept", async (scene) => {
	await writeFile(scene.path, '{"a":"secret of a"}');
	await chmod(scene.path, 0o644);
	const ids = ["b", "c", "d", "e"];
	await Promise.all(ids.map((id) => exits(sender(scene, "add", id, "--all-layers"), 0)));
	assert.is((await stat(scene.path)).mode & 0o777, 0o600);
	const senders = parseSenders(await readFile(scene.path, "utf8"), scene.path);
	assert.equal([...senders.keys()].sort(), ["a", ...ids]);
	assert.is(senders.get("a")?.secret, "secret of a");
	assert.equal(await filesOf(scene.folder), ["senders.json"]);
});

test("the senders file applies without a restart, and is logged without a secret", async (scene) => {
	const { path } = scene;
	const first = '{"a":"secret of a","b":"secret of b"}';
	await writeFile(path, first);
	const senders = new Map(parseSenders(first, path));
	const lines: Record<string, unknown>[] = [];
	const log = { ...logTo([], lines), warn: (warning: string) => void lines.push({ warning }) };
	const { state, end } = followSenders(path, senders, log);
	try {
		await sender(scene, "add", "c", "--all-layers");
		await eventually(() => senders.has("c"));
		await sender(scene, "remove", "b");
		await eventually(() => !senders.has("b"));
		assert.equal(lines, [{ senders: ["a", "b", "c"] }, { senders: ["a", "c"] }]);
		assert.is(state(), null);
		await writeFile(path, '{"a":"sec');
		await eventually(() => lines.length === 3);
		const warning = /senders\.json: the document: must be JSON.*; the senders stay as they were/;
		assert.match(String(lines[2]?.warning), warning);
		assert.is(state(), "the senders file is not in order; the senders stay as they were");
		await rename(path, `${path}.away`);
		await eventually(() => lines.length === 4);
		assert.is(state(), "the senders file cannot be read: ENOENT; the senders stay as they were");
		assert.equal([...senders.keys()].sort(), ["a", "c"]);
		await writeFile(path, '{"d":"secret of d"}');
		await eventually(() => senders.has("d") && senders.size === 1);
		assert.is(state(), null);
		assert.not.match(JSON.stringify(lines), "secret of");
	} finally {
		end();
	}
});

test("a senders file that other users may read has a warning, with its mode", async ({ path }) => {
	await writeFile(path, "{}");
	await chmod(path, 0o644);
	const advice = `has mode 0644, so that other users may read the secrets: chmod 600 ${path}`;
	assert.is(warnOfReaders(path), `${path}: ${advice}`);
	await chmod(path, 0o600);
	assert.is(warnOfReaders(path), null);
	assert.is(warnOfReaders("SENDERS"), null);
});

test.run();
