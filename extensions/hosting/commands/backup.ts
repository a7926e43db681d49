// npx fragment-publisher backup: copies the layers and the senders of DATA_DIR to another disk
import { mkdir, readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { WrongError } from "../../../api/configuration.ts";
import { parseSenders } from "../../../api/senders.ts";
import { repositoryPath } from "../../../api/service/data-dir.ts";
import { sendersPath } from "../../../api/service/senders-file.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { createRun } from "../../../scripts/terminal/command-line.ts";
import { readTextIfThere, replaceFile } from "../../../store/files/files.ts";
import { GitFailure, gitText, runGit } from "../../../store/git/commands/run.ts";

const main = "refs/heads/main";
const limitMs = 3_600_000;

/** A branch that the source has replaced or removed stays in the reflog and the objects of the backup. */
const config = [
	"core.logAllRefUpdates=always",
	"core.fsync=committed",
	"fetch.fsckObjects=true",
	"gc.auto=0",
	"fetch.unpackLimit=1",
];

/** `main` is fetched first, and without force: git refuses a commit that does not follow. Then the whole copy is read back. */
async function copyRepository(source: string, target: string): Promise<void> {
	const git = (...words: string[]) => runGit(target, words, { limitMs, config });
	await git("init", "--quiet", "--bare", "--initial-branch=main");
	// The source may belong to another user than root, who makes the backup.
	const serve = "--upload-pack=git -c safe.directory='*' upload-pack";
	const fetch = ["fetch", "--no-tags", "--no-write-fetch-head", serve];
	await git(...fetch, source, `${main}:${main}`);
	await git(...fetch, "--prune", source, "+refs/heads/*:refs/heads/*");
	await git("fsck", "--strict", "--no-dangling", "--no-progress");
}

function sentenceOf({ message }: Error, source: string, folder: string): string {
	const isBehind = /rejected|non-fast-forward/.test(message);
	if (!isBehind) return `${folder}: the backup failed: ${message}`;
	return `${folder}: the backup has commits that ${source} does not have. The source was lost and began again, or is an older copy. The backup is as before. To go back to it, restore it (docs/operate.md); to back up the source as it is now, name another folder`;
}

/** Keeps a different senders file of before. @returns what the report says */
async function copySenders(text: string | null, path: string, now: Date): Promise<string> {
	if (text === null) return "and no senders file: SENDERS has them, keep that too";
	const before = await readTextIfThere(path);
	const isReplaced = before !== null && before !== text;
	const kept = `${path}.${now.toISOString().replaceAll(":", "")}`;
	if (isReplaced) await replaceFile(kept, before, 0o600);
	await replaceFile(path, text, 0o600);
	if ((await readFile(path, "utf8")) !== text) throw new WrongError(`${path}: is not what was written to it`);
	return `and the senders${isReplaced ? ` (those of before: ${kept})` : ""}`;
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
	const senders = await readTextIfThere(from);
	if (senders !== null) parseSenders(senders, from);
	else if ((await readTextIfThere(to)) !== null)
		throw new WrongError(`${from}: is not there, and the backup in ${folder} has it: nothing was changed`);
	await mkdir(target, { recursive: true, mode: 0o700 });
	await copyRepository(source, target).catch((error: Error) => {
		throw error instanceof GitFailure ? new WrongError(sentenceOf(error, source, folder)) : error;
	});
	const rest = await copySenders(senders, to, io.now());
	const commit = await gitText(target, ["rev-parse", "--short=12", main]);
	io.print(`${folder}: has the layers of commit ${commit}, ${rest}; all was read back`);
});
