import files, { chown, readdir, stat } from "node:fs/promises";
import * as assert from "uvu/assert";
import { findForeignRoot } from "../../../store/files/files.ts";
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
	assert.match((await findForeignRoot(folder, "serve", 0)) ?? "", text);
	assert.is(await findForeignRoot(folder, "serve", 4711), null);
	if (!isRoot) return;
	for (const [name, ...words] of [["serve"], ["register", layers]] as const)
		await warns(runScript(name, words, { DATA_DIR: folder, NODE_ENV: "production" }), 2, text);
	assert.equal(await readdir(folder), [], "nothing was made in it");
	await chown(folder, 0, 0);
	assert.is(await findForeignRoot(folder, "serve", 0), null);
});

test("one that this user may not read is named", async ({ folder }) => {
	const { access } = files;
	using _ = { [Symbol.dispose]: () => Object.assign(files, { access }) };
	files.access = async () => Promise.reject(new Error("EACCES"));
	const text = `DATA_DIR: must be a folder that this user may write, and ${folder} is not: EACCES`;
	await warns(runScript("serve", [], { DATA_DIR: folder }), 2, text);
	assert.equal(await readdir(folder), []);
});

test.run();
