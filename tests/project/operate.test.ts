import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { runGit } from "../../system/git/run.ts";
import { Local, wms } from "../helpers/local.ts";
import { cleanEnvironment, root } from "../helpers/process.ts";
import { type Serving, serve } from "../helpers/serving.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite, temporaryFolder } from "../helpers/world.ts";

const page = await readFile(join(root, "docs/operate.md"), "utf8");

/** The commands that one section of the page has, block by block. */
function commandsOf(heading: string): string[] {
	const section = new RegExp(
		`^#* ?(?:\\*\\*)?${heading}[\\s\\S]*?(?=^## |^\\*\\*(?!${heading})|$(?![\\s\\S]))`,
		"m",
	);
	const [text = ""] = section.exec(page) ?? [];
	const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block as string);
	assert.ok(blocks.length > 0, heading);
	return blocks;
}

/** Runs commands of the page as a shell would, with the variables that it speaks of, and `npx` of this checkout. */
async function run(commands: string, variables: Record<string, string>): Promise<void> {
	const git = {
		GIT_AUTHOR_NAME: "op",
		GIT_AUTHOR_EMAIL: "op@x",
		GIT_COMMITTER_NAME: "op",
		GIT_COMMITTER_EMAIL: "op@x",
	};
	const env = cleanEnvironment({ ...git, GIT_CONFIG_GLOBAL: "/dev/null", ...variables });
	await promisify(execFile)("bash", ["-euc", commands], { env, cwd: root });
}

const test = freshSuite("docs/operate.md", async (use) => {
	const { path: folder } = use(await temporaryFolder());
	const local = use(await Local.open({ files: { [layerPath("first")]: wms("first") } }));
	await writeFile(join(local.folder, "senders.json"), '{"jstest":"test_-k"}');
	return { folder, local };
});

async function read(serving: Serving, smallkey: string): Promise<number> {
	return (await fetch(`${serving.url}/v0.9/doc/en/${smallkey}`)).status;
}

test("what was backed up while the service wrote is restored and served", async ({ local, folder }) => {
	const [backup = "", restore = ""] = commandsOf("## Backup and restore");
	const [BACKUP, DATA_DIR] = [join(folder, "backup"), join(folder, "restored")];
	await mkdir(DATA_DIR);
	assert.is((await local.put("before", wms("before"))).status, 201);
	const writes = Array.from({ length: 20 }, (_, index) => local.put(`while${index}`, wms(`w${index}`)));
	await run(backup, { DATA_DIR: local.folder, BACKUP });
	for (const answer of await Promise.all(writes)) assert.is(answer.status, 201);
	await run(backup, { DATA_DIR: local.folder, BACKUP });
	await run(restore, { BACKUP, DATA_DIR });
	await using restored = await serve({ DATA_DIR });
	for (const smallkey of ["first", "before", "while0", "while19"])
		assert.is(await read(restored, smallkey), 200, smallkey);
	assert.match(restored.output(), `Senders: ${DATA_DIR}/senders.json`);
	assert.is(await runText(DATA_DIR, "rev-parse", "refs/heads/main"), local.store.tip);
	assert.is(await runText(DATA_DIR, "config", "core.fsync"), "committed", "it is set up as ever");
	assert.is(await runText(DATA_DIR, "remote"), "", "no fetch brings the backup's state back");
});

async function runText(dataDir: string, ...args: string[]): Promise<string> {
	return (await runGit(join(dataDir, "repository.git"), args)).toString("utf8").trim();
}

test("after git revert a running service serves what was there before", async ({ local, folder }) => {
	await local.put("first", wms("mistaken"));
	const [commands = ""] = commandsOf("## Take back a change");
	const WORK = join(folder, "work");
	await run(commands, { DATA_DIR: local.folder, WORK, COMMIT: local.store.tip });
	await eventually(() =>
		new TextDecoder().decode(local.get("/v0.9/doc/en/first").body as Uint8Array).includes("first"),
	);
	assert.match(
		await local.git("log", "-1", "--format=%s", "refs/heads/main"),
		'Revert "register first (wms)"',
	);
});

test("a standby takes no writes, and never follows a service that lost layers", async ({ local, folder }) => {
	const [commands = ""] = commandsOf("A standby on a clone");
	const [once = "", fetchLine = ""] = commands.split(/\n(?=git)/);
	const STANDBY = join(folder, "standby");
	await mkdir(STANDBY);
	const variables = { PRIMARY: local.folder, STANDBY };
	await run(once, variables);
	await using standby = await serve({ DATA_DIR: STANDBY, SENDERS: "{}" });
	assert.is(await read(standby, "first"), 200);
	await local.put("followed", wms("followed"));
	await local.delete("first");
	await run(fetchLine, variables);
	await eventually(
		async () => (await read(standby, "followed")) === 200 && (await read(standby, "first")) === 404,
	);
	const answer = await fetch(`${standby.url}/register/x`, { method: "PUT", body: "{}" });
	assert.is(answer.status, 401);
	// The first service loses its layers, and begins empty.
	const repository = join(STANDBY, "repository.git");
	const served = await runText(STANDBY, "rev-parse", "main");
	await using other = await Local.open();
	await run(`git -C "$STANDBY/repository.git" config remote.origin.url "${other.repository}"`, variables);
	const refused = await run(fetchLine, variables).catch((error: { code: number; stderr: string }) => error);
	assert.is(refused?.code, 1);
	assert.match(refused?.stderr ?? "", "[rejected]");
	assert.is(await runText(STANDBY, "rev-parse", "main"), served);
	// The same with a command that forces: what was served stays served.
	await runGit(repository, ["fetch", "-q", other.repository, "+refs/heads/*:refs/heads/*"]);
	const said = `the branch main is at ${other.store.tip.slice(0, 12)}, which does not have ${served.slice(0, 12)}`;
	const readiness = async () => (await fetch(`${standby.url}/readyz`)).text();
	await eventually(async () => (await readiness()).startsWith(said));
	assert.is(await read(standby, "followed"), 200);
	await runGit(repository, ["update-ref", "refs/heads/main", served]);
	await eventually(async () => (await readiness()) === "ok\n");
});

test("a data folder of an older version is taken over as it is", async ({ folder }) => {
	const DATA_DIR = join(folder, "older");
	const repository = join(DATA_DIR, "repository.git");
	await mkdir(repository, { recursive: true });
	await runGit(repository, ["init", "-q", "--bare", "--initial-branch=main", "."]);
	const text = wms("older");
	const stream = `commit refs/heads/main\ncommitter a <a@b> 1700000000 +0000\ndata 1\nx\nM 100644 inline ${layerPath("older")}\ndata ${text.length}\n${text}\n`;
	await runGit(repository, ["fast-import", "--quiet"], { input: stream });
	await writeFile(join(DATA_DIR, "senders.json"), '{"jstest":"test_-k"}', { mode: 0o600 });
	// What other versions have left: a table of another renderer, and files that are not served any more.
	await writeFile(join(DATA_DIR, "fragments"), '{"commit":"0","renderer":"older"}\n');
	await mkdir(join(DATA_DIR, "requests"));
	await writeFile(join(DATA_DIR, "requests", "older"), "older\n");
	await mkdir(join(DATA_DIR, "dist/v0.9/doc/en"), { recursive: true });
	await writeFile(join(DATA_DIR, "dist/v0.9/doc/en/gone"), "{}");
	await writeFile(join(DATA_DIR, "dist/v0.9/doc/en/older"), "{}");
	await using running = await serve({ DATA_DIR });
	await eventually(async () => (await fetch(`${running.url}/readyz`)).ok);
	assert.is(await read(running, "older"), 200);
	const rendered = () => readFile(join(DATA_DIR, "dist/v0.9/doc/en/older"), "utf8");
	await eventually(async () => (await rendered()).includes("older"));
	await eventually(() => !existsSync(join(DATA_DIR, "dist/v0.9/doc/en/gone")));
});

test.run();
