import { readdirSync } from "node:fs";
import { cp, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { langs } from "../../../registry/smallkey.ts";
import { targets } from "../../../registry/targets/table.ts";
import { parsePage } from "../../../site/http/pages.ts";
import { pageHeaders } from "../../../site/http/site-headers.ts";
import { layers } from "../../conformance/engine.ts";
import { buildDist } from "../../conformance/engines.ts";
import { exits, prints, root, runScript, warns } from "../../helpers/process.ts";
import { answering, Repository, sharedSuite, temporaryFolder } from "../../helpers/world.ts";

type Headers = Record<string, string>;

interface Scene {
	folder: string;
	dist: string;
	url: string;
	fragments: string[];
	/** Answers in place of the hosting; false where it does not. */
	spoil: (path: string, response: ServerResponse, request: IncomingMessage) => boolean;
}

const test = sharedSuite<Scene>("verify", async (use, scene) => {
	const folder = use(await temporaryFolder()).path;
	const dist = await buildDist(layers, folder);
	const folders = targets.flatMap(({ doc }) => langs.map((lang) => `${doc}/${lang}`));
	const fragments = folders.flatMap((path) => readdirSync(join(dist, path)).map((key) => `${path}/${key}`));
	const server = use(await answering((request, response) => void serve(scene, request, response)));
	return { folder, dist, fragments, url: `${server.origin}/base`, spoil: () => false };
});
test.before.each((scene) => {
	scene.spoil = () => false;
});

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

const verify = ({ url, dist }: Scene, ...words: string[]) =>
	runScript("verify", [url, "--dist", dist, ...words]);

test("a hosting that serves the build is verified, all of it or a sample", async (scene) => {
	const { length } = scene.fragments;
	const all = `${length} of ${length} fragments`;
	const { stderr } = await prints(verify(scene), 0, `${all} checked: all as built\n`);
	assert.match(stderr, `Asking for ${all}\n`);
	await prints(verify(scene, "--sample", "5"), 0, `5 of ${length} fragments checked: all as built\n`);
	const counts = new Map<string, number>();
	scene.spoil = (path, response) => {
		const count = counts.get(path) ?? 0;
		if (count === 2) return false;
		counts.set(path, count + 1);
		response.writeHead(503).end();
		return true;
	};
	await exits(verify(scene), 0);
});

test("every difference is named, and the exit code is 1", async (scene) => {
	let count = 0;
	const [json, html] = [{ "Content-Type": "application/json" }, { "Content-Type": "text/html" }];
	const sendFile = (key: string, response: ServerResponse, headers: Headers) =>
		void readFile(join(scene.dist, "v0.9/doc/fr", key)).then((bytes) =>
			response.writeHead(200, headers).end(bytes),
		);
	const spoilers: [path: string, answer: (response: ServerResponse) => void, reason: RegExp][] = [
		["v0.9/doc/en/-", (response) => response.writeHead(404).end(), /^answers 404$/],
		[
			"v0.9/doc/en/23ax5t",
			(response) => response.writeHead(200).end('{"layers":{"wms":[]}}'),
			/^is not what was built: differs from byte 19 \(21 bytes, not \d+\)/,
		],
		[
			"v0.9/doc/en/=verify=none=",
			(response) => response.writeHead(200).end("{}"),
			/^answers 200, where 404 is right/,
		],
		[
			"v0.9/doc/fr/-",
			(response) => sendFile("-", response, { ETag: `"${++count}"`, ...json }),
			/^its ETag "\d+" is not stable: a conditional request is answered with 200/,
		],
		["v0.9/doc/fr/23ax5t", (response) => sendFile("23ax5t", response, json), /^has no ETag/],
		[
			"v0.9/doc/fr/Z",
			(response) => sendFile("Z", response, { ETag: '"1"', ...html }),
			/^has the Content-Type text\/html, not application\/json/,
		],
	];
	scene.spoil = (path, response) => {
		const [spoiler] = spoilers.filter(([name]) => name === path);
		spoiler?.[1](response);
		return spoiler !== undefined;
	};
	const { stderr } = await prints(verify(scene), 1, "fragments checked: 6 differ\n");
	const lines = stderr.trim().split("\n").slice(2).sort();
	assert.is(lines.length, 6, stderr);
	for (const [path, , reason] of spoilers) {
		const line = lines.find((line) => line.startsWith(`${path}: `)) ?? "";
		assert.match(line.slice(path.length + 2), reason);
	}
});

test("a difference of many paths is one line", async (scene) => {
	scene.spoil = (_path, response) => {
		response.socket?.destroy();
		return true;
	};
	const { stderr } = await prints(verify(scene), 1, /fragments checked: \d+ differ\n/);
	assert.match(stderr, /(?:\n\S+ \S+ \S+ and \d+ more: fetch failed: .+\n)$/);
});

test("--since asks for changed and removed layers, and a sample of the rest", async (scene) => {
	using repository = new Repository({ "layers/no/notes.txt": "none" });
	const change = { "layers/23/23ax5t.json": "changed", "layers/go/gone.json": "removed" };
	repository.commit("before", { ...change, "layers/z/Z.json": "same" });
	repository.commit("change", { "layers/23/23ax5t.json": "new", "layers/go/gone.json": null });
	const requests: string[] = [];
	scene.spoil = (path, response, request) => {
		if (!request.headers["if-none-match"] && !requests.includes(path)) requests.push(path);
		if (!path.endsWith("/gone")) return false;
		response.writeHead(path.startsWith("v0.9/doc/fr") ? 200 : 404).end();
		return true;
	};
	process.chdir(repository.path);
	const ended = verify(scene, "--since", "HEAD^", "--sample", "4").finally(() => process.chdir(root));
	const { stderr } = await prints(ended, 1, "fragments checked: 1 differ\n");
	assert.match(stderr, "v0.9/doc/fr/gone: answers 200, where 404 is right: no layer is there\n");
	const requestsOf = (key: string) => requests.filter((path) => path.endsWith(`/${key}`)).length;
	for (const key of ["23ax5t", "gone"]) assert.is(requestsOf(key), 2 * targets.length, key);
	assert.match(stderr, `Asking for ${2 * targets.length + 4} of ${scene.fragments.length} fragments`);
	assert.match(stderr, "(2 changed layers)\n");
	// An empty text: a repository that is younger than what the workflow asks for.
	await exits(verify(scene, "--since", "", "--sample", "1"), 0);
	await warns(verify(scene, "--since", "no-such-commit"), 2, "has no commit no-such-commit");
});

test("the catalogue of a build is compared, too, and what says which pieces there are is in every sample", async (scene) => {
	const dist = join(scene.folder, "with-catalogue");
	await cp(scene.dist, dist, { recursive: true });
	await exits(runScript("build", ["--layers", join(scene.folder, "layers"), "--out", dist]), 0);
	scene.dist = dist;
	await prints(
		verify(scene, "--all"),
		0,
		/fragments and (\d+) of \1 files of the catalogue checked: all as built/,
	);
	scene.spoil = (path, response) => {
		if (path === "index/index.json")
			response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
		return path === "index/index.json";
	};
	for (const words of [["--all"], ["--sample", "2"]])
		await warns(
			verify(scene, ...words),
			1,
			/^index\/index\.json: is not what was built: differs from byte \d+/m,
		);
});

test.run();
