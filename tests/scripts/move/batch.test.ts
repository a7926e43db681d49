import { mkdtemp, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { lockFolder } from "../../../service/lock.ts";
import { largeWhenStored } from "../../helpers/local.ts";
import { exits, runScript, warns } from "../../helpers/process.ts";
import { test } from "../../helpers/suite.ts";
import { gitIn, temporaryFolder, writeFiles } from "../../helpers/world.ts";
import { featureFile, wmsFile } from "../../review/repository.ts";
import { type Peer, startPeer } from "../../store/github-peer.ts";

const folder = await temporaryFolder();
const dataDir = join(folder.path, "data");

/** Writes the files of a batch. */
async function batch(files: Record<string, string>): Promise<string> {
	const path = await mkdtemp(join(folder.path, "batch-"));
	writeFiles(path, files);
	return path;
}

function register(args: string[], env: Record<string, string> = { DATA_DIR: dataDir }) {
	return runScript("register", args, env);
}

/** Asks git itself about the local repository. */
const git = gitIn(join(dataDir, "repository.git"));

test.before(async () => {
	await exits(register([await batch({})]), 0);
});
test.after(folder.remove);

test("many layers are one commit, flat or sharded", async () => {
	const before = await git("rev-parse", "main");
	const path = await batch({
		"one.json": wmsFile("a"),
		"tw/two.json": featureFile(),
		"X.json": wmsFile("b"),
	});
	const { stdout } = await exits(register([path, "--sender", "batcher"]), 0);
	assert.match(stdout, /^3 registered, 0 stored already, in .+\ncommit [0-9a-f]{40}\n$/);
	assert.is(await git("rev-parse", "main^"), before);
	assert.equal((await git("diff-tree", "-r", "--name-only", "main^", "main")).split("\n"), [
		"layers/on/one.json",
		"layers/tw/two.json",
		"layers/x/X.json",
	]);
	assert.is(
		await git("log", "-1", "--format=%an <%ae> %s", "main"),
		"batcher <batcher@sender.invalid> register a batch of 3 layers",
	);
});

test("a second run commits what is missing, and skips what is stored in another spelling", async () => {
	const path = await batch({
		"one.json": JSON.stringify(JSON.parse(wmsFile("a"))),
		"three.json": wmsFile("c"),
	});
	const first = await register([path]);
	assert.match(first.stdout, /^1 registered, 1 stored already, in .+\n/);
	assert.is(await git("diff-tree", "-r", "--name-only", "main^", "main"), "layers/th/three.json");
	const before = await git("rev-parse", "main");
	const second = await register([path]);
	assert.match(second.stdout, /^0 registered, 2 stored already, in .+\n$/);
	assert.is(await git("rev-parse", "main"), before);
});

test("a batch with problems names each of them, and stores nothing", async () => {
	const before = await git("rev-parse", "main");
	const path = await batch({
		"good.json": wmsFile("a"),
		"bad.json": wmsFile("a", "ftp://x"),
		"large.json": largeWhenStored,
		"no key.json": wmsFile("a"),
		"readme.md": "",
		"xx/good2.json": wmsFile("a"),
		"GOOD.json": wmsFile("a"),
	});
	await symlink("/etc/passwd", join(path, "link.json"));
	const { stderr } = await exits(register([path]), 1);
	for (const name of ["bad.json: /en/service_url", "bad.json: /fr/service_url", "no key.json", "readme.md"]) {
		assert.match(stderr, name);
	}
	for (const text of [
		"xx/good2.json: must be",
		"large.json: the document must have at most 65536 bytes in the form in which it is stored",
		"good.json: smallkey: good differs only in case from GOOD",
		"link.json: must be a plain file",
	]) {
		assert.match(stderr, text);
	}
	assert.match(stderr, /\n8 problems; nothing was written\n$/);
	assert.is(await git("rev-parse", "main"), before);
});

test("a batch with a key that differs only in case from a stored one is refused whole", async () => {
	const before = await git("rev-parse", "main");
	const { code, stderr } = await register([
		await batch({ "ONE.json": wmsFile("a"), "four.json": wmsFile("a") }),
	]);
	assert.is(code, 1);
	assert.match(stderr, "ONE differs only in case from one");
	assert.is(await git("rev-parse", "main"), before);
});

test("with --review the layers wait on a branch, and a second run adds nothing", async () => {
	const before = await git("rev-parse", "main");
	const path = await batch({ "five.json": wmsFile("a"), "six.json": wmsFile("b") });
	const first = await register([path, "--review"]);
	assert.match(
		first.stdout,
		/^2 registered, 0 stored already, in .+\ncommit [0-9a-f]{40}\nbranch register\/operator\.batch\n$/,
	);
	assert.is(await git("rev-parse", "main"), before);
	assert.is(await git("rev-parse", "register/operator.batch^"), before);
	const second = await register([path, "--review"]);
	assert.match(second.stdout, /^0 registered, 2 stored already, in .+\nbranch/);
});

test("register refuses to write to a folder that a running service uses", async () => {
	const lock = await lockFolder(dataDir);
	const before = await git("rev-parse", "main");
	const { code, stderr } = await register([await batch({ "seven.json": wmsFile("a") })]);
	await lock.release();
	assert.is(code, 2);
	assert.match(stderr, "another process works in");
	assert.is(await git("rev-parse", "main"), before);
});

for (const [what, args, error] of [
	["no folder", [], /missing required argument .dir.\nnpx fragment-publisher register --help/],
	["a folder that is not there", ["nowhere"], /nowhere: is not a folder/],
	["an impossible sender", [".", "--sender", "a b"], /--sender: must be/],
	["an unknown word", [".", "--force"], /--force/],
] as const) {
	test(`${what} is refused`, async () => {
		await warns(register([...args]), 2, error);
	});
}

/** The same on GitHub. */
async function onGithub(run: (peer: Peer, env: Record<string, string>) => Promise<void>): Promise<void> {
	await using peer = await startPeer();
	await run(peer, { ...peer.env, DATA_DIR: join(folder.path, "unused") });
}

test("on GitHub a batch is one commit, and a second run adds what is missing", () =>
	onGithub(async (peer, env) => {
		const files: Record<string, string> = {};
		for (let index = 0; index < 60; index += 1) files[`key${index}.json`] = wmsFile(`layer ${index}`);
		const path = await batch(files);
		const before = (await peer.commits()).length;
		assert.match((await register([path], env)).stdout, /^60 registered, 0 stored already, in .+\n/);
		assert.is((await peer.commits()).length, before + 1);
		assert.is(await peer.file("layers/ke/key59.json"), wmsFile("layer 59"));
		await writeFile(join(path, "new.json"), wmsFile("new"));
		assert.match((await register([path], env)).stdout, /^1 registered, 60 stored already, in .+\n/);
		assert.match((await register([path], env)).stdout, /^0 registered, 61 stored already, in .+\n/);
		assert.is((await peer.commits()).length, before + 2);
	}));

test("on GitHub the requests of a batch grow by one for 100 layers: 10,000 are some 150 of an hour's 5,000", () =>
	onGithub(async (peer, env) => {
		const { requests } = peer.proxy;
		const costOf = async (count: number) => {
			const names = Array.from({ length: count }, (_, index) => {
				return `k${index.toString(36).padStart(3, "0")}`.split("").reverse().join("");
			});
			const path = await batch(Object.fromEntries(names.map((name) => [`${name}.json`, wmsFile(name)])));
			requests.length = 0;
			const { stdout } = await exits(register([path], env), 0);
			const cost = { all: requests.length, writes: requests.filter((one) => !one.startsWith("GET ")).length };
			requests.length = 0;
			assert.match(
				(await register([path], env)).stdout,
				new RegExp(`^0 registered, ${count} stored already`),
			);
			// What is stored is compared by its blob's id: no file is read for it.
			const others = requests.filter((one) => /blobs|\.json|^(?!GET)/.test(one));
			assert.equal(others, []);
			assert.match(stdout, /\ncommit /);
			return { ...cost, again: requests.length };
		};
		const few = await costOf(100);
		const many = await costOf(900);
		assert.ok(many.writes - few.writes <= 8, `${few.writes} and ${many.writes} writes`);
		// Up to 40 folders are listed one by one, all others at once: that part does not grow.
		assert.ok(many.all - many.writes <= 46, `${many.all} requests for 900 layers`);
		assert.ok(many.again <= 46, `${many.again} requests for 900 layers that are stored`);
	}));

test("on GitHub --review opens one pull request for all", () =>
	onGithub(async (peer, env) => {
		const path = await batch({ "one.json": wmsFile("a"), "two.json": wmsFile("b") });
		const before = await peer.commits();
		const first = await register([path, "--review"], env);
		assert.match(
			first.stdout,
			/^2 registered.*\ncommit .*\nbranch register\/operator\.batch\npull request http/s,
		);
		assert.equal(await peer.commits(), before);
		await writeFile(join(path, "three.json"), wmsFile("c"));
		await register([path, "--review"], env);
		const pulls = (await peer.api<{ head: { ref: string } }[]>("GET", "/pulls?state=open")).data;
		const found = pulls.map(({ head }) => head.ref);
		assert.equal(found, ["register/operator.batch"]);
		assert.is(await peer.file("layers/th/three.json", "register/operator.batch"), wmsFile("c"));
	}));

test.run();
