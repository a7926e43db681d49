// The standby of docs/operate.md; tests/faults has the backup that is restored, and the standby that takes over.
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { layerPath } from "../../../registry/smallkey.ts";
import { Local, wms } from "../../helpers/local.ts";
import { cleanEnvironment } from "../../helpers/process.ts";
import { test } from "../../helpers/suite.ts";
import { temporaryFolder } from "../../helpers/world.ts";
import { commandsOf } from "../../installed/page.ts";
import { git } from "../../store/git-store.ts";

const [once = "", fetchLine = ""] = commandsOf("docs/operate.md", "A standby on a clone").split(/\n(?=git)/);

test("a standby never follows a service that lost layers", async () => {
	await using folder = await temporaryFolder();
	await using local = await Local.open({ files: { [layerPath("first")]: wms("first") } });
	const STANDBY = join(folder.path, "standby");
	await mkdir(STANDBY);
	const env = cleanEnvironment({ PRIMARY: local.folder, STANDBY });
	const follow = (commands: string) => promisify(execFile)("bash", ["-euc", commands], { env });
	await follow(once);
	await local.put("followed", wms("followed"));
	await follow(fetchLine);
	assert.is(await git(STANDBY, "rev-parse", "main"), local.store.tip);
	// The service begins empty.
	await using other = await Local.open();
	await git(STANDBY, "config", "remote.origin.url", other.repository);
	const refusal = await follow(fetchLine).then(() => "", String);
	assert.match(refusal, "[rejected]");
	assert.is(await git(STANDBY, "rev-parse", "main"), local.store.tip);
});

test.run();
