import { mkdtemp, symlink } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { lockFolder } from "../../../api/service/lock.ts";
import { exits, prints, runScript, warns } from "../../helpers/process.ts";
import { test } from "../../helpers/suite.ts";
import { gitIn, temporaryFolder, writeFiles } from "../../helpers/world.ts";
import { startPeer } from "../../store/github-peer.ts";
import { featureFile, wmsFile } from "../review/repository.ts";

const folder = await temporaryFolder();
const dataDir = join(folder.path, "data");

async function batch(files: Record<string, string>) {
	const path = await mkdtemp(join(folder.path, "batch-"));
	writeFiles(path, files);
	return path;
}

const register = (words: string[], env: Record<string, string> = { DATA_DIR: dataDir }) =>
	runScript("register", words, env);
const git = gitIn(join(dataDir, "repository.git"));
const changed = () => git("diff-tree", "-r", "--name-only", "main^", "main");

test.before(async () => {
	await exits(register([await batch({})]), 0);
});
test.after(folder.remove);

test("many layers are one commit; a second run commits what is missing", async () => {
	const before = await git("rev-parse", "main");
	assert.is(await git("ls-tree", "--name-only", before), "README.md");
	const files = { "one.json": wmsFile("a"), "tw/two.json": featureFile(), "X.json": wmsFile("b") };
	const words = [await batch(files), "--sender", "batcher"];
	await prints(register(words), 0, /^3 added: X one two\nin the branch main of .+\ncommit [0-9a-f]{40}\n$/);
	assert.is(await git("rev-parse", "main^"), before);
	assert.is(await changed(), "layers/on/one.json\nlayers/tw/two.json\nlayers/x/X.json");
	const subject = await git("log", "-1", "--format=%an <%ae> %s", "main");
	assert.is(subject, "batcher <batcher@sender.invalid> register a batch of 3 layers");
	const spelledOtherwise = JSON.stringify(JSON.parse(wmsFile("a")));
	const path = await batch({ "one.json": spelledOtherwise, "three.json": wmsFile("c") });
	await prints(register([path]), 0, /^1 added: three\n1 unchanged\nin .+\ncommit /);
	assert.is(await changed(), "layers/th/three.json");
	await prints(register([path]), 0, /^2 unchanged\nin .+\n$/);
});

test("a batch with problems names each of them, and stores nothing", async () => {
	const before = await git("rev-parse", "main");
	const path = await batch({
		"good.json": wmsFile("a"),
		"GOOD.json": wmsFile("a"),
		"xx/good2.json": wmsFile("a"),
		"bad.json": wmsFile("a", "ftp://x"),
		"readme.md": "",
	});
	await symlink("/etc/passwd", join(path, "link.json"));
	await warns(register([path]), 1, [
		...["bad.json: /en/service_url", "bad.json: /fr/service_url", "readme.md", "xx/good2.json: must be"],
		"good.json: smallkey: good differs only in case from GOOD",
		"link.json: must be a plain file",
		/\n6 problems; nothing was written \(--partial leaves them out\)\n$/,
	]);
	const twin = await batch({ "ONE.json": wmsFile("a"), "four.json": wmsFile("a") });
	await warns(register([twin]), 1, /ONE differs only in case from one,.*\n1 problem; nothing was written\n$/);
	const lock = await lockFolder(dataDir);
	await warns(register([await batch({ "seven.json": wmsFile("a") })]), 2, "another process works in");
	await lock.release();
	for (const [words, reason] of [
		[[], /missing required argument .dir.\nnpx fragment-publisher register --help/],
		[["nowhere"], /nowhere: is not a folder/],
		[[".", "--sender", "a b"], /--sender <id>' argument 'a b' is invalid\. It must be/],
	] as const)
		await warns(register([...words]), 2, reason);
	assert.is(await git("rev-parse", "main"), before);
});

test("--partial stores what is in order and not refused, and --dry-run stores nothing", async () => {
	const before = await git("rev-parse", "main");
	const files = { "one.json": wmsFile("changed"), "part.json": wmsFile("a"), "three.json": wmsFile("c") };
	const path = await batch({ ...files, "bad.json": "{}" });
	const text = /^1 added: part\n1 changed: one\n1 unchanged\nin /;
	await prints(register([path, "--partial", "--dry-run"]), 1, text);
	assert.is(await git("rev-parse", "main"), before);
	await prints(register([path, "--partial"]), 1, text);
	assert.is(await changed(), "layers/on/one.json\nlayers/pa/part.json");
	const twin = await batch({
		"Three.json": wmsFile("c"),
		"more.json": wmsFile("a"),
		"part.json": wmsFile("a"),
	});
	const refusal = /^smallkey: Three differs only in case from three, .*\n$/;
	const dryRun = await prints(register([twin, "--dry-run"]), 1, "1 added: more\n1 unchanged\n");
	const partial = await prints(register([twin, "--partial"]), 1, "1 added: more\n1 unchanged\n");
	for (const { stderr } of [dryRun, partial]) assert.match(stderr, refusal);
	assert.is(await changed(), "layers/mo/more.json");
});

test("with --review-name the layers wait on a branch, and a second run adds nothing", async () => {
	const before = await git("rev-parse", "main");
	const path = await batch({ "five.json": wmsFile("a"), "six.json": wmsFile("b") });
	const expected = /^2 added: five six\nin .+\ncommit \w{40}\nbranch register\/operator\+review\.spring\n$/;
	await prints(register([path, "--review-name", "spring"]), 0, expected);
	assert.is(await git("rev-parse", "main", "register/operator+review.spring^"), `${before}\n${before}`);
	await prints(register([path, "--review-name", "spring"]), 0, /^2 unchanged\nin .+\nbranch/);
});

test("on GitHub a batch is one commit or one pull request, by few requests", async () => {
	await using peer = await startPeer();
	const env = { ...peer.env, DATA_DIR: join(folder.path, "unused") };
	const { requests } = peer.proxy;
	const costs: { reads: number; writes: number }[] = [];
	for (const count of [60, 460]) {
		const names = Array.from({ length: count }, (_, index) => `${(index * 7919) % 1296}-${count}`);
		const path = await batch(Object.fromEntries(names.map((name) => [`${name}.json`, wmsFile(name)])));
		const before = (await peer.commits()).length;
		requests.length = 0;
		await prints(register([path], env), 0, new RegExp(`^${count} added: .*\nin .*\ncommit `));
		const writes = requests.filter((line) => !line.startsWith("GET ")).length;
		costs.push({ reads: requests.length - writes, writes });
		requests.length = 0;
		await prints(register([path], env), 0, `${count} unchanged`);
		await prints(register([path, "--dry-run"], env), 0, `${count} unchanged`);
		assert.not.match(requests.join("\n"), /blobs|\.json|^(?!GET)/m, "no file is read to be compared");
		assert.is((await peer.commits()).length, before + 1);
	}
	const [few = 0, many = 0] = costs.map(({ writes }) => writes);
	assert.ok(many - few <= 4 && (costs[1]?.reads ?? 0) <= 46, JSON.stringify(costs));
	const path = await batch({ "one.json": wmsFile("a"), "two.json": wmsFile("b") });
	const before = await peer.commits();
	const expected = /^2 added.*\ncommit .*\nbranch register\/operator\+review\.spring\npull request http/s;
	await prints(register([path, "--review-name", "spring"], env), 0, expected);
	assert.equal(await peer.commits(), before);
});

test.run();
