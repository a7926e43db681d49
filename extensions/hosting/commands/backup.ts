import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import glob from "fast-glob";
import { WrongError } from "../../../api/configuration.ts";
import { parseSenders } from "../../../api/senders.ts";
import { repositoryPath } from "../../../api/service/data-dir.ts";
import { sendersPath } from "../../../api/service/senders-file.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { createRun } from "../../../scripts/terminal/command-line.ts";
import { readTextIfThere, replaceFile } from "../../../store/files/files.ts";
import { gitText, runGit } from "../../../store/git/commands/run.ts";
import { readRef } from "../../../store/git/repository.ts";

const main = "refs/heads/main";

/** Commits of a branch that the source has replaced or removed stay. */
const configuration =
	"-c core.logAllRefUpdates=always -c core.fsync=committed -c fetch.fsckObjects=true -c gc.auto=0".split(" ");

/** Copies `main` first, and without force: git refuses a commit that does not follow. Then it reads the copy back. */
async function copyRepository(source: string, target: string) {
	await mkdir(target, { recursive: true, mode: 0o700 });
	const git = (...words: string[]) => runGit(target, words, { limitMs: 3_600_000 });
	await git("init", "--quiet", "--bare", "--initial-branch=main");
	const hadMain = (await readRef(target)) !== null;
	const fetch = [...configuration, "fetch", "--no-tags", "--no-write-fetch-head"];
	// The source may belong to another user than root, who makes the backup.
	fetch.push("--upload-pack=git -c safe.directory='*' upload-pack");
	await git(...fetch, source, `${main}:${main}`);
	await git(...fetch, "--prune", source, "+refs/heads/*:refs/heads/*");
	if (!hadMain) return void (await git("fsck", "--strict", "--no-dangling", "--no-progress"));
	// Git has checked what is new; each earlier backup left a pack with commits.
	await git("rev-list", "--all", "--quiet");
	await checkPacks(join(target, "objects/pack"));
}

/** A pack and its index end with their SHA-1 (gitformat-pack(5)). @throws {Error} if a byte has changed */
async function checkPacks(folder: string) {
	for (const name of await glob("*.{pack,idx}", { cwd: folder, absolute: true })) {
		const end = (await stat(name)).size - 20;
		const hash = createHash("sha1");
		await pipeline(createReadStream(name, { end: end - 1 }), hash);
		const [sum] = await createReadStream(name, { start: end }).toArray();
		if (!hash.digest().equals(sum ?? Buffer.alloc(0))) throw new Error(`${name}: is damaged`);
	}
}

/** @param message git's */
function reasonOf(message: string) {
	if (/rejected|non-fast-forward/.test(message))
		return "has commits that the source does not have, and stays as it is. Restore it (docs/operate.md), or name another folder";
	if (message.includes("fatal: not a git repository")) return "is damaged: move it away, and back up again";
	return `failed: ${message}`;
}

export const run = createRun(async ({ read, environment, io }) => {
	const [, name] = await read((line) => line.argument("<dir>", "the folder of the backup, on another disk"));
	const { dataDir } = readConfiguration({ DATA_DIR: environment.DATA_DIR });
	const folder = resolve(name);
	if (!relative(dataDir, folder).startsWith(".."))
		throw new Error(`${folder}: must be outside ${dataDir}, on another disk`);
	const [source, target] = [resolve(repositoryPath(dataDir)), repositoryPath(folder)];
	const [from, to] = [sendersPath(dataDir), sendersPath(folder)];
	const [senders, before] = [await readTextIfThere(from), await readTextIfThere(to)];
	if (senders !== null) parseSenders(senders, from);
	else if (before !== null)
		throw new WrongError(`${from}: is not there, and the backup in ${folder} has it: nothing was changed`);
	await copyRepository(source, target).catch(({ message }: Error) => {
		throw new WrongError(`${folder}: the backup ${reasonOf(message)}`);
	});
	if (senders !== null) {
		const earlier = `${to}.${io.now().toISOString().replaceAll(":", "")}`;
		if (before !== null && before !== senders) await replaceFile(earlier, before);
		await replaceFile(to, senders);
	}
	const rest = senders === null ? "no senders file: keep SENDERS, too" : "the senders";
	const commit = await gitText(target, ["rev-parse", "--short=12", main]);
	io.print(`${folder}: has the layers at commit ${commit}, and ${rest}; all was read back`);
});
