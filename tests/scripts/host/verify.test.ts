import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import * as assert from "uvu/assert";
import { parsePage } from "../../../api/pages.ts";
import { pageHeaders } from "../../../api/site-headers.ts";
import { langs } from "../../../registry/smallkey.ts";
import { targets } from "../../../registry/targets/table.ts";
import {
	changedKeys,
	chooseQuestions,
	costOf,
	listBuild,
	sample,
	verifyHosting,
} from "../../../scripts/host/verify.ts";
import { buildCatalogue, generateEntries } from "../../catalogue/entries.ts";
import { pageSettings } from "../../catalogue/pages.ts";
import { layers } from "../../conformance/engine.ts";
import { buildDist } from "../../conformance/engines.ts";
import { exits, prints, runScript } from "../../helpers/process.ts";
import { answering, Repository, sharedSuite, temporaryFolder } from "../../helpers/world.ts";

interface Scene {
	dist: string;
	url: string;
	/** Spoils the answer to a path: true where it has answered itself. */
	spoil: (path: string, response: ServerResponse, request: IncomingMessage) => boolean;
}

/** Number of fragments in the build, and of requests for all of them and for what must not be there. */
let fragments = 0;
let requests = 0;

const test = sharedSuite<Scene>("verify", async (use, scene) => {
	const dist = await buildDist(layers, use(await temporaryFolder()).path);
	for (const { doc } of targets)
		for (const lang of langs) fragments += (await readdir(join(dist, doc, lang))).length;
	requests = 2 * fragments + targets.length;
	const server = use(await answering((request, response) => void serve(scene, request, response)));
	return { dist, url: `${server.origin}/base`, spoil: () => false };
});
test.before.each((scene) => {
	scene.spoil = () => false;
});

/** A static hosting of the test's own. */
async function serve(scene: Scene, request: IncomingMessage, response: ServerResponse): Promise<void> {
	const path = decodeURIComponent((request.url ?? "").replace(/^\/base\//, ""));
	if (scene.spoil(path, response, request)) return;
	const file = path === "" || path.endsWith("/") ? `${path}index.html` : path;
	const bytes = await readFile(join(scene.dist, file)).catch(() => null);
	if (!bytes) return void response.writeHead(404).end();
	const etag = `"${bytes.length}-${bytes[20]}"`;
	const status = request.headers["if-none-match"] === etag ? 304 : 200;
	const isPage = parsePage(`/${path}`, "") !== null;
	const type = isPage ? pageHeaders(file, false)["Content-Type"] : "application/json; charset=utf-8";
	response.writeHead(status, { ETag: etag, "Content-Type": type });
	response.end(status === 200 ? bytes : undefined);
}

test("a hosting that serves the build is verified, all of it or a sample", async ({ url, dist }) => {
	const all = await runScript("verify", [url, "--dist", dist]);
	assert.equal([all.code, all.stdout], [0, `${fragments} of ${fragments} fragments checked: all as built\n`]);
	assert.is(
		all.stderr,
		`Comparing ${url} with the build in ${dist}\nAsking for ${fragments} of ${fragments} fragments: ${requests} requests\n`,
	);
	const some = await runScript("verify", [`${url}/`, "--dist", dist, "--sample", "5"]);
	assert.equal([some.code, some.stdout], [0, `5 of ${fragments} fragments checked: all as built\n`]);
});

test("every difference is named, and the exit code is 1", async (scene) => {
	let count = 0;
	const sendFile = (smallkey: string, response: ServerResponse, headers: Record<string, string>) => {
		const file = readFile(join(scene.dist, "v0.9/doc/fr", smallkey));
		void file.then((bytes) => response.writeHead(200, headers).end(bytes));
	};
	const spoilers: Record<string, (response: ServerResponse) => void> = {
		"v0.9/doc/en/-": (response) => response.writeHead(404).end(),
		"v0.9/doc/en/23ax5t": (response) => response.writeHead(200).end('{"layers":{"wms":[]}}'),
		"v0.9/doc/en/Z": (response) => response.writeHead(307, { Location: "/" }).end(),
		"v0.9/doc/fr/-": (response) => {
			count += 1;
			sendFile("-", response, { ETag: `"${count}"`, "Content-Type": "application/json" });
		},
		"v0.9/doc/fr/23ax5t": (response) => sendFile("23ax5t", response, { "Content-Type": "application/json" }),
		"v0.9/doc/fr/Z": (response) => sendFile("Z", response, { ETag: '"1"', "Content-Type": "text/html" }),
		"v0.9/doc/fr/feature": (response) => response.destroy(),
		"v0.9/doc/en/=verify=none=": (response) => response.writeHead(200).end("{}"),
	};
	scene.spoil = (path, response) => {
		spoilers[path]?.(response);
		return path in spoilers;
	};
	const { stdout, stderr } = await exits(runScript("verify", [scene.url, "--dist", scene.dist]), 1);
	assert.is(stdout, `${fragments} of ${fragments} fragments checked: 8 differ\n`);
	const [, , ...lines] = stderr.trim().split("\n");
	const found = lines.map((line) => line.split(": ", 1)[0]);
	assert.equal(found, Object.keys(spoilers).sort());
	const lineOf = (path: string) => lines.find((line) => line.startsWith(`${path}: `));
	assert.is(lineOf("v0.9/doc/en/-"), "v0.9/doc/en/-: answers 404");
	assert.match(
		lineOf("v0.9/doc/en/23ax5t") ?? "",
		/is not what was built: differs from byte 19 \(21 bytes, not \d+\)/,
	);
	assert.is(lineOf("v0.9/doc/en/Z"), "v0.9/doc/en/Z: answers 307");
	assert.match(
		lineOf("v0.9/doc/fr/-") ?? "",
		/its ETag "1" is not stable: a conditional request is answered with 200/,
	);
	assert.match(lineOf("v0.9/doc/fr/23ax5t") ?? "", /has no ETag/);
	assert.match(lineOf("v0.9/doc/fr/Z") ?? "", /has the Content-Type text\/html, not application\/json/);
	assert.match(lineOf("v0.9/doc/en/=verify=none=") ?? "", /answers 200, where 404 is right/);
});

test("a server that fails for a moment is asked again", async (scene) => {
	const asked = new Set<string>();
	scene.spoil = (path, response) => {
		const first = !asked.has(path);
		asked.add(path);
		if (first) response.writeHead(503).end();
		return first;
	};
	await exits(runScript("verify", [scene.url, "--dist", scene.dist]), 0);
});

test("--wait looks again at what differs, until the hosting has changed over", async (scene) => {
	const counts = new Map<string, number>();
	scene.spoil = (path, response) => {
		const count = (counts.get(path) ?? 0) + 1;
		counts.set(path, count);
		if (!path.endsWith("/23ax5t") || count > 2) return false;
		response.writeHead(200).end("{}");
		return true;
	};
	const patient = await runScript("verify", [scene.url, "--dist", scene.dist, "--wait", "30"]);
	assert.equal(
		[patient.code, patient.stdout],
		[0, `${fragments} of ${fragments} fragments checked: all as built\n`],
	);
	assert.is(counts.get("v0.9/doc/en/-"), 2, "what was as built is not asked for again");
});

test("verify --since asks for changed and removed layers and a sample of the rest, with the number of requests it announces", async (scene) => {
	using repository = new Repository({ "layers/no/notes.txt": "none" });
	const change = { "layers/23/23ax5t.json": "changed", "layers/go/gone.json": "removed" };
	repository.commit("before", { ...change, "layers/z/Z.json": "same" });
	repository.commit("change", { "layers/23/23ax5t.json": "new", "layers/go/gone.json": null });
	const asked: string[] = [];
	scene.spoil = (path, response, request) => {
		asked.push(request.headers["if-none-match"] ? `${path} again` : path);
		if (!path.endsWith("/gone")) return false;
		response.writeHead(path.startsWith("v0.9/doc/fr") ? 200 : 404).end();
		return true;
	};
	// The changes are those of the folder in which it runs.
	const questions = chooseQuestions(
		await listBuild(scene.dist),
		await changedKeys(repository.path, "HEAD^", "HEAD"),
		4,
	);
	const differences = await verifyHosting(scene.url, scene.dist, questions, () => undefined);
	assert.is(asked.length, costOf(questions));
	const count = asked.filter((path) => path.endsWith("/23ax5t")).length;
	assert.is(count, 2 * targets.length, "in every target and language");
	assert.is(asked.filter((path) => path.endsWith("/gone")).length, 2 * targets.length);
	assert.is(questions.sampled.length, 4);
	assert.equal(differences, [
		{ path: "v0.9/doc/fr/gone", text: "answers 200, where 404 is right: no layer is there" },
	]);
});

test("the catalogue of a build is compared, too: pages, index, changes and schemas, all or a sample", async (scene) => {
	const folder = await temporaryFolder();
	const built = scene.dist;
	scene.dist = join(folder.path, "dist");
	try {
		await cp(built, scene.dist, { recursive: true });
		const entries = [...generateEntries(300)];
		const settings = { pages: pageSettings, isServed: true, commit: null, owners: () => [] };
		const commit = { commit: "a".repeat(40), date: "2026-03-04T12:00:00Z", layers: [] };
		const files = buildCatalogue(entries, [commit], settings);
		for (const page of ["index.html", "en/index.html", "schemas/openapi.json", "assets/main-1.js"])
			files.set(page, page);
		for (const [path, text] of files) {
			await mkdir(dirname(join(scene.dist, path)), { recursive: true });
			await writeFile(join(scene.dist, path), text ?? "");
		}
		const words = [scene.url, "--dist", scene.dist];
		const all = await runScript("verify", [...words, "--all"]);
		const count = `${files.size} of ${files.size} files of the catalogue`;
		assert.equal(
			[all.code, all.stdout],
			[0, `${fragments} of ${fragments} fragments and ${count} checked: all as built\n`],
		);
		assert.match(all.stderr, `and ${count}: ${requests + 2 * files.size} requests`);
		scene.spoil = (path, response, request) => {
			if (path !== "changes/feed.xml") return false;
			const headers = { "Content-Type": "application/xml", ETag: '"1"' };
			response.writeHead(request.headers["if-none-match"] ? 304 : 200, headers).end(files.get(path));
			return true;
		};
		const plain = await runScript("verify", [...words, "--all"]);
		assert.is(plain.code, 0, "a host may serve the feed as plain XML");
		const pieces = [...files.keys()].filter((path) => path.startsWith("index/chunks/"));
		const spoilers: Record<string, (response: ServerResponse) => void> = {
			// Stale: what was published before.
			"index/index.json": (response) =>
				response.writeHead(200, { "Content-Type": "application/json" }).end('{"version":2,"layers":299}'),
			[pieces[0] as string]: (response) => response.writeHead(404).end(),
			"changes/feed.xml": (response) => {
				const headers = { "Content-Type": "text/html", ETag: '"1"' };
				response.writeHead(200, headers).end(files.get("changes/feed.xml"));
			},
			"en/": (response) => response.writeHead(301, { Location: "/en" }).end(),
		};
		scene.spoil = (path, response) => {
			spoilers[path]?.(response);
			return path in spoilers;
		};
		const spoilt = await prints(runScript("verify", [...words, "--all"]), 1, "checked: 4 differ");
		assert.match(
			spoilt.stderr,
			/^changes\/feed\.xml: has the Content-Type text\/html, not application\/atom\+xml$/m,
		);
		assert.match(spoilt.stderr, /^en\/index\.html: answers 301$/m);
		assert.match(spoilt.stderr, /^index\/index\.json: is not what was built: differs from byte \d+/m);
		assert.match(spoilt.stderr, `${pieces[0]}: answers 404`);
		// What says which pieces there are is in every sample.
		const some = await exits(runScript("verify", [...words, "--sample", "2"]), 1);
		assert.match(some.stderr, "index/index.json: is not what was built");
		assert.match(some.stderr, "en/index.html: answers 301");
	} finally {
		scene.dist = built;
		await folder.remove();
	}
});

test("without --since no changes are mentioned; an unknown commit is an error", async ({ url, dist }) => {
	// An empty text: a repository that is younger than what the workflow asks for.
	const empty = await runScript("verify", [url, "--dist", dist, "--since", "", "--sample", "1"]);
	assert.match(empty.stderr, `Asking for 1 of ${fragments} fragments: ${2 + targets.length} requests`);
	const unknown = await exits(runScript("verify", [url, "--dist", dist, "--since", "no-such-commit"]), 2);
	assert.match(unknown.stderr, "has no commit no-such-commit");
	const none = await runScript("verify", [url, "--dist", dist, "--since", "HEAD", "--all"]);
	assert.match(
		none.stderr,
		`Asking for 0 changed layers and ${fragments} of ${fragments} fragments: ${requests} requests`,
	);
});

test("a sample is spread over all, and the same each time", () => {
	assert.equal(sample([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 4), [0, 2, 5, 7]);
	assert.equal(sample([0, 1], 4), [0, 1]);
});

test("wrong words are refused with their reason", async ({ url, dist }) => {
	for (const words of [
		[],
		[url, "more"],
		["ftp://x"],
		[url, "--sample", "-1"],
		[url, "--wait", "soon"],
		[url, "--dist", join(dist, "none")],
	]) {
		const { stderr } = await exits(runScript("verify", words), 2);
		assert.match(stderr, /argument|arguments|--sample|--wait|has no fragments/);
		assert.not.match(stderr, /^\s+at /m);
	}
});

test.run();
