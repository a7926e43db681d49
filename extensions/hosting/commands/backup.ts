// npx fragment-publisher backup: copies the layers and the senders of DATA_DIR to another disk
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import glob from "fast-glob";
import { WrongError } from "../../../api/configuration.ts";
import { parseSenders } from "../../../api/senders.ts";
import { repositoryPath } from "../../../api/service/data-dir.ts";
import { sendersPath } from "../../../api/service/senders-file.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { counted } from "../../../registry/untrusted-text.ts";
import { createRun } from "../../../scripts/terminal/command-line.ts";
import { readTextIfThere, replaceFile } from "../../../store/files/files.ts";
import { gitText, runGit } from "../../../store/git/commands/run.ts";

const main = "refs/heads/main";

/** A branch that the source has replaced or removed stays in the reflog; what is fetched stays a pack, which has a checksum. */
const fetch =
	`-c core.logAllRefUpdates=always -c core.fsync=committed -c fetch.fsckObjects=true -c fetch.unpackLimit=1
	-c gc.auto=0 fetch --no-tags --no-write-fetch-head`.split(/\s+/);

/**
 * `main` is fetched first, and without force: git refuses a commit that does not follow. Then the copy is read back: by
 * sums where the last backup has checked it, so that the time of a backup grows with what is new.
 */
async function copyRepository(source: string, target: string): Promise<void> {
	const git = (...words: string[]) => runGit(target, words, { limitMs: 3_600_000 });
	await git("init", "--quiet", "--bare", "--initial-branch=main");
	const list = join(target, "checked-packs");
	const checked = (await readTextIfThere(list))?.split("\n");
	// After a backup that fails, the next one checks every object.
	await rm(list, { force: true });
	// The source may belong to another user than root, who makes the backup.
	const serve = "--upload-pack=git -c safe.directory='*' upload-pack";
	await git(...fetch, serve, source, `${main}:${main}`);
	await git(...fetch, serve, "--prune", source, "+refs/heads/*:refs/heads/*");
	const sums = await sumsOf(target);
	const added = sums.filter((line) => line.endsWith(".idx") && !checked?.includes(line));
	if (!checked?.every((line) => sums.includes(line)))
		await git("fsck", "--strict", "--no-dangling", "--no-progress");
	else for (const line of added) await git("verify-pack", line.replace(/^\w+ +/, ""));
	await replaceFile(list, sums.join("\n"));
}

/** A line for each file of objects, as sha256sum(1) prints it. */
async function sumsOf(target: string): Promise<string[]> {
	const lines: string[] = [];
	for (const path of await glob("objects/**", { cwd: target })) {
		const hash = createHash("sha256");
		for await (const bytes of createReadStream(join(target, path))) hash.update(bytes);
		lines.push(`${hash.digest("hex")}  ${path}`);
	}
	return lines;
}

const help = `
The service may run meanwhile. The branch main of the backup only moves forward: it ends with 1, and the backup is as before, if
DATA_DIR lacks commits that the backup has, or is damaged. docs/operate.md says how to restore it.`;

export const run = createRun("backup", async ({ read, environment, io }) => {
	const [, name] = await read((line) =>
		line.argument("<dir>", "the folder of the backup, on another disk").addHelpText("after", help),
	);
	const { dataDir } = readConfiguration({ DATA_DIR: environment.DATA_DIR });
	const folder = resolve(name);
	const [source, target] = [resolve(repositoryPath(dataDir)), repositoryPath(folder)];
	if (!relative(resolve(dataDir), folder).startsWith(".."))
		throw new Error(`${folder}: must be outside ${dataDir}, on another disk`);
	await gitText(source, ["rev-parse", "--verify", main]).catch(() => {
		throw new WrongError(`${source}: there is nothing to back up; is its disk mounted?`);
	});
	const [from, to] = [sendersPath(dataDir), sendersPath(folder)];
	const [senders, before] = [await readTextIfThere(from), await readTextIfThere(to)];
	if (senders !== null) parseSenders(senders, from);
	else if (before !== null)
		throw new WrongError(`${from}: is not there, and the backup in ${folder} has it: nothing was changed`);
	await mkdir(target, { recursive: true, mode: 0o700 });
	await copyRepository(source, target).catch(({ message }: Error) => {
		if (!/rejected|non-fast-forward/.test(message))
			throw new WrongError(`${folder}: the backup failed: ${message}`);
		throw new WrongError(
			`${folder}: the backup has commits that ${source} does not have. The source was lost and began again, or is an older copy. The backup is as before. To go back to it, restore it (docs/operate.md); to back up the source as it is now, name another folder`,
		);
	});
	let report = "and no senders file: SENDERS has them, keep that too";
	if (senders !== null) {
		const kept = `${to}.${io.now().toISOString().replaceAll(":", "")}`;
		const isReplaced = before !== null && before !== senders;
		if (isReplaced) await replaceFile(kept, before, 0o600);
		await replaceFile(to, senders, 0o600);
		report = `and the senders${isReplaced ? ` (those of before: ${kept})` : ""}`;
	}
	const files = await gitText(target, ["ls-tree", "-r", "--name-only", main, "layers/"]);
	const layers = files.match(/^layers\/[^/]+\/[^/.]+\.json$/gm)?.length ?? 0;
	const commit = await gitText(target, ["rev-parse", "--short=12", main]);
	io.print(`${folder}: has ${counted(layers, "layer")} at commit ${commit}, ${report}; all was read back`);
});
