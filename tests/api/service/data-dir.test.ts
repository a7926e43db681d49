import { chown, readdir, stat } from "node:fs/promises";
import * as assert from "uvu/assert";
import { refuseForeignRoot } from "../../../api/service/data-dir.ts";
import { manual } from "../../helpers/handlers.ts";
import { runScript, warns } from "../../helpers/process.ts";
import { freshSuite, temporaryFolder, writeFiles } from "../../helpers/world.ts";

const test = freshSuite("a data folder", async (use) => {
	const [folder, layers] = [use(await temporaryFolder()).path, use(await temporaryFolder()).path];
	writeFiles(layers, { "one.json": manual });
	return { folder, layers };
});

test("root does not work in another user's: its files would lock that user out", async ({
	folder,
	layers,
}) => {
	const isRoot = process.getuid?.() === 0;
	if (isRoot) await chown(folder, 4711, 4711);
	const { uid } = await stat(folder);
	const text = `DATA_DIR: ${folder} belongs to the user ${uid}, whom files of root would lock out`;
	const error = await refuseForeignRoot(folder, 0).catch((reason: Error) => reason);
	assert.match(error instanceof Error ? error.message : "", text);
	await refuseForeignRoot(folder, uid);
	if (!isRoot) return;
	for (const [name, ...words] of [["serve"], ["register", layers]] as const)
		await warns(runScript(name, words, { DATA_DIR: folder, NODE_ENV: "production" }), 2, text);
	assert.equal(await readdir(folder), [], "nothing was made in it");
	await chown(folder, 0, 0);
	await refuseForeignRoot(folder, 0);
});

test.run();
