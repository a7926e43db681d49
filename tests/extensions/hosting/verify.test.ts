import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { fragmentHeaders } from "../../../api/reply.ts";
import { targets } from "../../../registry/targets/table.ts";
import { pageHeaders, parsePage } from "../../../site/http/pages.ts";
import { layers } from "../../conformance/engine.ts";
import { buildDist } from "../../conformance/engines.ts";
import { exits, prints, root, runScript, warns } from "../../helpers/process.ts";
import { answering, Repository, sharedSuite, temporaryFolder } from "../../helpers/world.ts";

type Headers = Record<string, string>;

interface Scene {
	dist: string;
	url: string;
	/** Answers in place of the hosting; false where it does not. */
	spoil: (path: string, response: ServerResponse, request: IncomingMessage) => boolean;
}

const test = sharedSuite<Scene>("verify", async (use, scene) => {
	const folder = use(await temporaryFolder()).path;
	const dist = await buildDist(layers, folder);
	await exits(runScript("build", ["--layers", join(folder, "layers"), "--out", dist]), 0);
	const server = use(await answering((request, response) => void serve(scene, request, response)));
	return { dist, url: `${server.origin}/base`, spoil: () => false };
});
test.before.each((scene) => {
	scene.spoil = () => false;
});

async function serve(scene: Scene, request: IncomingMessage, response: ServerResponse) {
	const path = decodeURIComponent((request.url ?? "").replace(/^\/base\//, ""));
	if (scene.spoil(path, response, request)) return;
	const file = path === "" || path.endsWith("/") ? `${path}index.html` : path;
	const bytes = await readFile(join(scene.dist, file)).catch(() => null);
	if (!bytes) return void response.writeHead(404).end();
	const etag = `"${bytes.length}-${bytes[20]}"`;
	const status = request.headers["if-none-match"] === etag ? 304 : 200;
	const isPage = parsePage(`/${path}`, "") !== null;
	response.writeHead(status, {
		ETag: etag,
		...(isPage ? pageHeaders(file, { isSecure: false }) : fragmentHeaders),
	});
	response.end(status === 200 ? bytes : undefined);
}

const verify = ({ url, dist }: Scene, ...words: string[]) =>
	runScript("verify", [url, "--dist", dist, ...words]);

test("a hosting that serves the build is verified, also after a short fault", async (scene) => {
	await prints(verify(scene), 0, /^\d+ paths checked: all as built\n$/);
	const spoiled = new Set<string>();
	scene.spoil = (path, response) => {
		if (spoiled.has(path)) return false;
		spoiled.add(path);
		response.writeHead(503).end();
		return true;
	};
	await exits(verify(scene, "--wait", "20"), 0);
	scene.spoil = (_path, response) => response.destroy() !== undefined;
	await warns(verify(scene), 2, `${scene.url}: nothing was compared: fetch failed`);
});

test("every difference is named, and the exit code is 1", async (scene) => {
	let count = 0;
	const sendFile = async (key: string, response: ServerResponse, headers: Headers) => {
		const bytes = await readFile(join(scene.dist, "v0.9/doc/fr", key));
		response.writeHead(200, { ETag: `"${++count}"`, ...fragmentHeaders, ...headers }).end(bytes);
	};
	const sendOther = (response: ServerResponse) => response.writeHead(200).end("{}");
	const spoilers: [path: string, answer: (response: ServerResponse) => unknown, reason: RegExp][] = [
		["v0.9/doc/en/-", (response) => response.writeHead(404).end(), /^answers 404$/],
		["v0.9/doc/en/Z", (response) => response.socket?.destroy(), /^fetch failed: ./],
		["v0.9/doc/en/23ax5t", sendOther, /^is not what was built \(2 bytes/],
		["index/index.json", sendOther, /^is not what was built/],
		["v0.9/doc/en/=verify=none=", sendOther, /^answers 200, where 404/],
		["v0.9/doc/fr/-", (response) => sendFile("-", response, {}), /^answers 200 to a request with its ETag/],
		[
			"v0.9/doc/fr/23ax5t",
			(response) => sendFile("23ax5t", response, { "Access-Control-Allow-Origin": "https://page.example" }),
			/^has no Access-Control-Allow-Origin: \*/,
		],
		[
			"v0.9/doc/fr/Z",
			(response) => sendFile("Z", response, { "Content-Type": "text/html" }),
			/^has the Content-Type text\/html$/,
		],
	];
	scene.spoil = (path, response) => {
		const spoiler = spoilers.find(([name]) => name === path);
		spoiler?.[1](response);
		return spoiler !== undefined;
	};
	const { stderr } = await prints(verify(scene), 1, `paths checked: ${spoilers.length} differ\n`);
	const lines = stderr.trim().split("\n").slice(1);
	assert.is(lines.length, spoilers.length, stderr);
	for (const [path, , reason] of spoilers) {
		const line = lines.find((line) => line.startsWith(`${path}: `)) ?? "";
		assert.match(line.slice(path.length + 2), reason);
	}
});

test("--since asks for changed and removed layers", async (scene) => {
	using repository = new Repository({ "layers/no/notes.txt": "none" });
	const change = { "layers/23/23ax5t.json": "changed", "layers/go/gone.json": "removed" };
	repository.commit("before", { ...change, "layers/z/Z.json": "same" });
	repository.commit("change", { "layers/23/23ax5t.json": "new", "layers/go/gone.json": null });
	const requests: string[] = [];
	scene.spoil = (path, response) => {
		requests.push(path);
		if (!path.endsWith("/gone")) return false;
		response.writeHead(path.startsWith("v0.9/doc/fr") ? 200 : 404).end();
		return true;
	};
	process.chdir(repository.path);
	const ended = verify(scene, "--since", "HEAD^").finally(() => process.chdir(root));
	await warns(ended, 1, /^v0\.9\/doc\/fr\/gone: answers 200, where 404 is right$/m);
	assert.is(requests.filter((path) => path.endsWith("/gone")).length, 2 * targets.length);
	// An empty text: a repository that is younger than what the workflow asks for.
	await exits(verify(scene, "--since", ""), 0);
	await warns(verify(scene, "--since", "no-such-commit"), 2, "has no commit no-such-commit");
});

test.run();
