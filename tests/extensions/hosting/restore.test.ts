import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../../registry/smallkey.ts";
import { runGit } from "../../../store/git/commands/run.ts";
import { Local, wms } from "../../helpers/local.ts";
import { prints, root, runScript } from "../../helpers/process.ts";
import { type Serving, serve } from "../../helpers/serving.ts";
import { eventually } from "../../helpers/wait.ts";
import { freshSuite, temporaryFolder } from "../../helpers/world.ts";

const page = await readFile(join(root, "docs/operate.md"), "utf8");

/** Runs the first git command of docs/operate.md that starts with some words. */
async function follow(start: string, variables: Record<string, string>): Promise<void> {
	const at = page.indexOf(`\n${start}`) + 1;
	assert.ok(at > 0, `docs/operate.md has no ${start}`);
	const [command = ""] = /^(?:.*\\\n)*.*/.exec(page.slice(at)) ?? [];
	const text = command.replaceAll("\\\n", " ").replace(/ #.*/, "");
	const words = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, ...parts]) => parts.join(""));
	const filled = words.map((word) => word.replaceAll(/\$(\w+)/g, (_, name) => variables[name] ?? ""));
	await runGit(root, filled.slice(1));
}

const test = freshSuite("docs/operate.md", async (use) => {
	const { path: folder } = use(await temporaryFolder());
	const local = use(await Local.open({ files: { [layerPath("first")]: wms("first") } }));
	await writeFile(join(local.folder, "senders.json"), '{"jstest":"test_-k"}', { mode: 0o600 });
	return { folder, local };
});

async function read({ url }: Serving, smallkey: string): Promise<number> {
	return (await fetch(`${url}/v0.9/doc/en/${smallkey}`)).status;
}

async function gitText(dataDir: string, ...args: string[]): Promise<string> {
	return (await runGit(join(dataDir, "repository.git"), args)).toString("utf8").trim();
}

test("what was backed up while the service wrote is restored and served, with its senders", async ({
	local,
	folder,
}) => {
	const [BACKUP, DATA_DIR] = [join(folder, "backup"), join(folder, "restored")];
	await mkdir(DATA_DIR);
	const backUp = () => prints(runScript("backup", [BACKUP], { DATA_DIR: local.folder }), 0);
	const writes = Array.from({ length: 3 }, (_, index) => local.put(`while${index}`, wms(`w${index}`)));
	await backUp();
	for (const answer of await Promise.all(writes)) assert.is(answer.status, 201);
	await backUp();
	await follow('git clone --quiet --bare --no-local "$BACKUP', { BACKUP, DATA_DIR });
	await follow('git -C "$DATA_DIR/repository.git" config --remove-section', { DATA_DIR });
	await cp(join(BACKUP, "senders.json"), join(DATA_DIR, "senders.json"));
	await using restored = await serve({ DATA_DIR, SITE: "off" });
	for (const smallkey of ["first", "while0", "while2"])
		assert.is(await read(restored, smallkey), 200, smallkey);
	assert.match(restored.output(), `Senders: ${DATA_DIR}/senders.json\n`);
	assert.is(await gitText(DATA_DIR, "rev-parse", "refs/heads/main"), local.store.tip);
	assert.is(await gitText(DATA_DIR, "remote"), "", "no fetch brings the backup's state back");
});

test("a standby takes no writes, and never follows a service that lost layers", async ({ local, folder }) => {
	const STANDBY = join(folder, "standby");
	await mkdir(STANDBY);
	const variables = { PRIMARY: local.folder, STANDBY };
	const fetchOnce = () => follow('git -C "$STANDBY/repository.git" fetch', variables);
	await follow('git clone --quiet --bare --no-local "$PRIMARY', variables);
	await using standby = await serve({ DATA_DIR: STANDBY, SENDERS: "{}", SITE: "off" });
	assert.is(await read(standby, "first"), 200);
	await local.put("followed", wms("followed"));
	await local.delete("first");
	await fetchOnce();
	const isFollowed = async () =>
		(await read(standby, "followed")) === 200 && (await read(standby, "first")) === 404;
	await eventually(isFollowed);
	const answer = await fetch(`${standby.url}/register/x`, { method: "PUT", body: "{}" });
	assert.is(answer.status, 401);
	// The first service loses its layers, and begins empty.
	const served = await gitText(STANDBY, "rev-parse", "main");
	await using other = await Local.open();
	await gitText(STANDBY, "config", "remote.origin.url", other.repository);
	const refused = await fetchOnce().catch((error: Error) => error.message);
	assert.match(refused ?? "", "[rejected]");
	assert.is(await gitText(STANDBY, "rev-parse", "main"), served);
});

test.run();
