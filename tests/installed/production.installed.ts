import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import * as assert from "uvu/assert";
import { startWorkers, workers } from "../conformance/engines.ts";
import { startSettingsPeer } from "../extensions/review/settings-peer.ts";
import { copyLayers } from "../helpers/local.ts";
import { cleanEnvironment, exits, pathWithNpx, root, runScript } from "../helpers/process.ts";
import { eventually } from "../helpers/wait.ts";
import {
	answering,
	Repository,
	runUnless,
	sharedSuite,
	temporaryFolder,
	writeFiles,
} from "../helpers/world.ts";
import { startPeer } from "../store/github-peer.ts";

const exampleAddress = "https://fragments.example";

/** The commands of the page's indented blocks, those over several lines as one. */
async function readCommands() {
	const page = await readFile(join(root, "docs/production.md"), "utf8");
	const blocks = (page.match(/^ {4}\S.*(?:\n {4,}\S.*)*/gm) ?? []).join("\n");
	const lines = blocks.replaceAll(/\\\n\s+/g, "").split("\n");
	return lines.map((line) => line.trim());
}

/** Nothing is sent to Cloudflare, and the worker is the local one. */
function asRun(command: string) {
	if (command.startsWith("npx fragment-publisher deploy"))
		return `${command.replace(" -- ", " -- --dry-run ")} && curl -sf -X POST "$HOOK/deployed"`;
	if (command.endsWith("echo complete")) return command;
	if (command.includes("npx fragment-publisher setup-github")) return `${command} || test $? -eq 1`;
	return command.replaceAll(exampleAddress, '"$(cat worker-url)"');
}

/** A `gh` that asks the tests' GitHub, and the test in place of a workflow. Its words are in the page's order. */
const gh = `#!/bin/bash
set -eu
ask() { curl -sf -X "$1" "$GITHUB_API_URL/$2" -H 'Content-Type: application/json' -d "$3"; }
case "$1 $2" in
	"auth token") read -r token; echo "$token" ;;
	"repo create") git push -q "$ORIGIN" HEAD:refs/heads/main ;;
	"api --method") if [ "$5" = -f ]; then ask "$3" "$4" '{"name":"main"}'; else ask "$3" "$4" "$(cat "\${6/#-//dev/stdin}")"; fi ;;
	"api users/ada") jq -c "$4" <<< '{"login": "ada", "id": 7}' ;;
	"api "*) test "$2" = apps/maps-service && echo 4711 || echo 202 ;;
	"variable set") ask POST "repos/$5/actions/variables" "{\\"name\\":\\"$3\\",\\"value\\":\\"$7\\"}" ;;
	"secret set") test -s /dev/stdin; ask POST "repos/$7/environments/$5/secrets" "{\\"name\\":\\"$3\\"}" ;;
	"workflow run") ;;
	"run watch") curl -sf -X POST "$HOOK/published" ;;
	*) echo "gh $* is no command of the test's" >&2; exit 2 ;;
esac
`;

/** A clone of this working tree, with layers of the tests' own and the files that a person has downloaded. */
async function makeClone(folder: string, privateKey: string) {
	using project = new Repository({});
	const words = ["ls-files", "-z", "-co", "--exclude-standard"];
	const listed = execFileSync("git", words, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
	for (const path of listed.filter((path) => !path.startsWith("layers/") && existsSync(join(root, path))))
		await cp(join(root, path), join(project.path, path));
	await copyLayers(project.path);
	project.commit("the project", {});
	const clone = join(folder, "checkout");
	project.git("clone", "-q", "-b", "main", project.path, clone);
	for (const modules of ["node_modules", "deploy/workers/node_modules"])
		await symlink(join(root, modules), join(clone, modules));
	writeFiles(clone, {
		token: "the-cloudflare-token",
		"access-key-id": "id",
		"secret-access-key": "secret",
		"maps-workflows.private-key.pem": privateKey,
		"maps-service.private-key.pem": privateKey,
		".git/bin/gh": { executable: gh },
		".git/dist/_headers": "",
	});
	return clone;
}

/** Runs the commands in one shell; ends at the first that fails, and names it. */
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

const test = sharedSuite("docs/production.md", async (use) => {
	const { path: folder } = use(await temporaryFolder());
	const peer = await startPeer();
	use(() => peer.close());
	const settings = use(await startSettingsPeer());
	const bare = join(folder, "repository.git");
	execFileSync("git", ["init", "-q", "--bare", "-b", "main", bare]);
	const clone = await makeClone(folder, peer.app.privateKey);
	const dist = join(clone, ".git/dist");
	let worker: Awaited<ReturnType<typeof startWorkers>> | undefined;
	use(() => worker?.stop());

	async function startWorker() {
		worker = await startWorkers(dist, false, {
			SENDERS: await readFile(join(clone, ".data/senders.json"), "utf8"),
			GITHUB_APP_PRIVATE_KEY: peer.app.privateKey,
			GITHUB_APP_ID: peer.app.appId,
			GITHUB_REPOSITORY: peer.repository,
			GITHUB_API_URL: peer.proxy.url,
		});
		writeFiles(clone, { "worker-url": worker.origin });
	}

	async function publish() {
		const path = "layers/na/nacei-wells.json";
		writeFiles(join(clone, ".git"), { [path]: (await peer.file(path)) ?? "" });
		const words = ["--layers", join(clone, ".git/layers"), "--out", dist];
		await exits(runScript("build", words, { SITE: "off" }), 0);
		const url = `${worker?.origin}/v0.9/doc/en/nacei-wells`;
		await eventually(async () => (await fetch(url, { headers: { Connection: "close" } })).ok);
	}

	const hooks = use(
		await answering((request, response) => {
			const hook = new Map([
				["/deployed", startWorker],
				["/published", publish],
			]).get(request.url ?? "");
			if (!hook) return void response.writeHead(404).end();
			hook().then(
				() => response.writeHead(204).end(),
				(error: Error) => response.writeHead(500).end(String(error)),
			);
		}),
	);
	return { peer, settings, bare, clone, hooks };
});

test("every command of the page works", async ({ peer, settings, bare, clone, hooks }) => {
	const git = (cwd: string, ...words: string[]) => execFileSync("git", words, { cwd, encoding: "utf8" });
	const { code, output } = await follow((await readCommands()).map(asRun), clone, {
		PATH: pathWithNpx(`${join(clone, ".git/bin")}${delimiter}${process.env.PATH}`),
		HOOK: hooks.origin,
		ORIGIN: bare,
		GITHUB_API_URL: settings.url,
		npm_config_loglevel: "error",
		GIT_AUTHOR_NAME: "Ada",
		GIT_AUTHOR_EMAIL: "ada@example.invalid",
		GIT_COMMITTER_NAME: "Ada",
		GIT_COMMITTER_EMAIL: "ada@example.invalid",
	});
	assert.is(code, 0, output);
	assert.match(output, /HTTP\/1\.1 200 OK/);
	assert.match(output, /^complete$/m);
	// No file of a secret can be committed by mistake.
	assert.not.match(git(clone, "status", "--porcelain"), /token|key|pem|data/);
	assert.match(git(clone, "show", "HEAD:layers/owners.json"), /"operators":\["@ada#7"\]/);
	const [newest] = await peer.commits();
	assert.match(newest?.commit.message ?? "", /^register nacei-wells /);
	const { secrets } = settings.values.get("/environments/production/secrets");
	assert.equal([secrets.length, settings.values.get("/rulesets").length], [3, 3]);
	assert.match(git(bare, "ls-tree", "main"), "\tlayers\n");
	assert.not.match(output, /the-token-of-a-person|the-cloudflare-token/);
});

runUnless(workers.missing, test);
