import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { pageHeaders } from "../../api/site-headers.ts";
import { proofsFile } from "../../catalogue/thumbnails.ts";
import type { Chunk, Manifest } from "../../registry/entries.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { buildOutput } from "../../scripts/host/output.ts";
import { wms } from "../helpers/local.ts";
import { freshSuite, temporaryFolder, writeFiles } from "../helpers/world.ts";

const test = freshSuite("thumbnails in the catalogue", async (use) => {
	const { path } = use(await temporaryFolder());
	writeFiles(path, { [layerPath("ab")]: wms("ab"), [layerPath("c+d")]: wms("c+d") });
	return { folder: path };
});

/** Writes a proof of each layer with a picture of its own. */
async function prove(folder: string, pictures: Record<string, string>): Promise<void> {
	const layers = Object.fromEntries(
		Object.entries(pictures).map(([smallkey, hash]) => {
			return [
				smallkey,
				{ day: "2026-03-04", langs: {}, picture: `${smallkey.slice(0, 2)}/${smallkey}.${hash}.webp` },
			];
		}),
	);
	const files = Object.values(layers).map(({ picture }) => [picture, picture]);
	const proofs = { [proofsFile]: JSON.stringify({ version: 1, layers }) };
	writeFiles(join(folder, "pictures"), { ...Object.fromEntries(files), ...proofs });
}

/** Builds the catalogue. @returns the thumbnail of each layer that has one, and the files of pictures */
async function build(folder: string) {
	const out = join(folder, "dist");
	const built = await buildOutput({ folder: join(folder, "layers") }, out, {
		PICTURES: join(folder, "pictures"),
	});
	assert.equal(built.problems, []);
	const manifest: Manifest = JSON.parse(await readFile(join(out, "index/index.json"), "utf8"));
	const paths = manifest.chunks.filter((path) => path !== null);
	const chunks = await Promise.all(
		paths.map(async (path): Promise<Chunk> => JSON.parse(await readFile(join(out, path), "utf8"))),
	);
	const entries = chunks.flatMap((chunk) => chunk.entries);
	const files = await readdir(join(out, "assets/pictures"), { recursive: true }).catch(() => []);
	return {
		thumbnails: Object.fromEntries(
			entries.flatMap(({ smallkey, thumbnail }) => (thumbnail ? [[smallkey, thumbnail]] : [])),
		),
		files: files.filter((name) => name.endsWith(".webp")).sort(),
		page: await readFile(join(out, "en/layer/ab.html"), "utf8").catch(() => ""),
	};
}

test("a layer with a picture has a thumbnail, and others have none", async ({ folder }) => {
	assert.equal((await build(folder)).thumbnails, {});
	await prove(folder, { ab: "0123456789ab", "c+d": "aa23456789ab", gone: "bb23456789ab" });
	const { thumbnails, files, page } = await build(folder);
	assert.equal(thumbnails, {
		ab: "assets/pictures/01/23456789ab.webp",
		"c+d": "assets/pictures/aa/23456789ab.webp",
	});
	assert.equal(files, ["01/23456789ab.webp", "aa/23456789ab.webp"], "not that of a layer that is gone");
	assert.match(page, 'src="../../assets/pictures/01/23456789ab.webp" alt="" width="240" height="240"');
	const headers = pageHeaders("assets/pictures/01/23456789ab.webp", true);
	assert.is(headers["Content-Type"], "image/webp");
	assert.match(headers["Cache-Control"] ?? "", "immutable");
});

test("another picture replaces the first, and without proofs there are none", async ({ folder }) => {
	await prove(folder, { ab: "0123456789ab" });
	await build(folder);
	await prove(folder, { ab: "ff23456789ab" });
	assert.equal((await build(folder)).files, ["ff/23456789ab.webp"]);
	await rm(join(folder, "pictures"), { recursive: true });
	assert.equal(await build(folder).then(({ thumbnails, files }) => [thumbnails, files]), [{}, []]);
});

test("a file of proofs that is not whole, or names other files, gives no thumbnail", async ({ folder }) => {
	const write = (text: string) => writeFiles(join(folder, "pictures"), { [proofsFile]: text });
	write('{"version":1,"layers":{"ab":');
	assert.equal((await build(folder)).thumbnails, {});
	const picture = "../../etc/ab.0123456789ab.webp";
	write(JSON.stringify({ version: 1, layers: { ab: { picture } } }));
	assert.equal((await build(folder)).thumbnails, {});
});

test.run();
