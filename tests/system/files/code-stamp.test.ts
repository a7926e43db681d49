import { appendFile, cp, readFile, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import * as assert from "uvu/assert";
import { readGuidePages, securityFile, securityPage } from "../../../catalogue/guide/guide.ts";
import { bundleHook } from "../../../store/hook/install.ts";
import { codeStamp } from "../../../system/files/code-stamp.ts";
import { root } from "../../helpers/process.ts";
import { test } from "../../helpers/suite.ts";
import { temporaryFolder, words } from "../../helpers/world.ts";

const { files } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { files: string[] };
const isCovered = (path: string) =>
	path === "package.json" || files.includes(path) || files.includes(path.split("/")[0] ?? "");

/** Every module of the project that a module reaches, as esbuild finds it. */
async function reachedFrom(...entryPoints: string[]): Promise<string[]> {
	const { metafile } = await build({
		absWorkingDir: root,
		entryPoints,
		bundle: true,
		write: false,
		metafile: true,
		format: "esm",
		platform: "node",
		packages: "external",
		outdir: "unused",
		logLevel: "silent",
	});
	return Object.keys(metafile.inputs);
}

test("the stamp covers all that fragments, pages and the hook are made of", async () => {
	const inputs = [
		...(await reachedFrom("registry/targets/table.ts", "registry/judge.ts", "catalogue/update.ts")),
		...(await reachedFrom("site/page/main.ts", "site/search/worker.ts", "site/static/choose.ts")),
		...(await bundleHook()).inputs,
	].filter((path) => !path.startsWith("node_modules/"));
	for (const path of [
		"registry/targets/v0.9.ts",
		"catalogue/chunks.ts",
		"site/page/main.ts",
		"store/hook/push.ts",
	])
		assert.ok(inputs.includes(path), path);
	assert.equal(
		inputs.filter((path) => !isCovered(path)),
		[],
	);
	const pages = readGuidePages().map(({ path }) => (path === securityPage ? securityFile : `docs/${path}`));
	assert.ok(pages.includes("SECURITY.md") && pages.includes("docs/fr/publish.md"));
	for (const path of pages) assert.ok(isCovered(path), path);
});

test("the stamp changes with the content and the name of each file that it covers", async () => {
	await using copy = await temporaryFolder();
	const { path: folder } = copy;
	/** Each look is at another path of the same copy: a path is read once. */
	let looks = 0;
	const look = async () => {
		looks += 1;
		await symlink(folder, `${folder}-${looks}`);
		return codeStamp(`${folder}-${looks}`);
	};
	for (const name of ["package.json", ...files])
		await cp(join(root, name), join(folder, name), { recursive: true });
	const stamps = [await look()];
	assert.is(stamps[0], codeStamp());
	for (const path of words(`
		package.json SECURITY.md docs/fr/publish.md registry/targets/v0.9.ts site/static/styles.css
		store/hook/pre-receive.sh
	`)) {
		await appendFile(join(folder, path), "\n");
		stamps.push(await look());
	}
	await rename(join(folder, "docs/fr/publish.md"), join(folder, "docs/fr/other.md"));
	stamps.push(await look());
	assert.is(new Set(stamps).size, stamps.length);
});

test.run();
