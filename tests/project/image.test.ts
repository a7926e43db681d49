import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import glob from "fast-glob";
import ignore from "ignore";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cleanEnvironment, root } from "../process.ts";

const dockerfile = await readFile(join(root, "deploy/Dockerfile"), "utf8");
const ignored = ignore().add(await readFile(join(root, ".dockerignore"), "utf8"));

/** What the image is made of: the first words of COPY. */
const copied = [...dockerfile.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, words]) =>
	(words as string).split(" "),
);

test("what the image copies enters its build, and nothing that is secret, large or not needed", () => {
	assert.ok(copied.includes("scripts"));
	for (const name of copied) assert.not.ok(ignored.ignores(name), name);
	for (const name of [
		".env",
		".git/config",
		".data/senders.json",
		"node_modules/tsx/package.json",
		"scripts/node_modules/x",
		"dist/v0.9/doc/en/a",
		"tests/local.ts",
		"bench/run.ts",
	]) {
		assert.ok(ignored.ignores(name), name);
	}
});

test("every room that the service's sources import from is in the image", async () => {
	const sources = await glob(
		[
			"{schemas,registry,files,git,store,api,terminal,harvest,publish,site,catalogue,service,review,hosting,migrate,publisher,scripts}/**/*.ts",
		],
		{ cwd: root },
	);
	for (const file of sources) {
		const text = await readFile(join(root, file), "utf8");
		for (const [, name] of text.matchAll(/\bfrom "(\.\.?\/[^"]+)"/g)) {
			const room = join(file, "..", name as string).split("/")[0] as string;
			assert.ok(copied.includes(room), `${file} imports ${name}`);
		}
	}
});

test("the image runs as a user who may write to /data, and nothing in it is a secret", () => {
	const user = dockerfile.indexOf("\nUSER node\n");
	assert.ok(user > 0 && user < dockerfile.indexOf("\nCMD "));
	assert.match(dockerfile, "install -d -o node -g node /data");
	assert.not.match(dockerfile, /SENDERS|SECRET|TOKEN|KEY/);
});

test("its health check is 0 while the service answers, below a base path too, and else 1", async () => {
	const words = JSON.parse(/^HEALTHCHECK CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? "[]") as string[];
	assert.is(words[0], "node");
	const server = createServer((request, response) => {
		response.writeHead(request.url === "/rcs/healthz" ? 200 : 404).end();
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	const check = (env: Record<string, string>) =>
		promisify(execFile)(process.execPath, words.slice(1), { env: cleanEnvironment(env) }).then(
			() => 0,
			({ code }) => code,
		);
	const PORT = String(port);
	assert.equal(await Promise.all([check({ PORT, BASE_PATH: "/rcs" }), check({ PORT })]), [0, 1]);
	server.closeAllConnections();
	await new Promise((resolve) => server.close(resolve));
	assert.is(await check({ PORT }), 1);
});

test.run();
