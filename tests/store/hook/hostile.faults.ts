import * as assert from "uvu/assert";
import { installHook } from "../../../store/hook/install.ts";
import { feature, Local, largeWhenStored, wms } from "../../helpers/local.ts";
import { runScript } from "../../helpers/process.ts";
import { eventually } from "../../helpers/wait.ts";
import { sharedSuite } from "../../helpers/world.ts";
import { Pusher } from "./pusher.ts";

/** Makes what is pushed; the words of the push, none for the branch main. */
type Craft = (pusher: Pusher) => Promise<string[] | undefined>;

const owners = '{"operators":["@org/operators"],"layers":{}}';

const commits =
	(files: Record<string, string | null>): Craft =>
	async ({ clone }) => {
		await clone.commit(files);
		return undefined;
	};

const entry =
	(path: string | Buffer, mode: string, content: string | Uint8Array = wms("two")): Craft =>
	async (pusher) => {
		const id = mode === "160000" ? "1".repeat(40) : await pusher.blob(content);
		await pusher.commitEntry(path, mode, id);
		return undefined;
	};

const asRef =
	(...words: string[]): Craft =>
	async ({ clone }) => {
		await clone.commit({ "layers/br/branch.json": wms("branch") });
		return words;
	};

/** A commit that says that its text is in an encoding. */
const committedIn =
	(encoding: string, name: string): Craft =>
	async (pusher) => {
		await pusher.commitTree("HEAD^{tree}", ["HEAD"], "update one\n\nRequest: 00", {
			GIT_COMMITTER_NAME: name,
			GIT_CONFIG_COUNT: "1",
			GIT_CONFIG_KEY_0: "i18n.commitEncoding",
			GIT_CONFIG_VALUE_0: encoding,
		});
		return undefined;
	};

/** A commit object, written by hand. */
const rawCommit =
	(
		text: (tree: string, parent: string) => string,
		encoding: BufferEncoding = "utf8",
		branch = "main",
	): Craft =>
	async (pusher) => {
		const tree = await pusher.clone.git("rev-parse", "HEAD^{tree}");
		const parent = await pusher.clone.git("rev-parse", "HEAD");
		const id = await pusher.object("commit", Buffer.from(text(tree, parent), encoding));
		return [`${id}:refs/heads/${branch}`];
	};

const ada = "Ada <ada@example.org> 1772625600 +0000";
const servicePerson = "fragment-publisher <fragment-publisher@sender.invalid> 1772625600 +0000";

/** Folders in folders: `width` names in each of `depth` levels, of as many objects as there are levels. */
const manyFolders =
	(width: number, depth: number, leaf: string | null, ...words: string[]): Craft =>
	async (pusher) => {
		if (words.length > 0) await pusher.clone.git("checkout", "-q", "--detach", "origin/register/waits");
		const files = leaf === null ? [] : [["100644", await pusher.blob(leaf), "x"] as const];
		let tree = await pusher.tree(files);
		for (let level = 0; level < depth; level += 1) {
			const names = Array.from({ length: width }, (_, index) => ["040000", tree, `${index}`] as const);
			tree = await pusher.tree(names);
		}
		await pusher.commitEntry("many", "040000", tree);
		return words.length > 0 ? words : undefined;
	};

/** What is refused: the push, and what stands on the pusher's screen. */
const refused: [title: string, craft: Craft, words: string | RegExp][] = [
	[
		"a wrong registration",
		commits({
			"layers/tw/two.json": wms("two").replace('"fr":{"service_url":"http', '"fr":{"service_url":"ftp'),
		}),
		"layers/tw/two.json: /fr/service_url: must be an http or https address, not",
	],
	[
		"no JSON",
		commits({ "layers/tw/two.json": '{\n"version": }' }),
		/layers\/tw\/two\.json: the document must be JSON: line 2, column/,
	],
	[
		"a registration of 100 kB",
		commits({ "layers/tw/two.json": wms("two").padEnd(100_000) }),
		"layers/tw/two.json: must have at most 65536 bytes",
	],
	[
		"a registration that is too large in the form in which it is stored",
		commits({ "layers/tw/two.json": largeWhenStored }),
		"layers/tw/two.json: the document must have at most 65536 bytes in the form in which it is stored",
	],
	[
		"two changes, of which one is wrong",
		commits({ "layers/tw/two.json": wms("two"), "layers/th/three.json": "[]" }),
		"layers/th/three.json: the document: must be an object",
	],
	[
		"a review that is merged without a commit of its reviewer",
		async ({ clone }) => {
			await clone.git("merge", "-q", "--ff-only", "origin/register/waits");
			return undefined;
		},
		/refs\/heads\/main: commit [0-9a-f]{40} is a change that waits for review, and no commit says who accepts it: git merge --no-ff/,
	],
	["a file in another folder", commits({ "layers/two.json": wms("two") }), "must be at layers/tw/two.json"],
	["a folder Layers", commits({ "Layers/tw/two.json": wms("two") }), "must be in layers, in lower case"],
	["a file that is no layer's", commits({ "layers/tw/two.txt": "" }), "must be named <smallkey>.json"],
	[
		"a key in other case",
		commits({ "layers/on/ONE.json": wms("two") }),
		"layers/on/ONE.json: smallkey: ONE differs only in case from one, which is registered",
	],
	[
		"two keys that differ in case",
		commits({ "layers/tw/two.json": wms("two"), "layers/tw/TWO.json": wms("two") }),
		"layers/tw/two.json: smallkey: two differs only in case from TWO, which the same change registers",
	],
	[
		"a service description without a layer",
		commits({ "layers/tw/two.service.json": "{}" }),
		"layers/tw/two.service.json: describes a layer that is not at layers/tw/two.json",
	],
	[
		"an invalid service description",
		commits({ "layers/tw/two.json": feature, "layers/tw/two.service.json": "{}" }),
		"layers/tw/two.service.json: must be a service description",
	],
	[
		"a layer that goes without its service description",
		commits({ "layers/fe/feature.json": null }),
		"layers/fe/feature.service.json: describes a layer that is not at layers/fe/feature.json",
	],
	["wrong owners", commits({ "layers/owners.json": "{}" }), "layers/owners.json: /operators: is missing"],
	[
		"health that is no JSON",
		commits({ "layers/health.json": "x" }),
		"layers/health.json: the document must be JSON",
	],
	["no owners", commits({ "layers/owners.json": null }), "layers/owners.json: must not be removed"],
	[
		"a link to a file of the machine",
		entry("layers/tw/two.json", "120000", "/etc/passwd"),
		"layers/tw/two.json: must be a plain file, not a symlink",
	],
	["a link elsewhere", entry("link", "120000", "/"), "link: must be a plain file, not a symlink"],
	["a submodule", entry("layers/tw/two.json", "160000"), "must be a plain file, not a submodule"],
	["a submodule elsewhere", entry("module", "160000"), "module: must be a plain file, not a submodule"],
	["a file called layers", entry("layers", "100644"), "layers: must be a folder"],
	["a link called layers", entry("layers", "120000", "/etc"), "layers: must be a folder"],
	[
		"a line break in a name",
		entry("layers/tw/t\nwo.json", "100644"),
		"layers/tw/t\\u000awo.json: smallkey: must be 1 to 64 of",
	],
	[
		"quotes in a name",
		entry("layers/tw/\"'two.json", "100644"),
		"layers/tw/\"'two.json: smallkey: must be 1 to 64 of",
	],
	["an escape in a name", entry("\u001b[31mred", "100644"), "\\u001b[31mred: must have a name of visible"],
	[
		"right-to-left in a name",
		entry("a\u202egnp.js", "100644"),
		"a\\u202egnp.js: must have a name of visible",
	],
	[
		"a name that is not UTF-8",
		entry(Buffer.from("layers/tw/tw\xff.json", "latin1"), "100644"),
		/layers\/tw\/tw\ufffd\.json: smallkey: must be 1 to 64 of/,
	],
	[
		"another name that is not UTF-8",
		entry(Buffer.of(0xff), "100644"),
		"must have a name of visible characters",
	],
	["a folder .git", entry(".git/config", "100644"), "hasDotgit"],
	["a look-alike of .git", entry(".GIT/config", "100644"), "hasDotgit"],
	["a short name of .git", entry("git~1/config", "100644"), "hasDotgit"],
	["a .git with a character without width", entry(".g\u200cit/config", "100644"), "hasDotgit"],
	[
		"50 MB in a layer's file",
		entry("layers/tw/two.json", "100644", new Uint8Array(50_000_000)),
		"layers/tw/two.json: must have at most 65536 bytes",
	],
	[
		"2 MB elsewhere",
		entry("video", "100644", new Uint8Array(2_000_000)),
		"video: must have at most 1048576 bytes",
	],
	["a tag", asRef("HEAD:refs/tags/main"), "refs/tags/main: only branches may be pushed"],
	["a replacement", asRef(`HEAD:refs/replace/${"1".repeat(40)}`), "only branches may be pushed"],
	["notes", asRef("HEAD:refs/notes/commits"), "refs/notes/commits: only branches may be pushed"],
	["a branch and a tag", asRef("HEAD:refs/heads/topic", "HEAD:refs/tags/x"), "refs/tags/x: only branches"],
	["the end of main", asRef(":refs/heads/main"), "refs/heads/main: must not be removed"],
	["main in other case", asRef("HEAD:refs/heads/Main"), "differs only in case from the branch main"],
	["a branch register", asRef("HEAD:refs/heads/register"), "is a name that the service keeps for reviews"],
	["a new branch register/…", asRef("HEAD:refs/heads/register/two"), "is a name that the service keeps"],
	["a new branch repair/…", asRef("HEAD:refs/heads/repair/two"), "is a name that the service keeps"],
	["a declined review", asRef("HEAD:refs/heads/declined/register/x/1"), "is a name that the service keeps"],
	["a branch below a review's", asRef("HEAD:refs/heads/register/two/x"), "is a name that the service keeps"],
	["a branch Register/…", asRef("HEAD:refs/heads/Register/two"), "is a name that the service keeps"],
	["a branch HEAD", asRef("HEAD:refs/heads/HEAD"), "is a name that git takes for another one's"],
	[
		"a branch refs/heads/main",
		asRef("HEAD:refs/heads/refs/heads/main"),
		"is a name that git takes for another",
	],
	[
		"the end of a review",
		asRef(":refs/heads/register/waits"),
		"refs/heads/register/waits: must not be removed",
	],
	[
		"another review in its place",
		asRef("--force", "HEAD:refs/heads/register/waits"),
		"refs/heads/register/waits: must follow its current commit",
	],
	[
		"an older main",
		async ({ clone }) => {
			await clone.git("commit", "-q", "--amend", "-m", "another past");
			return ["--force", "HEAD:refs/heads/main"];
		},
		"refs/heads/main: must follow its current commit",
	],
	[
		"a history of its own",
		async (pusher) => {
			await pusher.commitTree("HEAD^{tree}", []);
			return ["--force", "HEAD:refs/heads/main"];
		},
		"refs/heads/main: must follow its current commit",
	],
	[
		"a commit in the service's name",
		async (pusher) => {
			await pusher.commitTree("HEAD^{tree}", ["HEAD"], "update one\n\nRequest: 00", {
				GIT_COMMITTER_NAME: "Fragment-Publisher ",
				GIT_COMMITTER_EMAIL: "ada@example.org",
			});
			return undefined;
		},
		/commit [0-9a-f]{40} names fragment-publisher as its committer/,
	],
	[
		"a commit with the service's address, in a review",
		async (pusher) => {
			await pusher.clone.git("checkout", "-q", "--detach", "origin/register/waits");
			await pusher.commitTree("HEAD^{tree}", ["HEAD"], "more", {
				GIT_COMMITTER_EMAIL: "fragment-publisher@sender.invalid",
			});
			return ["HEAD:refs/heads/register/waits"];
		},
		/commit [0-9a-f]{40} names fragment-publisher as its committer/,
	],
	[
		"the service's name, in an encoding in which it reads as another",
		committedIn("IBM037", "fragment-publisher"),
		/commit [0-9a-f]{40} must be in UTF-8, and says encoding IBM037/,
	],
	[
		"the service's name, in an encoding in which nothing of it is left",
		committedIn("UTF-16", "fragment-publisher"),
		/commit [0-9a-f]{40} must be in UTF-8, and says encoding UTF-16/,
	],
	[
		"a name that reads as the service's in another encoding",
		committedIn("ISO-2022-JP", "fragment\x1b(B-publisher"),
		/commit [0-9a-f]{40} must be in UTF-8, and says encoding ISO-2022-JP/,
	],
	["Latin-1 that says so", committedIn("ISO-8859-1", "Zo"), "must be in UTF-8, and says encoding ISO-8859-1"],
	[
		"Latin-1 that does not say so",
		rawCommit(
			(tree, parent) =>
				`tree ${tree}\nparent ${parent}\nauthor Zo\xeb${ada.slice(3)}\ncommitter ${ada}\n\nx\n`,
			"latin1",
		),
		"must be in UTF-8, and is not",
	],
	[
		"two encodings",
		rawCommit(
			(tree, parent) =>
				`tree ${tree}\nparent ${parent}\nauthor ${ada}\ncommitter ${ada}\nencoding UTF-8\nencoding IBM037\n\nx\n`,
		),
		"must be in UTF-8, and says encoding IBM037",
	],
	[
		"two committers, of whom git shows the last",
		rawCommit(
			(tree, parent) =>
				`tree ${tree}\nparent ${parent}\nauthor ${ada}\ncommitter ${servicePerson}\ncommitter ${ada}\n\nx\n`,
		),
		"must have one committer",
	],
	[
		"70 MB in a pack of 70 kB, on a branch of one's own",
		async (pusher) => {
			await entry("large", "100644", new Uint8Array(70_000_000))(pusher);
			return ["HEAD:refs/heads/large"];
		},
		/blob [0-9a-f]{40} must have at most 67108864 bytes, not 70000000/,
	],
	[
		"a commit of 2 MB, on a branch of one's own",
		rawCommit(
			(tree, parent) =>
				`tree ${tree}\nparent ${parent}\nauthor ${ada}\ncommitter ${ada}\n\n${"x".repeat(2_000_000)}`,
			"utf8",
			"large",
		),
		/commit [0-9a-f]{40} must have at most 1048576 bytes, not 2000\d\d\d/,
	],
	[
		"a million files of seven objects",
		manyFolders(10, 6, "x"),
		/commit [0-9a-f]{40} has more than 500000 files and folders/,
	],
	[
		"a million folders without a file",
		manyFolders(10, 6, null),
		/commit [0-9a-f]{40} has more than 500000 files and folders/,
	],
	[
		"a million files, in a review",
		manyFolders(10, 6, "x", "HEAD:refs/heads/register/waits"),
		/commit [0-9a-f]{40} has more than 500000 files and folders/,
	],
];

/** What is accepted, and does no harm. */
const harmless: [title: string, craft: Craft][] = [
	["an executable", entry("layers/tw/two.json", "100755")],
	["files elsewhere", commits({ "README.md": "# Ours", "notes/a b'\"é.md": "text", "stray.json": "{" })],
	[
		"nothing else than a removal",
		commits({ "layers/fe/feature.json": null, "layers/fe/feature.service.json": null }),
	],
	[
		"a branch with a wrong registration",
		async ({ clone }) => {
			await clone.commit({ "layers/tw/two.json": "{" });
			return ["HEAD:refs/heads/topic"];
		},
	],
	[
		"a branch with a history of its own, in place of another",
		async (pusher) => {
			await pusher.commitTree("HEAD^{tree}", []);
			return ["--force", "HEAD:refs/heads/topic"];
		},
	],
	["the end of a branch", async () => [":refs/heads/topic"]],
	[
		"a merge of a history of its own",
		async (pusher) => {
			const other = await pusher.commitTree("HEAD^{tree}", []);
			await pusher.commitTree("HEAD^{tree}", ["origin/main", other], "Merge");
			return undefined;
		},
	],
	[
		"a merge of a review",
		async (pusher) => {
			await pusher.clone.git("merge", "-q", "--no-edit", "origin/register/waits");
			return undefined;
		},
	],
	[
		"a commit that says that it is in UTF-8",
		rawCommit(
			(tree, parent) =>
				`tree ${tree}\nparent ${parent}\nauthor ${ada}\ncommitter ${ada}\nencoding utf8\n\nZoë\n`,
		),
	],
	[
		"commits of 1970 and 2100",
		async (pusher) => {
			for (const date of ["@0 +0000", "@4102444800 +0000"]) {
				await pusher.commitTree("HEAD^{tree}", ["HEAD"], date, {
					GIT_AUTHOR_DATE: date,
					GIT_COMMITTER_DATE: date,
				});
			}
			return undefined;
		},
	],
	[
		"trailers and the name of a sender",
		async (pusher) => {
			await pusher.commitTree(
				"HEAD^{tree}",
				["HEAD"],
				`update one\n\nSender: jstest\nRequest: ${"0".repeat(64)}`,
				{
					GIT_AUTHOR_NAME: "jstest",
					GIT_AUTHOR_EMAIL: "jstest@sender.invalid",
				},
			);
			return undefined;
		},
	],
];

/** What is stored before the first push. */
let before = "";

const test = sharedSuite("hostile pushes", async (use) => {
	const files = {
		"layers/on/one.json": wms("one"),
		"layers/fe/feature.json": feature,
		"layers/fe/feature.service.json": "{}",
		"layers/owners.json": owners,
	};
	const local = use(await Local.open({ files, guard: installHook }));
	const waits = { target: "/register/waits", body: wms("waits"), sender: "careful" };
	assert.is((await local.write(waits)).status, 201, "it waits for a reviewer");
	const pusher = use(await Pusher.of(local.repository));
	before = await local.state();
	return { local, pusher };
});
test.before.each(async ({ pusher }) => pusher.reset());

let round = 0;

/** Reads and writes are served. */
async function answers(local: Local): Promise<void> {
	assert.is(local.get("/v0.9/doc/en/one").status, 200);
	local.now += 1_000;
	assert.is((await local.put("meanwhile", wms(`round ${++round}`))).status, 201);
	assert.equal(local.reported, []);
}

for (const [title, craft, words] of refused) {
	test(`${title}: refused with a reason, and nothing is stored`, async ({ local, pusher }) => {
		const args = await craft(pusher);
		const pushed = await pusher.push(...(args ?? []));
		assert.is(pushed.isAccepted, false, pushed.screen);
		assert.match(pushed.screen, words);
		assert.is(await local.state(), before);
		assert.is(local.get("/v0.9/doc/en/one").status, 200);
	});
}

test("reads and writes go on after all that was refused", async ({ local }) => answers(local));

test("a review that git has merged has its reviewer in the audit and in the log", async (scene) => {
	const { local, pusher } = scene;
	await local.write({ target: "/register/merged", body: wms("merged"), sender: "careful" });
	await pusher.pull();
	await pusher.clone.git("merge", "-q", "--no-ff", "--no-edit", "origin/register/merged");
	const pushed = await pusher.push();
	assert.ok(pushed.isAccepted, pushed.screen);
	await eventually(() => local.get("/v0.9/doc/en/merged").status === 200);
	const { stdout } = await runScript("audit", ["merged"], { DATA_DIR: local.folder });
	const who = await local.git("log", "-1", "--format=%cn <%ce>", "main");
	assert.match(stdout, `  merged by ${who}: Merge`);
	assert.match(stdout, "    by the sender careful, with a signed request of ");
	await eventually(() => JSON.stringify(local.log).includes(`"people":["${who}","careful <`));
});

for (const [title, craft] of harmless) {
	test(`${title}: accepted, without harm`, async ({ local, pusher }) => {
		await pusher.pull();
		const args = await craft(pusher);
		const pushed = await pusher.push(...(args ?? []));
		assert.ok(pushed.isAccepted, pushed.screen);
		const head = await local.git("rev-parse", "refs/heads/main");
		await eventually(() => local.store.tip === head);
		await answers(local);
	});
}

test.run();
