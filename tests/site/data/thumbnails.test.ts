import { join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../../registry/smallkey.ts";
import { buildOutput } from "../../../site/build/output.ts";
import { proofsFile } from "../../../site/data/proofs.ts";
import { wms } from "../../helpers/handlers.ts";
import { filesIn, folderSuite, writeFiles } from "../../helpers/world.ts";
import { entriesIn } from "./entries.ts";

const test = folderSuite("thumbnails in the catalogue");

function prove(folder: string, pictures: Record<string, string>) {
	const layers = Object.entries(pictures).map(([smallkey, hash]) => {
		const picture = `${smallkey.slice(0, 2)}/${smallkey}.${hash}.webp`;
		return [smallkey, { day: "2026-03-04", langs: {}, picture }] as const;
	});
	const proofs = JSON.stringify({ version: 1, layers: Object.fromEntries(layers) });
	const files = Object.fromEntries(layers.map(([, { picture }]) => [picture, picture]));
	writeFiles(join(folder, "pictures"), { ...files, [proofsFile]: proofs });
}

/** @returns smallkey and thumbnail of each layer that has one, and the files of pictures */
async function build(folder: string) {
	const out = join(folder, "dist");
	await buildOutput({ folder: join(folder, "layers") }, out, { PICTURES: join(folder, "pictures") });
	const thumbnails = entriesIn(out).flatMap(({ smallkey, thumbnail }) =>
		thumbnail ? `${smallkey} ${thumbnail}` : [],
	);
	return { thumbnails, files: [...filesIn(out).keys()].filter((name) => name.endsWith(".webp")) };
}

test("a layer with a picture has a thumbnail, and another picture replaces it", async ({ folder }) => {
	writeFiles(folder, { [layerPath("ab")]: wms("ab"), [layerPath("c+d")]: wms("c+d") });
	prove(folder, { "c+d": "aa23456789ab", gone: "bb23456789ab" });
	const thumbnail = "assets/pictures/aa/23456789ab.webp";
	// Not that of a layer that is gone.
	assert.equal(await build(folder), { thumbnails: [`c+d ${thumbnail}`], files: [thumbnail] });
	prove(folder, { "c+d": "ff23456789ab" });
	assert.equal((await build(folder)).files, ["assets/pictures/ff/23456789ab.webp"]);
	// A file of proofs that is not whole, or names files elsewhere, gives no thumbnail.
	const picture = "../../etc/ab.0123456789ab.webp";
	for (const text of [
		'{"version":1,"layers":{"ab":',
		JSON.stringify({ version: 1, layers: { ab: { picture } } }),
	]) {
		writeFiles(join(folder, "pictures"), { [proofsFile]: text });
		assert.equal(await build(folder), { thumbnails: [], files: [] });
	}
});

test.run();
