import { basename } from "node:path";
import * as assert from "uvu/assert";
import { commitLayers } from "../../publish/changes.ts";
import { listTree } from "../../system/git/tree.ts";
import { test } from "../helpers/suite.ts";
import { Repository } from "../helpers/world.ts";
import { wmsFile } from "../review/repository.ts";

async function collect(read: ReturnType<ReturnType<typeof commitLayers>>): Promise<string[][]> {
	const found: string[][] = [];
	for await (const some of read) {
		for (const spellings of some) {
			found.push(
				spellings.map(({ path, kind, bytes }) =>
					`${basename(path, ".json")} ${kind} ${Buffer.from(bytes)}`.trimEnd(),
				),
			);
		}
	}
	return found;
}

test("reading smallkeys from a commit gives all their spellings in case, with descriptions, and no link", async () => {
	const text = wmsFile("rivers");
	using repository = new Repository({
		"layers/ab/abc.json": text,
		"layers/ab/ABC.json": { link: "abc.json" },
		"layers/ab/abc.service.json": "described",
		"layers/ab/abd.json": text,
		"layers/ab/orphan.service.json": "{}",
		"layers/ab/below/abe.json": text,
		"layers/23/23ax5t.json": text,
	});
	const commit = repository.git("rev-parse", "HEAD").trim();
	const read = commitLayers(repository.path, commit);
	const abc = ["ABC symlink", `abc file ${text.trimEnd()}`, "abc.service file described"];
	assert.equal(await collect(read(new Set(["abc", "abe", "orphan", "zz"]))), [abc]);
	assert.equal(await collect(read(new Set())), []);
	const listed = await listTree(repository.path, commit, "layers/");
	const everyKey = new Set(["23ax5t", "abc", "abd"]);
	const all = await collect(commitLayers(repository.path, commit, listed)(everyKey));
	const plain = (smallkey: string) => [`${smallkey} file ${text.trimEnd()}`];
	assert.equal(all, [plain("23ax5t"), abc, plain("abd")]);
});

test.run();
