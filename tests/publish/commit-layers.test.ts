import { test } from "uvu";
import * as assert from "uvu/assert";
import { listTree } from "../../git/tree.ts";
import type { ReadSpellings, StoredLayer } from "../../publish/changes.ts";
import { commitLayers, streamLayers } from "../../publish/commit-layers.ts";
import { Repository, wmsFile } from "../review/repository.ts";

async function collect(read: ReturnType<ReadSpellings>): Promise<string[][]> {
	const found: StoredLayer[][] = [];
	for await (const some of read) found.push(...some);
	const line = ({ smallkey, file, description }: StoredLayer) =>
		`${smallkey} ${file?.kind} ${file?.bytes.length} ${description && Buffer.from(description.bytes)}`;
	return found.map((spellings) => spellings.map(line));
}

test("of a commit all spellings of the wanted smallkeys are read, with their descriptions, and no link", async () => {
	const text = wmsFile("rivers");
	const repository = new Repository({
		"layers/ab/abc.json": text,
		"layers/ab/ABC.json": { link: "abc.json" },
		"layers/ab/abc.service.json": "described",
		"layers/ab/abd.json": text,
		"layers/ab/orphan.service.json": "{}",
		"layers/ab/below/abe.json": text,
		"layers/23/23ax5t.json": text,
	});
	try {
		const commit = repository.git("rev-parse", "HEAD").trim();
		const read = commitLayers(repository.path, commit);
		const abc = ["ABC symlink 0 null", `abc file ${text.length} described`];
		assert.equal(await collect(read(new Set(["abc", "abe", "orphan", "zz"]))), [abc]);
		assert.equal(await collect(read(new Set())), []);
		const listed = await listTree(repository.path, commit, "layers/");
		const all = await collect(streamLayers(repository.path, listed));
		const plain = (smallkey: string) => [`${smallkey} file ${text.length} null`];
		assert.equal(all, [plain("23ax5t"), abc, plain("abd")]);
	} finally {
		repository.remove();
	}
});

test.run();
