import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Listening, listen } from "../listen.ts";
import { Local, manual } from "../local.ts";
import { root } from "../process.ts";
import { type Answering, answering } from "../world.ts";

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
	scene.files = await answering(async (request, response) => {
		const { pathname } = new URL(request.url as string, "http://host.example");
		const bytes = await readFile(join(scene.local.out, decodeURIComponent(pathname))).catch(() => null);
		response.writeHead(bytes ? 200 : 404).end(bytes);
	});
});
test.after(async ({ local, service, files }) => {
	await service.end();
	await files[Symbol.asyncDispose]();
	await local.end();
});

const tables = {
	"docs/reading.md": "## Which hosting for which page",
	"docs/fr/reading.md": "## Quel hébergement pour quelle page",
};

for (const [page, heading] of Object.entries(tables)) {
	test(`${page} says which pages can read from plain files`, async ({ service, files }) => {
		const [, section = ""] = (await readFile(join(root, page), "utf8")).split(heading);
		const rows = [...section.matchAll(/^\| .* \| `(\S+)` \| (yes|no|oui|non) \|$/gm)];
		assert.is(rows.length, 9);
		for (const [, address, plain] of rows) {
			const served = await fetch(service.origin + address);
			const body = await served.text();
			assert.is(served.status, 200, address);
			assert.ok(body.includes("limits"), address);
			const { status } = await fetch(files.origin + address);
			assert.is(status, plain === "yes" || plain === "oui" ? 200 : 404, address);
		}
	});
}

test.run();
