import { copyFile, mkdir, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { runGit } from "../../store/git/commands/run.ts";
import { Local, manual, textOf, wms } from "../helpers/local.ts";
import { eventually } from "../helpers/wait.ts";
import { beforeGit, freshSuite, writeFiles } from "../helpers/world.ts";

let local: Local;

const test = freshSuite("publication", async (use) => {
	const filesTimes = { retryMs: 20, maxRetryMs: 50 };
	local = use(await Local.open({ files: { "layers/on/one.json": wms("one") }, filesTimes }));
});

const status = (smallkey: string) => local.get(`/v0.9/doc/en/${smallkey}`).status;
const layerIn = (text: string) => /"layerName":"([^"]*)"/.exec(text)?.[1] ?? "";
const read = (smallkey: string) => layerIn(textOf(local.get(`/v0.9/doc/en/${smallkey}`)));
const served = () => [...local.publication.table.smallkeys()].sort();
const file = (smallkey: string, lang = "en") => join(local.out, `v0.9/doc/${lang}/${smallkey}`);
const kept = () => join(local.folder, "fragments");

/** The name of the layer in a rendered file; null if there is no file. */
async function inFile(path: string): Promise<string | null> {
	return readFile(path, "utf8").then(layerIn, () => null);
}

/** Commits files as a push does that the hook does not see; null removes one. */
async function push(files: Record<string, string | null>): Promise<void> {
	const edits = Object.entries(files).map(([path, text]) =>
		text === null ? `D ${path}\n` : `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`,
	);
	const head =
		"commit refs/heads/main\ncommitter a <a@b.example> 1772625600 +0000\ndata 1\nx\nfrom refs/heads/main^0\n";
	await runGit(local.repository, ["fast-import", "--quiet"], { input: head + edits.join("") });
}

/** Starts the service again. @param change what happens meanwhile */
async function restart(change: () => unknown = () => undefined): Promise<void> {
	await local.stop();
	await change();
	await local.start();
}

const forget = () => rm(kept());
/** As a killed process leaves it: no mark says that the process ended. */
const asKilled = () => rm(`${kept()}.ended`);

test("a change is in the files before it is answered, and so is a removal; a compressed copy goes with its file", async () => {
	assert.is((await local.put("two", wms("before"))).status, 201);
	await writeFile(`${file("two")}.gz`, "compressed");
	assert.is((await local.put("two", wms("after"))).status, 201);
	for (const lang of ["en", "fr"]) assert.is(await inFile(file("two", lang)), "after");
	assert.is(await inFile(`${file("two")}.gz`), null);
	assert.is((await local.delete("two")).status, 204);
	for (const lang of ["en", "fr"]) assert.is(await inFile(file("two", lang)), null);
});

test("files that cannot be written refuse nothing, are reported once, and are tried again", async () => {
	await local.put("two", wms("before"));
	await local.filesIdle();
	const folder = join(local.out, "v0.9/doc/en");
	await rename(folder, join(local.folder, "away"));
	await writeFile(folder, "in the way");
	for (const layer of ["during", "after"]) {
		const answer = await local.put("two", wms(layer));
		const receipt = (await answer.json()) as { published: boolean; warnings: string[] };
		assert.equal([answer.status, receipt.published], [201, true]);
		assert.match(receipt.warnings.join(), "the files of the web server");
		assert.is(read("two"), layer);
	}
	assert.match(local.publication.files.state() ?? "", "ENOTDIR");
	await rm(folder);
	await eventually(async () => (await inFile(file("two"))) === "after");
	await eventually(() => local.publication.files.state() === null);
	const lines = local.warnings.filter((warning) => warning.includes("rendered files"));
	assert.is(lines.length, 2, lines.join("\n"));
	assert.equal(local.reported, []);
	await rm(local.out, { recursive: true });
	assert.is((await local.put("three")).status, 201);
	await eventually(async () => (await inFile(file("one", "fr"))) === "one");
	await restart(async () => {
		await rm(local.out, { recursive: true });
		await writeFile(local.out, "in the way");
	});
	assert.is(status("one"), 200, "reads go on");
	assert.is((await local.put("three", wms("new"))).status, 201);
	await rm(local.out);
	await eventually(async () => (await inFile(file("three"))) === "new");
});

test("of keys that differ only in case the first by path is served, after any order and a restart", async () => {
	await push({ "layers/tw/twin.json": wms("small") });
	await eventually(() => status("twin") === 200);
	await push({ "layers/tw/TWIN.json": wms("capital"), "layers/on/ONE.json": "{}" });
	await eventually(() => status("TWIN") === 200);
	assert.match(local.warnings.join("\n"), "layers/tw/twin.json: smallkey: twin differs only in case");
	for (const change of [undefined, forget]) {
		assert.equal(served(), ["TWIN", "one"], "a wrong file in another case removes no layer");
		await restart(change);
	}
	assert.match(await (await local.put("twin", wms("other"))).text(), "TWIN");
	assert.is((await local.delete("TWIN")).status, 204);
	assert.equal(served(), ["one", "twin"]);
	await push({ "layers/tw/twin.json": null });
	await eventually(() => status("twin") === 404);
});

test("a push of thousands is served whole or not at all, and a start finds files that are missing", async () => {
	const keys = Array.from({ length: 1_200 }, (_, index) => `k${index % 10}-${index}`);
	const pathOf = (key: string) => `layers/${key.slice(0, 2).toLowerCase()}/${key}.json`;
	const files = Object.fromEntries(keys.map((key) => [pathOf(key), manual]));
	const sizes = new Set<number>();
	const pushing = push({ ...files, [pathOf("k0-0")]: "{", [pathOf("K0-10")]: manual });
	await eventually(() => {
		sizes.add(local.publication.table.size);
		return status("one") === 200 && status("k9-19") === 200;
	});
	await pushing;
	assert.equal([...sizes], [1, keys.length], "one file is wrong, and one differs only in case");
	assert.equal([status("K0-10"), status("k0-10"), status("k0-0")], [200, 404, 404]);
	await eventually(async () => (await inFile(file("k7-17", "fr"))) === "limits");
	await local.filesIdle();
	await restart(async () => {
		await rm(file("k7-17", "fr"));
		await writeFile(file("gone"), "{}");
		await writeFile(file("k8-18"), "spoilt");
	});
	await eventually(async () => (await inFile(file("k7-17", "fr"))) === "limits");
	await eventually(async () => (await inFile(file("gone"))) === null);
	await local.filesIdle();
	assert.is(await inFile(file("k8-18")), "", "after a clean end no file is read");
	await restart(asKilled);
	await eventually(async () => (await inFile(file("k8-18"))) === "limits");
});

test("a restart serves what was served, although what was kept is damaged or of other settings", async () => {
	await local.put("two", wms("two"));
	const before = local.get("/v0.9/docs/en/one,two");
	const damages: (() => Promise<void> | void)[] = [
		() => undefined,
		async () => truncate(kept(), (await stat(kept())).size - 10),
		async () => writeFile(kept(), (await readFile(kept(), "latin1")).replaceAll("one", "eno"), "latin1"),
		() => writeFile(kept(), ""),
	];
	for (const damage of damages) {
		await restart(damage);
		assert.equal(local.get("/v0.9/docs/en/one,two"), before, String(damage));
		// Something to keep.
		await local.put("three");
		await local.delete("three");
	}
	const modern = textOf(local.get("/v2/doc/en/one"));
	local.variables = { TARGETS: "v2" };
	await restart();
	assert.is(textOf(local.get("/v2/doc/en/one")), modern);
});

test("after a kill every file is compared, none goes back to an earlier state, and one that fails stops no other", async () => {
	await restart(() => copyFile(kept(), `${kept()}.old`));
	await local.put("one", wms("newer"));
	await local.put("two", wms("right"));
	await local.stop();
	const { ino, mtimeMs } = await stat(file("one"));
	await rename(`${kept()}.old`, kept());
	await asKilled();
	await writeFile(file("two"), "half a fragm");
	await writeFile(join(local.folder, ".dist.1.2.tmp"), "left");
	await mkdir(join(file("two", "fr.away"), "below"), { recursive: true });
	await rm(file("two", "fr"));
	await rename(file("two", "fr.away"), file("two", "fr"));
	await writeFile(file("gone"), "{}");
	await local.start();
	assert.is(read("one"), "newer");
	await eventually(async () => (await inFile(file("gone"))) === null);
	await eventually(() => /behind: EISDIR/.test(local.publication.files.state() ?? ""));
	await rm(file("two", "fr"), { recursive: true });
	await eventually(async () => (await inFile(file("two", "fr"))) === "right");
	assert.is(await inFile(file("two")), "right");
	assert.is(await inFile(join(local.folder, ".dist.1.2.tmp")), null);
	const after = await stat(file("one"));
	assert.equal([after.ino, after.mtimeMs], [ino, mtimeMs]);
});

test("a wrong file is served as it last was, also by a process that has nothing of it; what was removed stays so", async () => {
	await push({ "layers/on/one.json": '{"version":"1.0.0"}' });
	await eventually(() => local.warnings.some((warning) => warning.startsWith("layers/on/one.json: ")));
	assert.is(read("one"), "one");
	await restart(forget);
	await eventually(() => status("one") === 200);
	assert.is(read("one"), "one");
	await push({ "layers/on/one.json": null });
	await push({ "layers/on/one.json": "{}", "layers/tw/two.json": manual });
	await eventually(() => status("two") === 200);
	for (const change of [forget, undefined]) {
		await restart(change);
		await eventually(() => status("two") === 200);
	}
	assert.is(status("one"), 404);
});

test("an earlier valid text does not replace a layer that was corrected or removed meanwhile", async () => {
	await local.put("two", wms("earlier"));
	await push({ "layers/on/one.json": "{}", "layers/tw/two.json": "{}" });
	const wrong = await local.git("rev-parse", "main");
	await eventually(() => local.store.tip === wrong);
	await local.stop();
	await forget();
	// A git that waits before it looks through the history for earlier texts.
	const folder = join(local.folder, "bin");
	const [gate, log] = [join(folder, "gate"), join(folder, "waited")];
	const wait = `echo >> '${log}'; while [ -e '${gate}' ]; do sleep 0.02; done`;
	writeFiles(folder, { gate: "" });
	using _git = beforeGit(folder, [`case " $* " in *" --no-abbrev "*) ${wait} ;; esac`]);
	const waited = async () => (await readFile(log, "utf8").catch(() => "")).length;
	await local.start();
	await eventually(async () => (await waited()) === 1);
	local.now += 1_000;
	assert.is((await local.put("one", wms("corrected"))).status, 201);
	assert.is((await local.delete("two")).status, 204);
	await rm(gate);
	// The end of the service waits for the second search.
	await eventually(async () => (await waited()) === 2);
	await restart();
	assert.equal([read("one"), status("two")], ["corrected", 404]);
});

test.run();
