import { chmod, chown, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { installHook } from "../../../store/hook/install.ts";
import { judgePush } from "../../../store/hook/push.ts";
import { parseUpdates } from "../../../store/hook/updates.ts";
import { feature, Local, unguarded, wms } from "../../helpers/local.ts";
import { eventually } from "../../helpers/wait.ts";
import { freshSuite, gitIn, sharedSuite, temporaryFolder, writeFiles } from "../../helpers/world.ts";
import { Pusher } from "./pusher.ts";

const hookOf = (local: Local, name = "pre-receive") => join(local.repository, "hooks", name);

const files = {
	"layers/on/one.json": wms("one").replace('"layer"', '"service_name":"<b>Rivers","layer"'),
	"layers/fe/feature.json": feature,
	"layers/fe/feature.service.json": "{}",
	"layers/owners.json": '{"operators":["@org/operators"],"layers":{}}',
};

const test = sharedSuite("the repository's hook", async (use) => {
	const local = use(await Local.open({ files, guard: installHook }));
	const waits = { target: "/register/waits", body: wms("waits"), sender: "careful" };
	assert.is((await local.write(waits)).status, 201, "it waits for a reviewer");
	return { local, pusher: use(await Pusher.of(local.repository)) };
});
test.before.each(async ({ pusher }) => pusher.reset());

type Craft = (pusher: Pusher) => Promise<string[] | undefined>;

const commits =
	(changed: Record<string, string | null>, ...refs: string[]): Craft =>
	async ({ clone }) => {
		await clone.commit(changed);
		return refs.length > 0 ? refs : undefined;
	};

const entry =
	(path: string | Buffer, mode: string, content: string | Uint8Array = wms("two"), ref = "main"): Craft =>
	async (pusher) => {
		await pusher.commitEntry(path, mode, await pusher.object("blob", content));
		return [`HEAD:refs/heads/${ref}`];
	};

const asRef = (...refs: string[]) => commits({ "layers/br/branch.json": wms("branch") }, ...refs);

const ada = "Ada <ada@example.org> 1772625600 +0000";

const rawCommit =
	(people: string, message = "x"): Craft =>
	async (pusher) => {
		const [tree, parent] = (await pusher.clone.git("rev-parse", "HEAD^{tree}", "HEAD")).split("\n");
		const text = `tree ${tree}\nparent ${parent}\n${people}\n\n${message}\n`;
		return [`${await pusher.object("commit", Buffer.from(text, "latin1"))}:refs/heads/main`];
	};

const byAda = `author ${ada}\ncommitter ${ada}`;

const manyFolders: Craft = async (pusher) => {
	let tree = await pusher.tree([["100644", await pusher.object("blob", "x"), "x"]]);
	for (let level = 0; level < 6; level += 1) {
		const id = tree;
		tree = await pusher.tree(Array.from({ length: 10 }, (_, index) => ["040000", id, `${index}`]));
	}
	await pusher.commitEntry("many", "040000", tree);
	return undefined;
};

const two = "layers/tw/two.json";
const notUtf8 = "must be in UTF-8: git config --unset i18n.commitEncoding";
const taken = "is a name that git may take for another branch";
const ofService = "is a branch of the service: push it under another name";

const names = {
	Main: taken,
	HEAD: taken,
	"heads/main": taken,
	"refs/x": taken,
	register: ofService,
	"register/two": ofService,
	"Register/waits": ofService,
	"declined/two": ofService,
};

type Refused = [title: string, craft: Craft, text: string];

const refused: Refused[] = [
	...Object.entries(names).map(
		([name, text]): Refused => [`a branch ${name}`, asRef(`HEAD:refs/heads/${name}`), text],
	),
	[
		"a key in other case",
		commits({ "layers/on/ONE.json": wms("two") }),
		"ONE differs only in case from one, which is registered, waits for review or is in the same change",
	],
	["a link to a file of the machine", entry(two, "120000", "/etc/passwd"), "must be a plain file"],
	["a name that is not UTF-8", entry(Buffer.of(0xff), "100644"), "must have a name of visible characters"],
	["a replacement", asRef("HEAD:refs/heads/topic", "HEAD:refs/replace/1"), "replace/1: only branches"],
	["the end of main", asRef(":refs/heads/main"), "refs/heads/main: must not be removed"],
	["the end of a review", asRef(":refs/heads/register/waits"), "register/waits: must not be removed"],
	[
		"a history of its own",
		async (pusher) => [`${await pusher.commitTree("HEAD^{tree}", [])}:refs/heads/main`],
		"refs/heads/main: must follow its current commit",
	],
	[
		"a cherry-pick of a change that waits",
		async ({ clone }) => {
			await clone.git("cherry-pick", "origin/register/waits");
			return undefined;
		},
		"names a sender, as only the service's own commits do: git merge --no-ff",
	],
	[
		"a review merged without a commit of its reviewer",
		async () => ["origin/register/waits:refs/heads/main"],
		"is a change that waits for review, and no commit says who accepts it",
	],
	[
		"a commit in the service's name",
		rawCommit(`author ${ada}\ncommitter Fragment-Publisher <ada@example.org> 1 +0000`),
		"names fragment-publisher as its committer",
	],
	[
		"a commit with the service's address, in a review",
		async (pusher) => {
			await pusher.clone.git("checkout", "-q", "--detach", "origin/register/waits");
			const env = { GIT_COMMITTER_EMAIL: "fragment-publisher@sender.invalid" };
			return [`${await pusher.commitTree("HEAD^{tree}", ["HEAD"], env)}:refs/heads/register/waits`];
		},
		"names fragment-publisher as its committer",
	],
	["an encoding in which names read otherwise", rawCommit(`${byAda}\nencoding IBM037`), notUtf8],
	["a message in Latin-1", rawCommit(byAda, "é"), notUtf8],
	...["author", "committer"].map(
		(role): Refused => [
			`a date of 2099, as its ${role}'s`,
			rawCommit(byAda.replace(`${role} ${ada}`, `${role} ${ada.replace("1772625600", "4070908800")}`)),
			"has the date 2099-01-01T00:00:00.000Z, more than a day ahead",
		],
	),
	[
		"two committers, of whom git shows the last",
		rawCommit(`${byAda}\ncommitter ${ada}`),
		"must have one committer",
	],
	["a million files of seven objects", manyFolders, "has more than 500000 files and folders"],
	["a message of a megabyte", rawCommit(byAda, "x".repeat(1 << 20)), "must have at most 1048576 bytes, not"],
	[
		"70 MB, on another branch",
		async (pusher) => {
			await pusher.clone.git("prune", "--expire=now");
			return entry("large", "100644", new Uint8Array(70_000_000), "large")(pusher);
		},
		"must have at most 67108864 bytes, not 70000000",
	],
];

const accepted: [title: string, craft: Craft, text?: string][] = [
	["an executable, and files elsewhere", entry("notes/a b'\"é.md", "100755")],
	[
		"a removed layer with its description",
		commits({ "layers/fe/feature.json": null, "layers/fe/feature.service.json": null }),
	],
	[
		"what is odd",
		commits({
			"layers/od/odd.json": wms("odd").replaceAll("wms.ess-ws.nrcan.gc.ca", "localhost"),
			"stray.json": "{}",
		}),
		"warning: stray.json: is stored, but is not a layer",
	],
	["a branch with a wrong registration", commits({ [two]: "{" }, "HEAD:refs/heads/topic")],
	["the end of a branch", async () => [":refs/heads/topic"]],
	[
		"a merge of a review",
		async ({ clone }) => {
			await clone.git("merge", "-q", "--no-edit", "--no-ff", "origin/register/waits");
			return undefined;
		},
	],
	["trailers of a sender", rawCommit(byAda, `update one\n\nSender: jstest\nRequest: ${"0".repeat(64)}`)],
	[
		"a squash at GitHub of a sender's change, with its trailers",
		rawCommit(
			`author ann <ann@sender.invalid> 1 +0000\ncommitter GitHub <noreply@github.com> 1 +0000\nencoding utf8`,
			`update one\n\nSender: ann\nRequest: ${"0".repeat(64)}`,
		),
	],
];

async function judge({ local, pusher }: { local: Local; pusher: Pusher }, craft: Craft) {
	const refs = (await craft(pusher)) ?? ["HEAD:refs/heads/main"];
	const none = "0".repeat(40);
	const idOf = (folder: string, name: string) =>
		gitIn(folder)("rev-parse", "-q", "--verify", name).catch(() => none);
	const lines = refs.map(async (refspec) => {
		const [, from = "", ref = ""] = /^(.*?):(.*)$/.exec(refspec) ?? [];
		return `${await idOf(local.repository, ref)} ${await idOf(pusher.clone.path, from)} ${ref}`;
	});
	const updates = parseUpdates((await Promise.all(lines)).join("\n"));
	const objects = join(pusher.clone.path, ".git/objects");
	const quarantine = {
		GIT_QUARANTINE_PATH: objects,
		GIT_OBJECT_DIRECTORY: objects,
		GIT_ALTERNATE_OBJECT_DIRECTORIES: join(local.repository, "objects"),
	};
	return judgePush(local.repository, quarantine, updates);
}

for (const [title, craft, text = ""] of accepted)
	test(`accepted: ${title}`, async (scene) => {
		const { isAccepted, lines } = await judge(scene, craft);
		assert.ok(isAccepted, lines.join("\n"));
		assert.match(lines.join("\n"), text);
	});

for (const [title, craft, text] of refused)
	test(`refused: ${title}`, async (scene) => {
		const { isAccepted, lines } = await judge(scene, craft);
		assert.is(isAccepted, false, lines.join("\n"));
		assert.is(lines[0], "refused, and nothing was changed:");
		assert.match(lines.join("\n"), text);
	});

test("a push by root to another user's repository is refused", async (scene) => {
	if (process.getuid?.() !== 0) return;
	const { repository } = scene.local;
	await chown(repository, 4711, 4711);
	const { isAccepted, lines } = await judge(scene, asRef("HEAD:refs/heads/topic"));
	await chown(repository, 0, 0);
	assert.is(isAccepted, false);
	assert.match(lines.join("\n"), "belongs to the user 4711, whom files of root would lock out: run this as");
});

const pushesOf = ({ log }: Local) =>
	log.flatMap((line) => ("push" in line ? [line.push as Record<string, unknown>] : []));

test("a push in order is served, says so, and leaves a line in the log", async ({ local, pusher }) => {
	const from = local.store.tip;
	await pusher.clone.commit({ [two]: wms("two"), "layers/tw/twelve.json": wms("twelve") });
	const to = await pusher.commitTree("HEAD^{tree}", ["HEAD"]);
	const { isAccepted, screen } = await pusher.push();
	assert.ok(isAccepted, screen);
	assert.match(screen, "2 changed files of layers: in order");
	const logged = () => pushesOf(local).filter((push) => push.to === to);
	await eventually(() => logged().length > 0);
	assert.equal(logged(), [{ from, to, layers: 2 }]);
	assert.is((await local.get("/v0.9/doc/en/two")).status, 200);
	await local.put("own");
	const { length } = pushesOf(local);
	await local.restart();
	assert.is(pushesOf(local).length, length, "neither a PUT nor a restart leaves one");
	await pusher.pull();
});

test("the first of many problems are shown", async ({ local, pusher }) => {
	const before = await local.state();
	const many = Array.from({ length: 300 }, (_, index) => [`layers/ma/many-${index}.json`, "{}"]);
	await pusher.clone.commit(Object.fromEntries(many));
	const { isAccepted, screen } = await pusher.push();
	assert.is(isAccepted, false);
	assert.match(screen, /and \d+ more, in 300 files in all/);
	assert.ok(screen.split("\n").length < 70, screen);
	assert.is(await local.state(), before);
});

test("git itself refuses a large pack and a .git in a tree, and the hook a tag", async ({
	local,
	pusher,
}) => {
	const before = await local.state();
	await pusher.clone.commit({ "layers/la/large.json": wms("large") });
	const bound = await local.git("config", "receive.maxInputSize");
	await local.git("config", "receive.maxInputSize", "100");
	assert.match((await pusher.push("HEAD:refs/heads/large")).screen, "maximum allowed size");
	await local.git("config", "receive.maxInputSize", bound);
	assert.match((await pusher.push("HEAD:refs/tags/x")).screen, "only branches may be pushed");
	await pusher.reset();
	const folder = await pusher.tree([["100644", await pusher.object("blob", "x"), "config"]]);
	await pusher.commitTree(await pusher.tree([["040000", folder, ".GIT"]]));
	assert.match((await pusher.push()).screen, "hasDotgit");
	assert.is(await local.state(), before);
});

test("a hook of one's own runs after the service's, with a limit of memory", async ({ local, pusher }) => {
	const own = hookOf(local, "pre-receive.local");
	const script = '#!/bin/sh\nread from to ref\necho "own: $ref, KiB: $(ulimit -d)."\nexit 1\n';
	await writeFile(own, script, { mode: 0o755 });
	await pusher.clone.commit({ "layers/lo/local.json": wms("local") });
	const { isAccepted, screen } = await pusher.push();
	await rm(own);
	assert.is(isAccepted, false);
	assert.match(screen, "in order");
	const [, limit] = /own: refs\/heads\/main, KiB: (\d+)\./.exec(screen) ?? [];
	assert.ok(Number(limit) <= 2 * 2 ** 20, screen);
});

test("a hook that cannot run refuses every push, with the way out", async ({ local, pusher }) => {
	const hook = await readFile(hookOf(local), "utf8");
	const nowhere = hook.replace(/^own=.*$/m, "own='/no/node/here'\nPATH=/nowhere:/bin-without-node");
	await pusher.clone.commit({ "layers/no/node.json": wms("node") });
	for (const [text, words] of [
		[nowhere, "there is no Node at /no/node/here, and none in the PATH"],
		[hook.replace("fragment-publisher.mjs", "gone.mjs").replace("-le 1", "-le 0"), "ended with code 1"],
		[hook.replace("$(cat)", "'1 2 refs/heads/main'"), "could not be checked: git merge-base"],
	] as const) {
		await writeFile(hookOf(local), text);
		const { isAccepted, screen } = await pusher.push();
		assert.is(isAccepted, false, screen);
		assert.match(screen, words);
		assert.match(screen, /operator of the service/i);
	}
});

test("without the hook, too, only branches may be pushed, and nothing else is stored", async () => {
	await using local = await Local.open({ files, guard: unguarded });
	await using pusher = await Pusher.of(local.repository);
	await local.git("config", "--replace-all", "transfer.hiderefs", "refs/replace");
	await local.restart();
	await pusher.clone.commit({ [two]: wms("two") });
	const before = await local.state();
	for (const ref of ["refs/tags/x", "refs/notes/x", "refs/pending", `refs/replace/${"1".repeat(40)}`]) {
		const { isAccepted, screen } = await pusher.push(`HEAD:${ref}`);
		assert.is(isAccepted, false, ref);
		assert.match(screen, "deny updating a hidden ref");
		assert.is(await local.state(), before);
	}
	assert.ok((await pusher.push()).isAccepted);
});

test.run();

const install = freshSuite("putting the hook in place", async (use) => {
	const folder = use(await temporaryFolder()).path;
	const warnings: string[] = [];
	const put = (node?: string) => installHook(folder, (text) => warnings.push(text), node);
	return { folder, warnings, put };
});

install("another hook is refused, and stays as it is", async ({ folder, put }) => {
	const path = join(folder, "hooks/pre-receive");
	writeFiles(folder, { "hooks/pre-receive": "#!/bin/sh\nexit 1\n" });
	assert.is(
		await put().catch(String),
		`Error: ${path}: must be called pre-receive.local, to run after the service's own`,
	);
	assert.is(await readFile(path, "utf8"), "#!/bin/sh\nexit 1\n");
});

install(
	"what is right is not written again, and what is not is corrected",
	async ({ folder, warnings, put }) => {
		const paths = ["pre-receive", "fragment-publisher.mjs"].map((name) => join(folder, "hooks", name));
		const [hook = "", bundle = ""] = paths;
		const node = "/opt/it's/node";
		writeFiles(folder, { "hooks/fragment-publisher.mjs/in-the-way": "" });
		assert.match(
			String(await put(node).catch(String)),
			/pre-receive: cannot be executed there, so pushes are not checked; DATA_DIR must allow it$/,
		);
		assert.match(
			warnings.splice(0).join(),
			/^\S+hooks: the hook that judges pushes cannot be written: .+ again$/,
		);
		await rm(bundle, { recursive: true });
		const inodes = () => Promise.all(paths.map(async (path) => (await stat(path)).ino));
		await put(node);
		assert.match(await readFile(hook, "utf8"), "own='/opt/it'\\''s/node'");
		const before = await inodes();
		await put(node);
		assert.equal(await inodes(), before);
		const contents = () => Promise.all(paths.map((path) => readFile(path, "utf8")));
		const texts = await contents();
		await writeFile(hook, `${texts[0]}exit 0\n`);
		await chmod(hook, 0o644);
		await writeFile(bundle, "// an older one\n");
		await put(node);
		assert.equal(await contents(), texts);
		assert.is((await stat(hook)).mode & 0o777, 0o755);
		assert.equal(warnings, []);
	},
);

install.run();
