import { execFileSync } from "node:child_process";
import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { runGit } from "../../system/git/run.ts";
import { Local, wms } from "../local.ts";
import { eventually } from "../wait.ts";
import { temporaryFolder } from "../world.ts";

const layers = 1_500;

/** A folder with a git that writes its command into a file before it runs. */
async function loggingGit(folder: string): Promise<() => Promise<string[]>> {
	const log = join(folder, "commands");
	const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
	const script = `#!/bin/sh\necho "$*" >> '${log}'\nexec '${git}' "$@"\n`;
	await mkdir(join(folder, "bin"));
	await writeFile(log, "");
	await writeFile(join(folder, "bin/git"), script, { mode: 0o755 });
	return async () => {
		const lines = (await readFile(log, "utf8")).split("\n").filter(Boolean);
		await truncate(log);
		return lines.map((line) => / -C \S+ (.*)$/.exec(line)?.[1] ?? line);
	};
}

test("a large push is compared once, by the service; its catalogue reads the history once", async () => {
	const folder = await temporaryFolder();
	const commands = await loggingGit(folder.path);
	const { PATH } = process.env;
	process.env.PATH = `${join(folder.path, "bin")}:${PATH}`;
	const files = { [layerPath("one")]: wms("one") };
	const local = await Local.open({ files, variables: { SITE: "on" } });
	try {
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
	} finally {
		process.env.PATH = PATH;
		await local.end();
		await folder.remove();
	}
});

test.run();
