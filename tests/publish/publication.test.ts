import {
	appendFile,
	copyFile,
	cp,
	mkdir,
	readFile,
	rename,
	rm,
	stat,
	truncate,
	writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as assert from "uvu/assert";
import { Clone } from "../helpers/clone.ts";
import { Local, manual, textOf, wms } from "../helpers/local.ts";
import { eventually } from "../helpers/wait.ts";
import { beforeGit, freshSuite, writeFiles } from "../helpers/world.ts";

const quick = { retryMs: 20, maxRetryMs: 50 };

let local: Local;
let clone: Clone;

const test = freshSuite("publication", async (use) => {
	local = use(await Local.open({ files: { "layers/on/one.json": wms("one") }, filesTimes: quick }));
	clone = use(await Clone.of(local.repository));
});

const status = (smallkey: string) => local.get(`/v0.9/doc/en/${smallkey}`).status;
const served = () => [...local.publication.table.smallkeys()].sort();
const file = (smallkey: string, lang = "en") => join(local.out, `v0.9/doc/${lang}/${smallkey}`);

async function layerNameIn(path: string): Promise<string | null> {
	const text = await readFile(path, "utf8").catch(() => null);
	return text === null ? null : (/"layerName":"([^"]*)"/.exec(text)?.[1] ?? "");
}

test("a change is in the files before it is answered, and so is a removal", async () => {
	assert.is((await local.put("two", wms("before"))).status, 201);
	assert.is((await local.put("two", wms("after"))).status, 201);
	for (const lang of ["en", "fr"]) assert.is(await layerNameIn(file("two", lang)), "after");
	assert.is((await local.delete("two")).status, 204);
	for (const lang of ["en", "fr"]) assert.is(await layerNameIn(file("two", lang)), null);
});

test("a compressed copy of a file goes with the file that it was made of", async () => {
	await local.put("two", wms("before"));
	await writeFile(join(local.out, ".compressed"), "");
	await writeFile(`${file("two")}.gz`, "compressed");
	await local.put("two", wms("after"));
	assert.is(await stat(`${file("two")}.gz`).catch(() => null), null);
});

test("files that cannot be written refuse nothing, are reported once, and are tried again", async () => {
	await local.put("two", wms("before"));
	await local.filesIdle();
	const folder = join(local.out, "v0.9/doc/en");
	await rename(folder, join(local.folder, "away"));
	await writeFile(folder, "in the way");
	for (const layer of ["during", "after"]) {
		const answer = await local.put("two", wms(layer));
		assert.is(answer.status, 201);
		const receipt = (await answer.json()) as { published: boolean; warnings: string[] };
		assert.is(receipt.published, true);
		assert.match(receipt.warnings.join(), "the files of the web server");
		assert.match(textOf(local.get("/v0.9/doc/en/two")), `"layerName":"${layer}"`);
	}
	assert.match(local.publication.files.state() ?? "", "ENOTDIR");
	await rm(folder);
	await eventually(async () => (await layerNameIn(file("two"))) === "after");
	await eventually(() => local.publication.files.state() === null);
	const said = local.warnings.filter((warning) => warning.includes("rendered files"));
	assert.is(said.length, 2, said.join("\n"));
	assert.equal(local.reported, []);
});

test("while a retry is under way, the files are not said to be current", async () => {
	const local = await Local.open({ filesTimes: { retryMs: 1, maxRetryMs: 1 } });
	const folder = join(local.out, "v0.9/doc/en");
	try {
		await local.filesIdle();
		await rename(folder, join(local.folder, "away"));
		await writeFile(folder, "in the way");
		for (let index = 0; index < 20; index += 1)
			assert.is((await local.put("one", wms(`n${index}`))).status, 201);
		const said = local.warnings.filter((warning) => warning.includes("rendered files"));
		assert.is(said.length, 1, said.join("\n"));
	} finally {
		await rm(folder);
		await local.end();
	}
});

test("a folder of files that was removed is made again, with all that was in it", async () => {
	await local.filesIdle();
	await rm(local.out, { recursive: true });
	assert.is((await local.put("two")).status, 201);
	await eventually(async () => (await layerNameIn(file("one", "fr"))) === "one");
	assert.is(await layerNameIn(file("two")), "limits");
});

test("of keys that differ only in case the first by path is served, after any order", async () => {
	await clone.commit({ "layers/tw/twin.json": wms("small") });
	assert.ok(await clone.push());
	await eventually(() => status("twin") === 200);
	await clone.commit({ "layers/tw/TWIN.json": wms("capital"), "layers/tw/Twin.json": wms("mixed") });
	assert.ok(await clone.push());
	await eventually(() => status("TWIN") === 200);
	assert.equal(served(), ["TWIN", "one"]);
	assert.match(local.warnings.join("\n"), "layers/tw/twin.json: smallkey: twin differs only in case");
	assert.is((await local.delete("TWIN")).status, 204);
	assert.equal(served(), ["Twin", "one"]);
	await clone.git("pull", "-q", "--rebase");
	await clone.commit({ "layers/tw/twin.json": null, "layers/tw/Twin.json": null });
	assert.ok(await clone.push());
	await eventually(() => status("Twin") === 404);
	assert.equal(served(), ["one"]);
});

test("a twin that is stored is served once the other goes, after a restart too", async () => {
	await clone.commit({ "layers/tw/twin.json": wms("small"), "layers/tw/TWIN.json": wms("capital") });
	assert.ok(await clone.push());
	await eventually(() => status("TWIN") === 200);
	for (const forget of [false, true]) {
		await local.stop();
		if (forget) await rm(join(local.folder, "fragments"));
		await local.start();
		assert.equal(served(), ["TWIN", "one"]);
	}
	const refused = await local.put("twin", wms("other"));
	assert.is(refused.status, 409);
	assert.match(await refused.text(), "TWIN");
	assert.is((await local.delete("TWIN")).status, 204);
	assert.equal(served(), ["one", "twin"]);
	local.now += 1000;
	assert.is((await local.put("twin", wms("other"))).status, 201);
	assert.match(textOf(local.get("/v0.9/doc/en/twin")), '"layerName":"other"');
});

test("a wrong file of the same key in another case removes no layer", async () => {
	await clone.commit({ "layers/on/ONE.json": "{}" });
	assert.ok(await clone.push());
	await eventually(() => local.warnings.some((warning) => warning.includes("layers/on/ONE.json")));
	assert.equal(served(), ["one"]);
});

test("a push of thousands is served whole or not at all, and reads go on meanwhile", async () => {
	const count = 1_200;
	const files = Array.from({ length: count }, (_, index) => [
		`layers/k${index % 10}/k${index % 10}-${index}.json`,
		manual,
	]);
	await clone.commit({
		...Object.fromEntries(files),
		"layers/k0/k0-0.json": "{",
		"layers/k0/K0-10.json": manual,
	});
	const seen = new Set<number>();
	let isOver = false;
	const watch = (async () => {
		while (!isOver) {
			seen.add(local.publication.table.size);
			assert.is(status("one"), 200);
			// Often, and yet without keeping a processor from the push.
			await sleep(1);
		}
	})();
	assert.ok(await clone.push());
	await eventually(() => status("k9-19") === 200);
	isOver = true;
	await watch;
	// One file is wrong, and one differs from another only in case.
	assert.equal(
		[...seen, local.publication.table.size]
			.sort((a, b) => a - b)
			.filter((size, index, all) => size !== all[index - 1]),
		[1, count],
	);
	assert.is(status("K0-10"), 200);
	assert.is(status("k0-10"), 404);
	assert.match(local.warnings.join("\n"), "layers/k0/k0-0.json: ");
	assert.is((await local.put("k1-1", wms("changed"))).status, 201);
	await local.filesIdle();
	await eventually(async () => (await layerNameIn(file("k9-19", "fr"))) === "limits");
	await eventually(async () => (await layerNameIn(file("k1-1"))) === "changed");
	const all = Object.fromEntries(files.map(([path]) => [path as string, null]));
	await clone.git("pull", "-q", "--rebase");
	await clone.commit({ ...all, "layers/k0/K0-10.json": null });
	assert.ok(await clone.push());
	await eventually(() => local.publication.table.size === 1);
	await local.filesIdle();
	await eventually(async () => (await layerNameIn(file("k9-19"))) === null);
	assert.equal(served(), ["one"]);
});

test("what was served is served again after a restart, without a look at any layer", async () => {
	await local.put("two", wms("two"));
	const before = local.get("/v0.9/docs/en/one,two");
	await local.stop();
	await local.start();
	assert.equal(local.get("/v0.9/docs/en/one,two"), before);
});

test("incomplete kept files are not used at a start", async () => {
	const path = join(local.folder, "fragments");
	const damages: [string, () => Promise<void>][] = [
		["cut", async () => truncate(path, (await stat(path)).size - 10)],
		["longer", () => appendFile(path, "more")],
		[
			"other bytes",
			async () => writeFile(path, (await readFile(path, "latin1")).replaceAll("one", "eno"), "latin1"),
		],
		["empty", () => writeFile(path, "")],
	];
	for (const [what, damage] of damages) {
		await local.stop();
		await damage();
		await local.start();
		assert.equal(served(), ["one"], what);
		assert.match(textOf(local.get("/v0.9/doc/en/one")), '"layerName":"one"', what);
		await local.put(`after-${what.replace(" ", "-")}`);
		await local.delete(`after-${what.replace(" ", "-")}`);
	}
});

test("what was served with other settings is rendered again", async () => {
	const before = textOf(local.get("/v2/doc/en/one"));
	await local.stop();
	local.variables = { TARGETS: "v2" };
	await local.start();
	assert.is(textOf(local.get("/v2/doc/en/one")), before);
});

test("layers that the repository does not have any more are not served", async () => {
	await local.put("two");
	await local.stop();
	await rm(local.repository, { recursive: true });
	// As the refusal of such a start advises.
	await rm(join(local.folder, "fragments"));
	await local.start({ "layers/ot/other.json": manual });
	assert.equal(served(), ["other"]);
	await local.filesIdle();
	assert.is(await layerNameIn(file("two")), null);
});

test("layers of an older copy of the repository are served as they are there", async () => {
	const copy = join(local.folder, "copy.git");
	await cp(local.repository, copy, { recursive: true });
	await local.put("two");
	await local.stop();
	await rm(local.repository, { recursive: true });
	await rename(copy, local.repository);
	await local.start();
	assert.equal(served(), ["one"]);
});

test("after a kill the files never go back to what an earlier process kept", async () => {
	await local.stop();
	const kept = join(local.folder, "fragments");
	await copyFile(kept, `${kept}.old`);
	await local.start();
	await local.put("one", wms("newer"));
	await local.stop();
	// As a killed process leaves it: what is kept is older than the files, and no mark says that it ended.
	await rename(`${kept}.old`, kept);
	await rm(`${kept}.ended`);
	const { ino, mtimeMs } = await stat(file("one"));
	await local.start();
	assert.match(textOf(local.get("/v0.9/doc/en/one")), '"layerName":"newer"');
	await local.filesIdle();
	const after = await stat(file("one"));
	assert.equal([after.ino, after.mtimeMs], [ino, mtimeMs]);
});

test("a start after a kill compares every file; a start after a clean end compares their number", async () => {
	const kept = join(local.folder, "fragments");
	await local.stop();
	await copyFile(kept, `${kept}.old`);
	await local.start();
	await local.put("two", wms("right"));
	await local.stop();
	// As a killed process leaves it: what is kept is older than the files.
	await rename(`${kept}.old`, kept);
	await rm(`${kept}.ended`);
	await writeFile(file("two"), "half a fragm");
	await writeFile(join(local.folder, ".dist.1.2.tmp"), "left");
	await local.start();
	await eventually(async () => (await layerNameIn(file("two"))) === "right");
	await eventually(() => local.warnings.some((warning) => warning.endsWith("and are written again")));
	assert.is(await stat(join(local.folder, ".dist.1.2.tmp")).catch(() => null), null);
	await local.filesIdle();
	await local.stop();
	await rm(file("two", "fr"));
	await local.start();
	await eventually(async () => (await layerNameIn(file("two", "fr"))) === "right");
});

test("files of removed layers are removed although another file can never be written", async () => {
	await local.put("two");
	await local.stop();
	await rm(file("one"));
	await mkdir(join(file("one"), "below"), { recursive: true });
	await writeFile(file("gone"), "{}");
	await rm(join(local.folder, "fragments.ended"));
	await local.start();
	await eventually(async () => (await layerNameIn(file("gone"))) === null);
	// The thread has removed the file, and its report of the other one may still be on its way.
	await eventually(() => /behind: EISDIR/.test(local.publication.files.state() ?? ""));
	await rm(file("one"), { recursive: true });
	await eventually(() => local.publication.files.state() === null);
	assert.is(await layerNameIn(file("one")), "one");
});

test("after an end the number of files of each of many layers is compared", async () => {
	const keys = Array.from({ length: 1_200 }, (_, index) => `k${index % 10}-${index}`);
	await clone.commit(
		Object.fromEntries(keys.map((key) => [`layers/${key.slice(0, 2)}/${key}.json`, manual])),
	);
	assert.ok(await clone.push());
	// Layers are served before their files are begun.
	await eventually(async () => (await layerNameIn(file("k7-17", "fr"))) === "limits");
	await local.filesIdle();
	await local.stop();
	await rm(file("k7-17", "fr"));
	await writeFile(file("gone"), "{}");
	await writeFile(file("k8-18"), "spoilt");
	await local.start();
	await eventually(async () => (await layerNameIn(file("k7-17", "fr"))) === "limits");
	await eventually(async () => (await layerNameIn(file("gone"))) === null);
	await local.filesIdle();
	assert.is(await layerNameIn(file("k8-18")), "", "no file is read");
	assert.match(local.warnings.join("\n"), "the rendered files of 1 layer were missing");
	await local.stop();
	await rm(join(local.folder, "fragments.ended"));
	await local.start();
	assert.match(
		local.publication.files.state() ?? "",
		"a large change",
		"after a kill, until all are compared",
	);
	await eventually(() => local.publication.files.state() === null);
	assert.is(await layerNameIn(file("k8-18")), "limits");
});

test("a start serves reads although the rendered files cannot be written", async () => {
	await local.stop();
	await rm(local.out, { recursive: true });
	await writeFile(local.out, "in the way");
	await local.start();
	assert.is(status("one"), 200);
	assert.is((await local.put("two")).status, 201);
	assert.is(status("two"), 200);
	assert.match(local.publication.files.state() ?? "", /behind/);
	await rm(local.out);
	await eventually(async () => (await layerNameIn(file("two"))) === "limits");
});

test("a wrong file is served as it last was, also by a process that has nothing of it", async () => {
	await clone.commit({ "layers/on/one.json": '{"version":"1.0.0"}' });
	assert.ok(await clone.push());
	await eventually(() => local.warnings.some((warning) => warning.startsWith("layers/on/one.json: ")));
	assert.match(textOf(local.get("/v0.9/doc/en/one")), '"layerName":"one"');
	await local.stop();
	await rm(join(local.folder, "fragments"));
	await local.start();
	await eventually(() => status("one") === 200);
	assert.match(textOf(local.get("/v0.9/doc/en/one")), '"layerName":"one"');
	// What was removed in between stays removed.
	await clone.commit({ "layers/on/one.json": null });
	await clone.commit({ "layers/on/one.json": "{}", "layers/tw/two.json": manual });
	assert.ok(await clone.push());
	await eventually(() => status("two") === 200);
	await local.stop();
	await rm(join(local.folder, "fragments"));
	await local.start();
	await eventually(() => status("two") === 200);
	await local.stop();
	await local.start();
	assert.is(status("one"), 404);
});

/** A git that waits before it looks through the history for earlier texts, until `open` is called. */
function gatedGit(folder: string) {
	const [gate, log] = [join(folder, "gate"), join(folder, "waited")];
	const wait = `echo >> '${log}'; while [ -e '${gate}' ]; do sleep 0.02; done`;
	writeFiles(folder, { gate: "" });
	return {
		...beforeGit(folder, [`case " $* " in *" --no-abbrev "*) ${wait} ;; esac`]),
		waited: async () => (await readFile(log, "utf8").catch(() => "")).length,
		open: () => rm(gate),
	};
}

test("an earlier valid text does not replace a layer that was corrected or removed meanwhile", async () => {
	await local.put("two", wms("earlier"));
	await clone.git("pull", "-q");
	await clone.commit({ "layers/on/one.json": "{}", "layers/tw/two.json": "{}" });
	assert.ok(await clone.push());
	const wrong = await clone.git("rev-parse", "HEAD");
	await eventually(() => local.store.tip === wrong);
	await local.stop();
	await rm(join(local.folder, "fragments"));
	using git = gatedGit(join(local.folder, "bin"));
	await local.start();
	await eventually(async () => (await git.waited()) === 1);
	local.now += 1_000;
	assert.is((await local.put("one", wms("corrected"))).status, 201);
	assert.is((await local.delete("two")).status, 204);
	await git.open();
	// The second look-up begins when the first layer is done with, and an end waits for the second.
	await eventually(async () => (await git.waited()) === 2);
	await local.stop();
	for (const isAgain of [false, true]) {
		if (isAgain) await local.start();
		assert.match(textOf(local.get("/v0.9/doc/en/one")), '"layerName":"corrected"');
		assert.is(status("two"), 404);
	}
});

test.run();
