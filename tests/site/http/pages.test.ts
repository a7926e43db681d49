import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import type { Reply } from "../../../api/reply.ts";
import { folderPages } from "../../../site/http/folder-pages.ts";
import { freshSuite, temporaryFolder } from "../../helpers/world.ts";
import { pageSettings } from "../data/pages.ts";

const test = freshSuite("files of the catalogue", async (use) => ({
	folder: use(await temporaryFolder()).path,
}));

const page = (file: string) => ({ file, root: "./" });
const plain = { ifNoneMatch: null, acceptEncoding: "" };

function textOf(body: Reply["body"]) {
	return Buffer.from(body as Uint8Array).toString("utf8");
}

test("a name that no file can have is not found", async ({ folder }) => {
	const pages = folderPages(folder);
	await mkdir(join(folder, "list"));
	await writeFile(join(folder, "site.json"), "{}");
	const long = "x".repeat(256);
	// With the ending of its compressed copy the name is longer than a file system takes.
	const almostLong = "x".repeat(254);
	for (const file of ["no", "list", "site.json/x", long, almostLong, `${"x/".repeat(3_000)}x`, "a\0b"]) {
		for (const acceptEncoding of ["", "br, gzip"]) {
			const { status, headers, body } = await pages.answer(page(file), { ...plain, acceptEncoding });
			assert.equal([status, headers["Content-Type"]], [404, "application/json"], file.slice(0, 20));
			assert.equal(JSON.parse(textOf(body)), { errors: ["path: there is no such file"] });
		}
	}
	assert.is((await pages.answer(page("site.json"), plain)).status, 200);
});

test("a file is read once, and again after it was replaced", async ({ folder }) => {
	const pages = folderPages(folder);
	const path = join(folder, "site.json");
	await writeFile(path, "one");
	const answers = await Promise.all(Array.from({ length: 9 }, () => pages.answer(page("site.json"), plain)));
	answers.push(await pages.answer(page("site.json"), plain));
	assert.is(new Set(answers.map(({ body }) => body)).size, 1);
	assert.is(String(answers[0]?.body), "one");
	await writeFile(`${path}.new`, "two");
	await rename(`${path}.new`, path);
	const after = await pages.answer(page("site.json"), plain);
	assert.is(String(after.body), "two");
	assert.is.not(after.headers.ETag, answers[0]?.headers.ETag);
});

test("only a request that accepts a coding gets the compressed copy", async ({ folder }) => {
	const pages = folderPages(folder);
	await writeFile(join(folder, "site.json"), "plain");
	await writeFile(join(folder, "site.json.br"), "compressed");
	const sent = async (acceptEncoding: string) =>
		String((await pages.answer(page("site.json"), { ...plain, acceptEncoding })).body);
	assert.is(await sent("gzip, deflate, br, zstd"), "compressed");
	assert.is(await sent("gzip;q=1, br;q=0"), "plain");
	const { ETag = "" } = (await pages.answer(page("site.json"), plain)).headers;
	for (const [ifNoneMatch, status] of [
		[`"x", W/${ETag}`, 304],
		[`${",".repeat(60_000)}${ETag}`, 200],
	] as const)
		assert.is((await pages.answer(page("site.json"), { ...plain, ifNoneMatch })).status, status);
});

test("a missing page is in both languages; before the first build it reloads itself", async ({ folder }) => {
	const pages = folderPages(folder);
	const missingPage = { file: "fr/none.html", root: "../" };
	const early = await pages.answer(missingPage, plain);
	assert.equal([early.status, early.cause], [503, "the catalogue is not written yet"]);
	assert.is(early.headers["Content-Type"], "text/html; charset=utf-8");
	assert.is(early.headers["Retry-After"], "3");
	assert.match(textOf(early.body), /<meta http-equiv="refresh" content="3">/);
	const write = (settings: object) => writeFile(join(folder, "pages.json"), JSON.stringify(settings));
	await write({ ...pageSettings, version: 1 });
	assert.is((await pages.answer(missingPage, plain)).status, 503);
	await write(pageSettings);
	const missing = await pages.answer(missingPage, plain);
	const html = textOf(missing.body);
	assert.is(missing.status, 404);
	assert.match(html, /<section lang="fr">\n<h1>Cette page n’existe pas<\/h1>/);
	assert.match(html, /href="\.\.\/fr\/"/);
	assert.not.match(html, "refresh");
	assert.match(textOf((await pages.answer(page("index/none.json"), plain)).body), /^\{"errors":/);
});

test.run();
