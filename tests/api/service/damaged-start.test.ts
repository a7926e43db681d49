import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { Clone } from "../../helpers/clone.ts";
import { Local, textOf, wms } from "../../helpers/local.ts";
import { eventually } from "../../helpers/wait.ts";
import { freshSuite, writeFiles } from "../../helpers/world.ts";
import { loosen, objectFile } from "../../store/loose-objects.ts";

const test = freshSuite("a start with a damaged repository", async (use) => {
	const storeLimits = { pollMs: 20 };
	const local = use(await Local.open({ files: { "layers/on/one.json": wms("one") }, storeLimits }));
	await using clone = await Clone.of(local.repository);
	await local.stop();
	await clone.commit({ "layers/tw/two.json": wms("two"), "layers/on/one.json": wms("newer") });
	assert.ok(await clone.push());
	await loosen(local.repository);
	const path = await objectFile(local.repository, "main:layers/tw/two.json");
	const lost = await readFile(path);
	await rm(path);
	return { local, path, lost };
});

test("reads and writes go on, /readyz says what is missing, and all is whole with the repository", async ({
	local,
	path,
	lost,
}) => {
	await local.start();
	assert.match(textOf(await local.get("/v0.9/doc/en/one")), '"layerName":"newer"');
	assert.is((await local.get("/v0.9/doc/en/two")).status, 404);
	await eventually(() => /two.json is missing/.test(String(local.context.readiness())));
	assert.is((await local.put("three")).status, 201);
	await writeFile(path, lost);
	await eventually(async () => (await local.get("/v0.9/doc/en/two")).status === 200);
	await eventually(() => local.context.readiness() === null);
});

test("without files, too; of a layer that git cannot read, a whole file is served", async ({ local }) => {
	await rm(local.out, { recursive: true });
	await local.start();
	assert.match(textOf(await local.get("/v0.9/doc/en/one")), '"layerName":"newer"');
	for (const [text, answer] of [
		['{"half', "missing"],
		['{"whole":1}', /^{"whole":1}$/],
	] as const) {
		writeFiles(local.out, { "v0.9/doc/en/two": text });
		assert.match(await local.get("/v0.9/doc/en/two").then(textOf, String), answer);
	}
});

for (const name of ["dist.served", "dist"])
	test(`a start without ${name} that cannot read its layers is refused`, async ({ local }) => {
		await rm(join(local.folder, name), { recursive: true });
		const tree = await objectFile(local.repository, "main:layers");
		const layers = await readFile(tree);
		await rm(tree);
		assert.match(
			String(await local.start().catch(String)),
			"Put the repository back from a backup or a clone",
		);
		await writeFile(tree, layers);
		await local.start();
	});

test.run();
