import { readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { runGit } from "../../system/git/run.ts";
import { Local, wms } from "../helpers/local.ts";
import { test } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { beforeGit, temporaryFolder } from "../helpers/world.ts";

const layers = 1_500;

test("a large push is compared once, by the service; its catalogue reads the history once", async () => {
	await using folder = await temporaryFolder();
	const log = join(folder.path, "commands");
	await writeFile(log, "");
	using _git = beforeGit(join(folder.path, "bin"), [`echo "$*" >> '${log}'`]);
	/** The commands of git since the last call. */
	const commands = async () => {
		const lines = (await readFile(log, "utf8")).split("\n").filter(Boolean);
		await truncate(log);
		return lines.map((line) => / -C \S+ (.*)$/.exec(line)?.[1] ?? line);
	};
	const files = { [layerPath("one")]: wms("one") };
	await using local = await Local.open({ files, variables: { SITE: "on" } });
	await eventually(() => local.catalogue?.updatedTo === local.store.tip);
	const edits = Array.from({ length: layers }, (_, index) => {
		const text = wms(`layer ${index}`);
		return `M 100644 inline ${layerPath(`k${index % 50}x${index}`)}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
	});
	const head = `commit refs/heads/main\ncommitter a <a@b> 1772625600 +0000\ndata 1\nx\nfrom ${local.store.tip}\n`;
	await commands();
	await runGit(local.repository, ["fast-import", "--quiet"], { input: `${head}${edits.join("")}\n` });
	await eventually(() => local.publication.table.size === layers + 1);
	await eventually(() => local.catalogue?.updatedTo === local.store.tip);
	await eventually(() => local.log.some((line) => "push" in line));
	const started = await commands();
	const of = (name: string) => started.filter((command) => command.startsWith(`${name} `));
	assert.is(of("diff-tree").length, 1, started.join("\n"));
	assert.is(of("log").length, 2, "from its last commit, and, since it is too much, from nothing");
	assert.equal(
		local.log.flatMap((line) => ("push" in line ? [(line.push as { layers: number }).layers] : [])),
		[layers],
	);
});

test.run();
