import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { targetNames } from "../../registry/targets/table.ts";
import { type Listening, listen } from "../helpers/listen.ts";
import { Local, manual } from "../helpers/local.ts";
import { root, runScript } from "../helpers/process.ts";
import { suite } from "../helpers/suite.ts";
import { type Answering, answering } from "../helpers/world.ts";

interface Scene {
	local: Local;
	service: Listening;
	/** A web server that sends the files of a folder, and knows nothing of fragments. */
	files: Answering;
}

const test = suite<Scene>("plain files");

test.before(async (scene) => {
	scene.local = await Local.open();
	for (const key of ["23ax5t", "toporama"]) {
		const { status } = await scene.local.write({ target: `/register/${key}`, body: manual });
		assert.is(status, 201);
	}
	scene.service = await listen(scene.local);
	const build = join(scene.local.folder, "build");
	const { code, stderr } = await runScript("build", ["--repo", scene.local.repository, "--out", build]);
	assert.is(code, 0, stderr);
	scene.files = await answering(async (request, response) => {
		const { pathname } = new URL(request.url as string, "http://host.example");
		const bytes = await readFile(join(build, decodeURIComponent(pathname))).catch(() => null);
		response.writeHead(bytes ? 200 : 404).end(bytes);
	});
});
test.after(async ({ local, service, files }) => {
	await service.end();
	await files[Symbol.asyncDispose]();
	await local.end();
});

/** The rows of a page's table: what a page reads, and whether plain files suffice. Every row has this form. */
async function rowsOf(page: string, heading: string, yes: string, no: string) {
	const [, section = ""] = (await readFile(join(root, page), "utf8")).split(`\n## ${heading}\n`);
	const [, ...lines] = (section.split("\n## ")[0] ?? "").match(/^\|.*/gm) ?? [];
	return lines.slice(1).map((line) => {
		const [, address = "", plain = ""] = /^\| .* \| `(\S+)` \| (\S+) \|$/.exec(line) ?? [];
		assert.ok(plain === yes || plain === no, `${page}: ${line}`);
		return { address, isPlain: plain === yes };
	});
}

const tables = {
	en: () => rowsOf("docs/reading.md", "Which hosting for which page", "yes", "no"),
	fr: () => rowsOf("docs/fr/reading.md", "Quel hébergement pour quelle page", "oui", "non"),
};

for (const [lang, table] of Object.entries(tables)) {
	test(`a build in plain files answers what the table says, in ${lang}`, async ({ service, files }) => {
		for (const { address, isPlain } of await table()) {
			const served = await fetch(service.origin + address);
			const body = await served.text();
			assert.is(served.status, 200, address);
			assert.ok(body.includes("limits"), address);
			const file = await fetch(files.origin + address);
			assert.is(file.status, isPlain ? 200 : 404, address);
			if (isPlain) assert.is(await file.text(), body, address);
		}
	});
}

test("the tables have each target, and both languages the same rows", async () => {
	const english = await tables.en();
	const french = await tables.fr();
	const asEnglish = french.map((row) => ({ ...row, address: row.address.replace(/\bfr\b/, "en") }));
	assert.equal(asEnglish, english);
	for (const part of [...targetNames, "vcs"])
		assert.ok(
			english.some(({ address }) => address.startsWith(`/${part}`)),
			part,
		);
});

test.run();
