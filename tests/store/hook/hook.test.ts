import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { problemLine } from "../../../registry/judge.ts";
import { seed } from "../../../service/open-store.ts";
import { judgeCommits } from "../../../store/hook/changed-files.ts";
import { installHook } from "../../../store/hook/install.ts";
import { runGit } from "../../../system/git/run.ts";
import { Local, unguarded, wms } from "../../helpers/local.ts";
import { root } from "../../helpers/process.ts";
import { eventually } from "../../helpers/wait.ts";
import { freshSuite, Repository, sharedSuite, temporaryFolder } from "../../helpers/world.ts";
import { Pusher } from "./pusher.ts";

const hookOf = (local: Local, name = "pre-receive") => join(local.repository, "hooks", name);

const test = sharedSuite("the repository's hook", async (use) => {
	// A name that a write refuses now, and that is stored all the same.
	const stored = wms("one").replace('"layer"', '"service_name":"<b>Rivers","layer"');
	const files = { "layers/on/one.json": stored, "layers/wr/wrong.json": "{" };
	const local = use(await Local.open({ files, guard: installHook }));
	return { local, pusher: use(await Pusher.of(local.repository)) };
});
test.before.each(async ({ pusher }) => pusher.pull());

/** The line of the log that a push leaves. */
async function logged(local: Local, to: string) {
	const find = () =>
		local.log
			.map((fields) => ("push" in fields ? (fields.push as Record<string, unknown>) : null))
			.find((push) => push?.to === to);
	await eventually(() => find() !== undefined);
	return find() as Record<string, unknown>;
}

test("a push in order is served, says so, and leaves a line in the log", async ({ local, pusher }) => {
	const from = local.store.tip;
	await pusher.clone.commit({ "layers/tw/two.json": wms("two"), "layers/tw/twelve.json": wms("twelve") });
	const first = await pusher.clone.git("rev-parse", "HEAD");
	const env = { GIT_AUTHOR_NAME: "Ada\u001b[31m", GIT_AUTHOR_EMAIL: "ada@example.org" };
	const to = await pusher.commitTree("HEAD^{tree}", ["HEAD"], "more", env);
	const { isAccepted, screen } = await pusher.push();
	assert.ok(isAccepted, screen);
	assert.match(screen, "2 changed files of layers: in order");
	const people = [
		"Ada\\u001b[31m <ada@example.org>",
		"Ada <ada@example.org>",
		"Reviewer <reviewer@example.org>",
	];
	assert.equal(await logged(local, to), { from, to, commits: 2, newest: [to, first], people, layers: 2 });
	assert.is(local.get("/v0.9/doc/en/two").status, 200);
	assert.is(local.log.filter((fields) => "push" in fields).length, 1);
	await local.put("own");
	assert.is(local.log.filter((fields) => "push" in fields).length, 1, "a PUT leaves none");
	await local.restart();
	assert.is(local.log.filter((fields) => "push" in fields).length, 1, "nor does a restart");
});

test("what is pushed while the service is away has its line at the next start", async (world) => {
	const { local, pusher } = world;
	await local.stop();
	await pusher.clone.commit({ "layers/aw/away.json": wms("away") });
	const to = await pusher.clone.git("rev-parse", "HEAD");
	const { isAccepted, screen } = await pusher.push();
	assert.ok(isAccepted, screen);
	await local.start();
	const { commits, layers } = await logged(local, to);
	assert.equal([commits, layers], [1, 1]);
	assert.is(local.get("/v0.9/doc/en/away").status, 200);
});

test("what is odd is said, and accepted", async ({ pusher }) => {
	const whole = wms("odd").replaceAll(
		"http://wms.ess-ws.nrcan.gc.ca/wms/toporama_en",
		"http://localhost/wms",
	);
	await pusher.clone.commit({ "layers/od/odd.json": whole, "stray.json": "{}" });
	const { isAccepted, screen } = await pusher.push();
	assert.ok(isAccepted, screen);
	assert.match(screen, "warning: layers/od/odd.json: /en/service_url: ");
	assert.match(screen, "warning: stray.json: is kept, but no layer");
});

test("a first push moves a catalogue: its smallkeys count as registered, and what is wrong among them is refused", async () => {
	using repository = new Repository({
		"layers/ab/ABC.json": wms("a"),
		"layers/ab/abc.json": wms("b"),
		"layers/al/alone.service.json": "{}",
	});
	const { problems } = await judgeCommits(repository.path, null, repository.head);
	assert.equal(problems.map(problemLine), [
		"layers/ab/abc.json: smallkey: abc differs only in case from ABC, which is registered",
		"layers/al/alone.service.json: describes a layer that is not at layers/al/alone.json",
		"layers/al/alone.service.json: must be a service description, as npx fragment-publisher harvest writes it",
	]);
});

test("only what is changed is judged, by the rules of what is written", async ({ local, pusher }) => {
	await pusher.clone.commit({ "layers/on/only.json": wms("only") });
	const beside = await pusher.push();
	assert.ok(beside.isAccepted, beside.screen);
	const before = await local.git("rev-parse", "refs/heads/main");
	const text = await readFile(join(pusher.clone.path, "layers/on/one.json"), "utf8");
	await pusher.clone.commit({ "layers/on/one.json": `${text}\n` });
	const { isAccepted, screen } = await pusher.push();
	assert.is(isAccepted, false);
	assert.match(screen, "layers/on/one.json: /en/service_name: must not hold < before a letter");
	assert.is(await local.git("rev-parse", "refs/heads/main"), before);
});

test("what a PUT refuses is refused in the same words", async ({ local, pusher }) => {
	const folder = join(root, "tests/fixtures/invalid");
	const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
	// Half of them: fifty problems are shown at once.
	const some = names.filter((_, index) => index % 2 === 0);
	const files: Record<string, string> = {};
	const expected: string[] = [];
	for (const name of some) {
		const text = await readFile(join(folder, name), "utf8");
		const smallkey = name.replace(".json", "").replaceAll(".", "-");
		const path = `layers/${smallkey.slice(0, 2)}/${smallkey}.json`;
		files[path] = text;
		const answer = await local.put(smallkey, text);
		assert.is(answer.status, 400, name);
		const { errors } = (await answer.json()) as { errors: string[] };
		expected.push(...errors.map((error) => `remote: ${path}: ${error}`));
	}
	await pusher.clone.commit(files);
	const { isAccepted, screen } = await pusher.push();
	assert.is(isAccepted, false);
	const lines = screen.split("\n").map((line) => line.trimEnd());
	const said = lines.filter((line) => line.startsWith("remote: layers/"));
	assert.ok(said.length > 15);
	assert.equal(said.sort(), expected.sort());
});

test("of thousands of problems the first are shown, and the others counted", async ({ pusher }) => {
	const files = Array.from({ length: 300 }, (_, index) => [`layers/ma/many-${index}.json`, "{}"]);
	await pusher.clone.commit(Object.fromEntries(files));
	const { isAccepted, screen } = await pusher.push();
	assert.is(isAccepted, false);
	assert.match(screen, /and \d+ more, in 300 files in all/);
	assert.ok(screen.split("\n").length < 70, screen);
});

test("a pack over the bound is refused while it comes in", async ({ local, pusher }) => {
	const bound = await local.git("config", "receive.maxInputSize");
	await local.git("config", "receive.maxInputSize", "100");
	await pusher.clone.commit({ "layers/la/large.json": wms("large") });
	const { isAccepted, screen } = await pusher.push("HEAD:refs/heads/large");
	await local.git("config", "receive.maxInputSize", bound);
	assert.is(isAccepted, false);
	assert.match(screen, "maximum allowed size");
});

test("what a removed layer leaves behind can go with it", async ({ pusher }) => {
	await pusher.clone.commit({ "layers/wr/wrong.json": null });
	const { isAccepted, screen } = await pusher.push();
	assert.ok(isAccepted, screen);
});

test("a hook of one's own runs after the service's", async ({ local, pusher }) => {
	const own = hookOf(local, "pre-receive.local");
	await writeFile(own, '#!/bin/sh\nread from to ref\necho "own: $ref"\nexit 1\n', { mode: 0o755 });
	await pusher.clone.commit({ "layers/lo/local.json": wms("local") });
	const pushed = await pusher.push();
	await rm(own);
	assert.is(pushed.isAccepted, false);
	assert.match(pushed.screen, "own: refs/heads/main");
	assert.match(pushed.screen, "in order");
});

test("the processes of a hook have a limit of memory, as those of git have", async ({ local, pusher }) => {
	const own = hookOf(local, "pre-receive.local");
	await writeFile(own, '#!/bin/sh\necho "KiB: $(ulimit -d)."\nexit 1\n', { mode: 0o755 });
	await pusher.clone.commit({ "layers/li/limit.json": wms("limit") });
	const { screen } = await pusher.push();
	await rm(own);
	const [, limit] = /KiB: (\d+)\./.exec(screen) ?? [];
	assert.ok(Number(limit) <= 2 * 2 ** 20, screen);
	assert.is(
		(await runGit(local.repository, ["-c", "alias.v=!echo $GIT_ALLOC_LIMIT", "v"])).toString(),
		"1g\n",
	);
});

test("a hook that cannot run refuses every push, with the way out", async ({ local, pusher }) => {
	const hook = await readFile(hookOf(local), "utf8");
	const nowhere = hook.replace(/^own=.*$/m, "own='/no/node/here'\nPATH=/nowhere:/bin-without-node");
	await pusher.clone.commit({ "layers/no/node.json": wms("node") });
	for (const [text, words] of [
		[nowhere, "there is no Node at /no/node/here, and none in the PATH"],
		[hook.replace("fragment-publisher.mjs", "gone.mjs").replace("-le 1", "-le 0"), "ended with code 1"],
	] as const) {
		await writeFile(hookOf(local), text);
		const { isAccepted, screen } = await pusher.push();
		assert.is(isAccepted, false, screen);
		assert.match(screen, words);
		assert.match(screen, "Operator of the service");
	}
	await writeFile(hookOf(local), hook);
	assert.ok((await pusher.push()).isAccepted);
});

test.run();

const install = freshSuite("putting it in place", async (use) => {
	const warnings: string[] = [];
	return { folder: use(await temporaryFolder()).path, warnings };
});

install("another hook is kept, and runs after it", async ({ folder, warnings }) => {
	const hooks = join(folder, "hooks");
	await mkdir(hooks);
	await writeFile(join(hooks, "pre-receive"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
	assert.ok(await installHook(folder, (text) => warnings.push(text)));
	assert.is(await readFile(join(hooks, "pre-receive.local"), "utf8"), "#!/bin/sh\nexit 1\n");
	assert.match(warnings.join(), "it is called pre-receive.local now, and runs after the service's own");
	await writeFile(join(hooks, "pre-receive"), "another");
	await installHook(folder, (text) => warnings.push(text));
	assert.is(await readFile(join(hooks, "pre-receive.local-2"), "utf8"), "another");
	assert.is(await readFile(join(hooks, "pre-receive.local"), "utf8"), "#!/bin/sh\nexit 1\n");
	assert.match(String(warnings[1]), "pre-receive.local-2 now, and does not run");
});

install("what is as it should be is not written again, and what is not is corrected", async ({ folder }) => {
	const paths = ["pre-receive", "fragment-publisher.mjs"].map((name) => join(folder, "hooks", name));
	const inodes = () => Promise.all(paths.map(async (path) => (await stat(path)).ino));
	const warn = (text: string) => assert.unreachable(text);
	await installHook(folder, warn, "/opt/it's/node");
	assert.match(await readFile(paths[0] as string, "utf8"), "own='/opt/it'\\''s/node'");
	const before = await inodes();
	await installHook(folder, warn, "/opt/it's/node");
	assert.equal(await inodes(), before);
	const texts = await Promise.all(paths.map((path) => readFile(path, "utf8")));
	await writeFile(paths[0] as string, `${texts[0]}exit 0\n`);
	await writeFile(paths[1] as string, "// an older one\n");
	await installHook(folder, warn, "/opt/it's/node");
	assert.equal(await Promise.all(paths.map((path) => readFile(path, "utf8"))), texts);
});

install("where it cannot be written the one before stays, and that is said", async ({ folder, warnings }) => {
	const warn = (text: string) => warnings.push(text);
	const inTheWay = join(folder, `hooks/pre-receive.${process.pid}.tmp`);
	await mkdir(inTheWay, { recursive: true });
	assert.is(await installHook(folder, warn), false, "there is none");
	await rm(inTheWay, { recursive: true });
	assert.ok(await installHook(folder, warn, "/opt/one/node"));
	await mkdir(inTheWay);
	assert.ok(await installHook(folder, warn, "/opt/other/node"));
	assert.match(await readFile(join(folder, "hooks/pre-receive"), "utf8"), "own='/opt/one/node'");
	assert.is(warnings.length, 2);
	assert.match(String(warnings[1]), "hooks: the hook that judges pushes cannot be written: EISDIR");
});

install("an older Node refuses, and says so", async ({ folder }) => {
	await installHook(folder, () => undefined);
	const disguise = join(folder, "disguise.cjs");
	const versions = '{ ...process.versions, node: "18.20.4" }';
	await writeFile(disguise, `Object.defineProperty(process, "versions", { value: ${versions} });`);
	const words = ["--require", disguise, join(folder, "hooks/fragment-publisher.mjs")];
	const ended = await promisify(execFile)(process.execPath, words).catch((error) => error);
	assert.is(ended.code, 2);
	assert.match(ended.stderr, "Node must be 20.11 or newer");
});

install("a hook that lost its mode gets it back", async ({ folder }) => {
	await installHook(folder, () => undefined);
	await chmod(join(folder, "hooks/pre-receive"), 0o644);
	assert.ok(await installHook(folder, () => undefined));
});

install("with the hook git's own refusals go, and without it they come back", async () => {
	const local = await Local.open();
	const settings = async () => {
		const text = await local.git("config", "--local", "--list");
		return text.split("\n").filter((line) => line.startsWith("receive.deny"));
	};
	try {
		assert.equal(await settings(), ["receive.denydeletes=true", "receive.denynonfastforwards=true"]);
		for (const [guard, count] of [
			[installHook, 0],
			[unguarded, 2],
		] as const) {
			await local.stop();
			local.guard = guard;
			await local.start();
			assert.is((await settings()).length, count);
		}
	} finally {
		await local.end();
	}
});

install("a new repository explains itself", async () => {
	const readme = (await seed({ isTrial: false })).find(({ path }) => path === "README.md")?.text ?? "";
	assert.match(readme, "npx fragment-publisher validate ");
	assert.match(readme, '"payload_type": "wms"');
});

install.run();
