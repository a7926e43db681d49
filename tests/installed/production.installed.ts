import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import * as assert from "uvu/assert";
import { startWorkers, workers } from "../conformance/engines.ts";
import { startSettingsPeer } from "../extensions/review/settings-peer.ts";
import { cleanEnvironment, pathWithNpx, root, runScript } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { type Answering, answering, Repository } from "../helpers/world.ts";
import { type Peer, startPeer } from "../store/github-peer.ts";

const exampleAddress = "https://fragments.example";

/** The commands of the page's indented blocks, those over several lines as one. */
async function readCommands(): Promise<string[]> {
	const page = await readFile(join(root, "docs/production.md"), "utf8");
	const blocks = (page.match(/^ {4}\S.*(?:\n {4,}\S.*)*/gm) ?? []).join("\n");
	const lines = blocks.replaceAll(/\\\n\s+/g, "").split("\n");
	return lines.map((line) => line.trim());
}

/** Nothing is sent to Cloudflare, and the worker is the local one. */
function asRun(command: string): string {
	if (command.startsWith("npx fragment-publisher deploy"))
		return `${command.replace("deploy", "deploy --dry-run")} && curl -sf -X POST "$HOOK/deployed"`;
	if (command.endsWith("echo complete")) return command;
	if (command.includes("npx fragment-publisher setup-github")) return `${command} || test $? -eq 1`;
	return command.replaceAll(exampleAddress, '"$(cat worker-url)"');
}

/** A `gh` that asks the tests' GitHub, and takes the test for the workflow `publish`. Its words are in the page's order. */
const gh = `#!/bin/bash
set -eu
ask() { curl -sf -X "$1" "$GITHUB_API_URL/$2" -H 'Content-Type: application/json' -d "$3"; }
case "$1 $2" in
	"auth token") read -r token; echo "$token" ;;
	"repo create") git push -q "$ORIGIN" HEAD:refs/heads/main ;;
	"api --method") if [ "$5" = -f ]; then ask "$3" "$4" '{"name":"main"}'; else ask "$3" "$4" "$(cat "\${6/#-//dev/stdin}")"; fi ;;
	"api "*) test "$2" = apps/maps-service && echo 4711 || echo 202 ;;
	"variable set") ask POST "repos/$5/actions/variables" "{\\"name\\":\\"$3\\",\\"value\\":\\"$7\\"}" ;;
	"secret set") test -s /dev/stdin; ask POST "repos/$7/environments/$5/secrets" "{\\"name\\":\\"$3\\"}" ;;
	"workflow run") ;;
	"run watch") curl -sf -X POST "$HOOK/published" ;;
	*) echo "gh $* is no command of the test's" >&2; exit 2 ;;
esac
`;

/** An HTTP server that does what a POST to a path names. */
function startHooks(hooks: Record<string, () => Promise<void>>): Promise<Answering> {
	return answering((request, response) => {
		const hook = hooks[request.url ?? ""];
		Promise.resolve(hook?.()).then(
			() => response.writeHead(hook ? 204 : 404).end(),
			(error: Error) => response.writeHead(500).end(String(error)),
		);
	});
}

/** A clone of the project as it is in this checkout, with layers of the tests' own, as git clone and npm ci leave it. */
async function checkout(folder: string): Promise<string> {
	using project = new Repository({});
	const words = ["ls-files", "-z", "-co", "--exclude-standard"];
	const listed = execFileSync("git", words, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
	for (const path of listed.filter((path) => !path.startsWith("layers/") && existsSync(join(root, path))))
		await cp(join(root, path), join(project.path, path));
	await cp(join(root, "tests/fixtures/layers"), join(project.path, "layers"), { recursive: true });
	project.commit("the project", {});
	const clone = join(folder, "checkout");
	project.git("clone", "-q", "-b", "main", project.path, clone);
	await symlink(join(root, "node_modules"), join(clone, "node_modules"));
	return clone;
}

/** A clone with the files that a person has downloaded. */
async function makeClone(folder: string, peer: Peer): Promise<string> {
	const clone = await checkout(folder);
	await symlink(join(root, "deploy/workers/node_modules"), join(clone, "deploy/workers/node_modules"));
	const files = {
		token: "the-cloudflare-token",
		"access-key-id": "id",
		"secret-access-key": "secret",
		"maps-workflows.private-key.pem": peer.app.privateKey,
		"maps-service.private-key.pem": peer.app.privateKey,
	};
	for (const [name, content] of Object.entries(files)) await writeFile(join(clone, name), content);
	const bin = join(clone, ".git/bin");
	await mkdir(bin);
	await writeFile(join(bin, "gh"), gh);
	await chmod(join(bin, "gh"), 0o755);
	return clone;
}

/** Runs the commands as one person does, in one shell; ends at the first that fails, and names it. */
async function follow(commands: string[], cwd: string, env: Record<string, string>) {
	const script = join(cwd, ".git/page.sh");
	const trap = `trap 'echo "failed: $BASH_COMMAND" >&2' ERR`;
	await writeFile(script, ["set -eEuo pipefail", trap, ...commands].join("\n"));
	const child = spawn("bash", [script], { cwd, env: cleanEnvironment(env) });
	let output = "";
	for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
	// What `read -rs GITHUB_TOKEN` reads.
	child.stdin.end("the-token-of-a-person\n");
	const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
	return { code, output };
}

test("every command of the page works, in its order, up to the fragment that a viewer reads", async () => {
	if (workers.missing)
		return console.log(`the commands of docs/production.md do not run: ${workers.missing}`);
	const folder = await mkdtemp(join(tmpdir(), "publisher-production-"));
	const peer = await startPeer();
	const bare = join(folder, "repository.git");
	execFileSync("git", ["init", "-q", "--bare", "-b", "main", bare]);
	const settings = await startSettingsPeer();
	let worker: Awaited<ReturnType<typeof startWorkers>> | null = null;
	const clone = await makeClone(folder, peer);
	const dist = join(clone, ".git/dist");
	const hooks = await startHooks({
		"/deployed": async () => {
			const env = {
				SENDERS: await readFile(join(clone, ".data/senders.json"), "utf8"),
				GITHUB_APP_PRIVATE_KEY: peer.app.privateKey,
				GITHUB_APP_ID: peer.app.appId,
				GITHUB_REPOSITORY: peer.repository,
				GITHUB_API_URL: peer.proxy.url,
			};
			await mkdir(dist);
			await writeFile(join(dist, "_headers"), "");
			worker = await startWorkers(dist, [], env);
			await writeFile(join(clone, "worker-url"), worker.origin);
		},
		"/published": async () => {
			const path = "layers/na/nacei-wells.json";
			await mkdir(join(clone, ".git", "layers/na"), { recursive: true });
			await writeFile(join(clone, ".git", path), (await peer.file(path)) ?? "");
			const words = ["--layers", join(clone, ".git/layers"), "--out", dist];
			const built = await runScript("build", words, { SITE: "off" });
			assert.is(built.code, 0, built.stderr);
			await untilServed(`${worker?.origin}/v0.9/doc/en/nacei-wells`);
		},
	});
	try {
		const commands = (await readCommands()).map(asRun);
		const path = pathWithNpx(`${join(clone, ".git/bin")}${delimiter}${process.env.PATH}`);
		const person = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.invalid" };
		const ended = await follow(commands, clone, {
			...{
				PATH: path,
				HOOK: hooks.origin,
				ORIGIN: bare,
				GITHUB_API_URL: settings.url,
				npm_config_loglevel: "error",
			},
			...{ ...person, GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.invalid" },
		});
		assert.is(ended.code, 0, ended.output);
		assert.match(ended.output, /HTTP\/1\.1 200 OK/);
		assert.match(ended.output, /^complete$/m);
		const status = execFileSync("git", ["status", "--porcelain"], { cwd: clone, encoding: "utf8" });
		assert.equal(
			status.split("\n").filter((line) => /token|key|pem|data/.test(line)),
			[],
			"no file of a secret can be committed by mistake",
		);
		const owners = execFileSync("git", ["show", "HEAD:layers/owners.json"], { cwd: clone, encoding: "utf8" });
		assert.match(owners, /"operators": \["@ada#\d+"\]/);
		const [newest] = await peer.commits();
		assert.match(newest?.commit.message ?? "", /^register nacei-wells /);
		const { secrets } = settings.values.get("/environments/production/secrets");
		assert.equal([secrets.length, settings.values.get("/rulesets").length], [3, 3]);
		assert.match(execFileSync("git", ["ls-tree", "main"], { cwd: bare, encoding: "utf8" }), "\tlayers\n");
		assert.not.match(ended.output, /the-token-of-a-person|the-cloudflare-token/);
	} finally {
		await (worker as Awaited<ReturnType<typeof startWorkers>> | null)?.stop();
		await hooks[Symbol.asyncDispose]();
		await settings[Symbol.asyncDispose]();
		await peer.close();
		await rm(folder, { recursive: true, force: true });
	}
});

async function untilServed(url: string): Promise<void> {
	for (;;) {
		const { ok } = await fetch(url, { headers: { Connection: "close" } });
		if (ok) return;
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
}

test.run();
