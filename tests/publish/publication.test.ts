import { execFileSync } from "node:child_process";
import files, { mkdir, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import * as assert from "uvu/assert";
import { FileWriter } from "../../publish/file-writer.ts";
import type { FragmentFolder } from "../../publish/place-file.ts";
import { runGit } from "../../store/git/commands/run.ts";
import { Local, manual, textOf, wms } from "../helpers/local.ts";
import { eventually, gate as makeGate } from "../helpers/wait.ts";
import { answering, freshSuite, writeFiles } from "../helpers/world.ts";
import { logTo } from "../store/git-store.ts";
import { replaceGit } from "../store/other-git.ts";

let local: Local;

const test = freshSuite("publication", async (use) => {
	local = use(await Local.open({ files: { "layers/on/one.json": wms("one") }, filesRetryMs: 20 }));
});

const status = async (smallkey: string) => (await local.get(`/v0.9/doc/en/${smallkey}`)).status;
const layerIn = (text: string) => /"layerName":"([^"]*)"/.exec(text)?.[1] ?? "";
const read = async (smallkey: string) => layerIn(textOf(await local.get(`/v0.9/doc/en/${smallkey}`)));
const served = () => [...local.publication.files.layers.keys()].sort();
const file = (smallkey: string, lang = "en") => join(local.out, `v0.9/doc/${lang}/${smallkey}`);
const manifest = () => join(local.folder, "dist.served");

/** The layer's name; null without a file. */
async function inFile(path: string): Promise<string | null> {
	return readFile(path, "utf8").then(layerIn, () => null);
}

/** Without the hook; null removes a file. */
async function push(files: Record<string, string | null>): Promise<void> {
	const edits = Object.entries(files).map(([path, text]) =>
		text === null ? `D ${path}\n` : `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`,
	);
	const head =
		"commit refs/heads/main\ncommitter a <a@b.example> 1772625600 +0000\ndata 1\nx\nfrom refs/heads/main^0\n";
	await runGit(local.repository, ["fast-import", "--quiet"], { input: head + edits.join("") });
}

async function restart(change: () => unknown = () => undefined): Promise<void> {
	await local.stop();
	await change();
	await local.start();
}

const forget = () => rm(manifest());
const asKilled = async () =>
	writeFile(manifest(), (await readFile(manifest(), "utf8")).replace('"isOpen":false', '"isOpen":true'));

test("a change is in the files before it is answered, and so is a removal; a compressed copy goes with its file", async () => {
	assert.is((await local.put("two", wms("old"))).status, 201);
	await writeFile(`${file("two")}.gz`, "compressed");
	assert.is(await read("two"), "old");
	assert.is((await local.put("two", wms("new"))).status, 201);
	for (const lang of ["en", "fr"]) assert.is(await inFile(file("two", lang)), "new");
	assert.is(await inFile(`${file("two")}.gz`), null);
	assert.is(await read("two"), "new", "what is in memory goes with its file");
	assert.is((await local.delete("two")).status, 204);
	for (const lang of ["en", "fr"]) assert.is(await inFile(file("two", lang)), null);
	assert.is(await status("two"), 404);
});

test("a file that is missing or empty is rendered when it is read, and written again", async () => {
	await local.filesIdle();
	for (const spoil of [rm, (path: string) => writeFile(path, "")]) {
		await restart(() => spoil(file("one")));
		assert.is(await read("one"), "one");
		await local.filesIdle();
		assert.is(await inFile(file("one")), "one");
	}
	await writeFile(file("none"), manual);
	assert.is(await status("none"), 404, "a key that is not registered is not looked for");
	await rm(local.out, { recursive: true });
	assert.is((await local.put("three")).status, 201);
	await local.filesIdle();
	assert.is(await inFile(file("one", "fr")), "one", "a change finds that all files are gone");
});

test("a start that fails leaves the files as a normal end does", async () => {
	await using holder = await answering();
	await local.filesIdle();
	local.variables = { METRICS_PORT: String(holder.port) };
	assert.match(await restart().then(String, String), "METRICS_PORT");
	assert.match(await readFile(manifest(), "utf8"), '"isOpen":false');
	local.variables = {};
	await local.start();
});

test("a start notes that it writes files before it ends, and removes the note of a build", async () => {
	await local.filesIdle();
	const [open, note] = [await readFile(manifest(), "utf8"), join(local.folder, "dist.manifest")];
	await writeFile(manifest(), open.replace('"isOpen":true', '"isOpen":false'));
	await writeFile(note, "{}");
	using _ = { [Symbol.dispose]: () => Object.assign(files, { rename }) };
	const late = async (...paths: [string, string]) => {
		for (let turn = 0; turn < 5_000; turn += 1) await nextTurn();
		await rename(...paths);
	};
	Object.assign(files, { rename: late });
	await local.publication.begin(local.store.branch);
	assert.equal([await readFile(manifest(), "utf8"), await inFile(note)], [open, null]);
});

test("while a file cannot be read, all others are, and the service is well", async () => {
	await local.put("two", wms("two"));
	// A pipe: its reader waits, as for a disk that does not answer.
	await restart(async () => {
		await rm(file("one"));
		execFileSync("mkfifo", [file("one")]);
	});
	const waiting = read("one");
	assert.equal([await status("two"), (await local.get("/healthz")).status], [200, 200]);
	await writeFile(file("one"), '{"layerName":"late"}');
	assert.is(await waiting, "late");
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
		assert.equal([answer.status, receipt.published], [201, false]);
		assert.match(receipt.warnings.join(), "the files of the web server");
		assert.is(await read("two"), layer, "reads go on");
	}
	assert.match(local.publication.files.state() ?? "", "ENOTDIR");
	await rm(folder);
	await eventually(async () => (await inFile(file("two"))) === "after");
	await eventually(() => local.publication.files.state() === null);
	const lines = local.warnings.filter((warning) => warning.includes("rendered files"));
	assert.is(lines.length, 2, lines.join("\n"));
	assert.equal(local.reported, []);
	const aside = join(local.folder, "aside");
	await rename(folder, aside);
	await writeFile(folder, "in the way");
	await local.put("two", wms("last"));
	await restart(async () => {
		await rm(folder);
		await rename(aside, folder);
	});
	assert.is(await read("two"), "last", "a start knows that files are behind");
	await restart(async () => {
		await rm(local.out, { recursive: true });
		await writeFile(local.out, "in the way");
	});
	assert.is(await status("one"), 200);
	assert.is((await local.put("three", wms("new"))).status, 201);
	await rm(local.out);
	await eventually(async () => (await inFile(file("three"))) === "new");
});

test("of keys that differ only in case the first by path is served, after any order and a restart", async () => {
	await push({ "layers/tw/twin.json": wms("small") });
	await eventually(async () => (await status("twin")) === 200);
	await push({ "layers/tw/TWIN.json": wms("capital"), "layers/on/ONE.json": "{}" });
	await eventually(async () => (await status("TWIN")) === 200);
	const warning = "layers/tw/twin.json: smallkey: twin differs only in case";
	await eventually(() => local.warnings.some((line) => line.startsWith(warning)));
	for (const change of [undefined, forget]) {
		await local.filesIdle();
		// A wrong file in another case removes no layer.
		await eventually(() => served().join() === "TWIN,one");
		await restart(change);
		assert.equal([await status("TWIN"), await status("twin"), await status("ONE")], [200, 404, 404]);
	}
	assert.match(await (await local.put("twin", wms("other"))).text(), "TWIN");
	assert.is((await local.delete("TWIN")).status, 204);
	await local.filesIdle();
	assert.equal(served(), ["one", "twin"]);
	await push({ "layers/tw/twin.json": null });
	await eventually(async () => (await status("twin")) === 404);
});

test("a push of thousands can be read before its files are written, and a start compares them only after a kill", async () => {
	const keys = Array.from({ length: 1_200 }, (_, index) => `k${index % 10}-${index}`);
	const pathOf = (key: string) => `layers/${key.slice(0, 2).toLowerCase()}/${key}.json`;
	const files = Object.fromEntries(keys.map((key) => [pathOf(key), manual]));
	await push({ ...files, [pathOf("k0-0")]: "{", [pathOf("K0-10")]: manual, "layers/on/one.json": null });
	await eventually(() => local.store.tip !== "" && local.publication.has("k9-19"));
	assert.ok(local.publication.files.behind > 0, "the files follow");
	assert.match(local.context.readiness() ?? "", "a large change");
	assert.equal([await status("k9-1199"), await status("one")], [200, 404]);
	assert.is((await local.put("k9-19", wms("newer"))).status, 201);
	assert.is(await inFile(file("k9-19")), "newer", "a PUT does not wait for the others");
	assert.equal(await Promise.all(["K0-10", "k0-10", "k0-0"].map(status)), [200, 404, 404]);
	await local.filesIdle();
	assert.equal([await inFile(file("k9-19")), await inFile(file("k7-17", "fr"))], ["newer", "limits"]);
	assert.equal([await inFile(file("one")), served().length, local.context.readiness()], [null, 1_199, null]);
	await restart(async () => {
		await writeFile(file("gone"), "{}");
		await writeFile(file("k8-18"), "spoilt");
	});
	await local.filesIdle();
	assert.is(await inFile(file("k8-18")), "", "after a clean end no file is read");
	await restart(asKilled);
	assert.is(await read("k8-18"), "limits", "a file that is not compared yet is not served");
	await local.filesIdle();
	assert.equal([await inFile(file("k8-18")), await inFile(file("gone"))], ["limits", null]);
});

function openWriter(place: (smallkey: string) => void, render: FileWriter["options"]["render"]) {
	const folder = { isMissing: () => false, place } as unknown as FragmentFolder;
	return new FileWriter(folder, { render, drop: () => undefined, log: logTo([]), retryMs: 1 });
}

const ranked = (smallkey: string, rank: number) => new Map([[smallkey, { fragments: [], rank }]]);

test("a layer that changes while it is written is written again", async () => {
	const [held, release] = makeGate();
	let rank = 0;
	const files = openWriter(
		() => undefined,
		async (smallkey) => {
			const early = ranked(smallkey, ++rank);
			await held;
			return early;
		},
	);
	files.mark(["a"]);
	await eventually(() => rank === 1);
	const change = files.write(["a"]);
	release();
	assert.is(await change, true);
	assert.equal([files.layers.get("a"), files.isStale("a")], [2, false]);
});

test("a change waits for one layer of a push, and layers that fail stop no other", async () => {
	const placed: string[] = [];
	const place = (smallkey: string) => {
		if (smallkey.startsWith("bad")) throw new Error("disk");
		placed.push(smallkey);
	};
	const files = openWriter(place, async (smallkey) => ranked(smallkey, 1));
	files.mark(["a", "b", "c"]);
	assert.is(await files.write(["changed", "bad"]), false);
	assert.equal(placed, ["a", "changed"]);
	files.mark([...Array.from({ length: 9 }, (_, index) => `bad${index}`), "last"]);
	await eventually(() => placed.includes("last"));
	assert.equal([files.behind, files.layers.has("c")], [10, true]);
	await files.close();
});

test("the files in the background end before git does, so that an end is no failure", async () => {
	const { store, publication } = local;
	const { files } = publication;
	const [held, release] = makeGate();
	files.options.render = () => held.then(() => new Map());
	const [closeFiles, closeStore] = [files.close.bind(files), store.close.bind(store)];
	files.close = () => {
		const closing = closeFiles();
		release();
		return closing;
	};
	let isWorking = true;
	store.close = () => {
		isWorking = files.working !== null;
		return closeStore();
	};
	files.compareAll();
	assert.ok(files.working);
	await restart();
	assert.is(isWorking, false);
});

test("a restart serves what was served, although the manifest is damaged or the files are of other settings", async () => {
	await local.put("two", wms("two"));
	const before = await local.get("/v0.9/docs/en/one,two");
	const damages: (() => Promise<void> | void)[] = [
		() => undefined,
		async () => truncate(manifest(), (await stat(manifest())).size - 10),
		() => writeFile(manifest(), ""),
	];
	for (const damage of damages) {
		await restart(damage);
		assert.equal(await local.get("/v0.9/docs/en/one,two"), before, String(damage));
	}
	await local.put("modern", JSON.stringify({ ...JSON.parse(manual), version: "1.1.0" }));
	local.variables = { METADATA_URL: "https://metadata.example/{0}", TARGETS: "v2" };
	await restart();
	assert.is(await status("one"), 404);
	assert.is((await local.get("/v2/doc/en/one")).status, 200);
	await local.filesIdle();
	assert.equal([await inFile(file("one")), served()], [null, ["modern", "one", "two"]]);
});

test("after a kill every file is compared, none goes back to an earlier state, and one that fails stops no other", async () => {
	await local.put("one", wms("newer"));
	await local.put("two", wms("right"));
	await local.stop();
	const { ino, mtimeMs } = await stat(file("one"));
	await asKilled();
	await writeFile(file("two"), "half a fragm");
	await writeFile(join(local.folder, ".dist.1.2.tmp"), "left");
	await mkdir(join(file("two", "fr.away"), "below"), { recursive: true });
	await rm(file("two", "fr"));
	await rename(file("two", "fr.away"), file("two", "fr"));
	for (const name of ["gone", "no key", "lost.gz"]) await writeFile(file(name), "{}");
	await local.start();
	assert.equal([await read("one"), await read("two")], ["newer", "right"]);
	await eventually(async () => (await inFile(file("gone"))) === null);
	await eventually(() => /behind: EISDIR/.test(local.publication.files.state() ?? ""));
	await rm(file("two", "fr"), { recursive: true });
	await eventually(async () => (await inFile(file("two", "fr"))) === "right");
	assert.is(await inFile(file("two")), "right");
	assert.is(await inFile(join(local.folder, ".dist.1.2.tmp")), null);
	for (const name of ["no key", "lost.gz"]) assert.is(await inFile(file(name)), null, name);
	const after = await stat(file("one"));
	assert.equal([after.ino, after.mtimeMs], [ino, mtimeMs]);
});

test("a wrong file is served as it last was, also by a process that has nothing of it; what was removed stays so", async () => {
	await push({ "layers/on/one.json": '{"version":"1.0.0"}' });
	await eventually(() => local.warnings.some((warning) => warning.startsWith("layers/on/one.json: ")));
	assert.is(await read("one"), "one");
	await restart(forget);
	assert.is(await read("one"), "one");
	await push({ "layers/on/one.json": null });
	await push({ "layers/on/one.json": "{}", "layers/tw/two.json": manual });
	await eventually(async () => (await status("two")) === 200);
	for (const change of [forget, undefined]) {
		await restart(change);
		assert.equal([await status("two"), await status("one")], [200, 404]);
		await local.filesIdle();
		assert.equal(served(), ["two"]);
	}
});

test("an earlier valid text does not replace a layer that was corrected or removed meanwhile", async () => {
	await local.put("two", wms("earlier"));
	await push({ "layers/on/one.json": "{}", "layers/tw/two.json": "{}" });
	const wrong = await local.git("rev-parse", "main");
	await eventually(() => local.store.tip === wrong);
	await local.stop();
	await forget();
	// A git that waits before it reads the history.
	const folder = join(local.folder, "bin");
	const [gate, log] = [join(folder, "gate"), join(folder, "waited")];
	const wait = `echo >> '${log}'; while [ -e '${gate}' ]; do sleep 0.02; done`;
	writeFiles(folder, { gate: "" });
	const script = `case " $* " in *" --no-abbrev "*) ${wait} ;; esac\nexec "$git" "$@"`;
	using _git = replaceGit(folder, script);
	const waited = async () => (await readFile(log, "utf8").catch(() => "")).length;
	await local.start();
	await eventually(async () => (await waited()) > 0);
	local.now += 1_000;
	const changes = Promise.all([local.put("one", wms("corrected")), local.delete("two")]);
	await rm(gate);
	assert.equal(
		(await changes).map(({ status }) => status),
		[201, 204],
	);
	await local.filesIdle();
	assert.equal([await read("one"), await status("two")], ["corrected", 404]);
	assert.equal([await inFile(file("one")), await inFile(file("two"))], ["corrected", null]);
});

test.run();
