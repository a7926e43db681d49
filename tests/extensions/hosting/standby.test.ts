// The standby of docs/operate.md; tests/faults has the backup that is restored, and the standby that takes over.
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../../registry/smallkey.ts";
import { runGit } from "../../../store/git/commands/run.ts";
import { Local, wms } from "../../helpers/local.ts";
import { root } from "../../helpers/process.ts";
import { test } from "../../helpers/suite.ts";
import { temporaryFolder } from "../../helpers/world.ts";
import { git } from "../../store/git-store.ts";

const page = await readFile(join(root, "docs/operate.md"), "utf8");

/** Runs the git command of the page that starts with some words. */
async function follow(start: string, variables: Record<string, string>): Promise<void> {
	const at = page.indexOf(`\n${start}`) + 1;
	assert.ok(at > 0, `docs/operate.md has no ${start}`);
	const [command = ""] = /^(?:.*\\\n)*.*/.exec(page.slice(at)) ?? [];
	const words = [...command.replaceAll("\\\n", " ").matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
	const filled = words.map(([, ...parts]) =>
		parts.join("").replaceAll(/\$(\w+)/g, (_, name) => variables[name] ?? ""),
	);
	await runGit(root, filled.slice(1));
}

test("a standby never follows a service that lost layers", async () => {
	await using folder = await temporaryFolder();
	await using local = await Local.open({ files: { [layerPath("first")]: wms("first") } });
	const STANDBY = join(folder.path, "standby");
	await mkdir(STANDBY);
	const variables = { PRIMARY: local.folder, STANDBY };
	const fetchOnce = () => follow('git -C "$STANDBY/repository.git" fetch', variables);
	await follow('git clone --quiet --bare --no-local "$PRIMARY', variables);
	await local.put("followed", wms("followed"));
	await fetchOnce();
	assert.is(await git(STANDBY, "rev-parse", "main"), local.store.tip);
	// The service begins empty.
	await using other = await Local.open();
	await git(STANDBY, "config", "remote.origin.url", other.repository);
	assert.match((await fetchOnce().catch((error: Error) => error.message)) ?? "", "[rejected]");
	assert.is(await git(STANDBY, "rev-parse", "main"), local.store.tip);
});

test.run();
