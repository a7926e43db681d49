import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import type { Lang } from "../../../../registry/smallkey.ts";
import { exits, root, runScript, ServerProcess } from "../../../helpers/process.ts";
import { test } from "../../../helpers/suite.ts";
import { answering, temporaryFolder } from "../../../helpers/world.ts";
import * as documents from "./documents.ts";

/** What a release of the older service served, by key: its documents of versions 1 and 2.0. */
const version1 = [documents.release17, documents.release17Wms, documents.release110, documents.release19];
const version2 = [
	documents.release20,
	documents.release20Wms,
	documents.release20Many,
	documents.release20Server,
	documents.release20Whole,
];

/** A node without what the older service kept for itself. */
function servedNode(node: object | null): object | null {
	if (!node) return null;
	const { geometryType: _geometryType, ...rest } = node as Record<string, unknown>;
	return rest;
}

/** An answer of `docs`, as release 2.0 gave it; null for an unknown key. */
function answer(target: string, lang: Lang, key: string): object | null {
	const [old] = version1.filter(({ _id }) => _id === key);
	const [fresh] = version2.filter(({ _id }) => _id === key);
	if (target === "v2") {
		const node = fresh?.layer_config[lang];
		return node ? { layers: [node] } : null;
	}
	const node = servedNode(old?.data[lang] ?? fresh?.v1_config[lang] ?? null);
	const isWms = old?.type === "wms" || fresh?.service_type === "ogcWms";
	return node && { layers: { [isWms ? "wms" : "feature"]: [node] } };
}

/** The older service, as far as it is read. */
function startOlder() {
	return answering((request, response) => {
		const match = /^\/(v1|v2)\/docs\/(en|fr)\/(.*)$/.exec(request.url ?? "");
		if (!match) return void response.writeHead(404, { Connection: "close" }).end();
		const [, target = "", lang = "", keys = ""] = match;
		const elements = decodeURIComponent(keys).split(",");
		response.setHeader("Connection", "close");
		response.end(JSON.stringify(elements.map((key) => answer(target, lang as Lang, key))));
	});
}

/** The commands of the page's code blocks, in their order. */
async function commandsOf(page: string): Promise<string[]> {
	const text = await readFile(join(root, "docs", page), "utf8");
	const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block);
	return blocks.flatMap((block) => block.trim().split("\n"));
}

test("the commands of docs/moving.md move a service, and the comparison finds nothing that a viewer sees", async () => {
	const folder = await temporaryFolder();
	const old = await startOlder();
	const [layers, senders] = [join(folder.path, "layers.json"), join(folder.path, "auth.json")];
	const rows = [...version1, ...version2].map((doc) => ({ id: doc._id, key: doc._id, value: {}, doc }));
	await writeFile(layers, JSON.stringify({ total_rows: rows.length, offset: 0, rows }));
	await writeFile(senders, JSON.stringify({ docs: [{ _id: "jstest", key: "test_-k" }] }));
	const dataDir = join(folder.path, "data");
	const environment = { DATA_DIR: dataDir };
	let server: ServerProcess | null = null;
	try {
		const done: string[] = [];
		for (const command of await commandsOf("moving.md")) {
			const [npx, program, name = "", ...words] = command.split(" ");
			if (npx === "curl") continue;
			done.push(command);
			if (command === "npm start") {
				server = await ServerProcess.start(environment);
				continue;
			}
			assert.equal([npx, program], ["npx", "fragment-publisher"], command);
			const given = words.map((word) =>
				word
					.replace(/^(layers|auth)\.json$/, join(folder.path, "$1.json"))
					.replace("http://old.example", old.origin)
					.replace("http://localhost:8080", server ? new URL(server.url).origin : ""),
			);
			const { stdout } = await exits(runScript(name, given, environment), 0);
			if (command.includes("--dry-run")) assert.match(stdout, /^ +9 {2}would be registered$/m);
			else if (name === "import") assert.match(stdout, /^ +9 {2}registered$/m);
			if (name !== "compare") continue;
			assert.match(stdout, /^9 layers read at v1, v2, in both languages$/m);
			assert.not.match(stdout, /Viewer-relevant|Missing|Not compared|in neither/);
		}
		assert.is(done.length, 4, done.join("\n"));
	} finally {
		await server?.stop();
		await old[Symbol.asyncDispose]();
		await folder.remove();
	}
});

test("the dump that docs/moving.md shows is moved whole", async () => {
	const folder = await temporaryFolder();
	const text = await readFile(join(root, "docs/moving.md"), "utf8");
	const [, shown = ""] = /```json\n(.*?)```/s.exec(text) ?? [];
	const dump = join(folder.path, "layers.json");
	await writeFile(dump, shown);
	const { code, stdout, stderr } = await runScript("import", [dump, "--dry-run"], {
		DATA_DIR: join(folder.path, "data"),
	});
	assert.equal([code, stderr], [0, ""]);
	assert.match(stdout, /^ +0 {2}not moved$/m);
	assert.match(stdout, /^ +2 {2}would be registered$/m);
	await folder.remove();
});

test.run();
