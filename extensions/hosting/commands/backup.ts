// npx fragment-publisher backup: copies the layers and the senders of DATA_DIR to another disk

import { mkdir, readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { parseSenders } from "../../../api/senders.ts";
import { repositoryPath } from "../../../api/service/data-dir.ts";
import { sendersPath } from "../../../api/service/senders-file.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { counted } from "../../../registry/plain.ts";
import { WrongError } from "../../../registry/wrong-error.ts";
import { createRun } from "../../../scripts/terminal/command-line.ts";
import { readTextIfThere } from "../../../store/files/if-there.ts";
import { replaceFile } from "../../../store/files/replace-file.ts";
import { isDescendant } from "../../../store/git/commands/commits.ts";
import { GitFailure, gitText, runGit } from "../../../store/git/commands/run.ts";
import { reasonOf } from "../../../store/git/health.ts";

const main = "refs/heads/main";
/** Where the branches of the source arrive, before they are checked. */
const arriving = "refs/arriving/";
/** Where branches are kept that the source has removed or replaced, below the time of the backup. */
const keptFolder = "refs/kept/";

/** Longest time of one git command on a whole repository, in milliseconds. */
const limitMs = 3_600_000;

/** Settings of a backup: reflogs are kept for ever, git removes nothing, and everything is on the disk at the end. */
const settings = [
	["core.logAllRefUpdates", "always"],
	["core.fsync", "committed"],
	["gc.auto", "0"],
	["maintenance.auto", "false"],
] as const;

/** What a backup has now. */
interface Backup {
	/** The last commit of the branch main. */
	commit: string;
	layers: number;
	/** Whether it has a senders file. */
	hasSenders: boolean;
	/** Where earlier states were kept: refs of the backup's repository, and files in its folder. */
	kept: string[];
}

/**
 * Copies the layers with their history, and the senders, of a data folder to another folder. A running service is not
 * disturbed. The branch main of the backup only moves forward; what else was removed or replaced in the source is kept under a
 * dated name. The copy is read back before the branches of the backup move.
 * @throws {WrongError} if the source has lost something that the backup has, or is damaged; the backup is as before then
 */
async function backUp(dataDir: string, folder: string, now: Date): Promise<Backup> {
	const source = repositoryPath(dataDir);
	const target = repositoryPath(folder);
	const below = relative(resolve(dataDir), resolve(folder));
	if (!below.startsWith("..")) throw new Error(`${folder}: must be outside ${dataDir}, on another disk`);
	await orSentence(`${source}: there is nothing to back up; is its disk mounted?`, () => tipOf(source));
	const senders = await readSendersOf(dataDir, folder);
	await mkdir(folder, { recursive: true, mode: 0o700 });
	const failed = `${folder}: the backup failed, and its branches are as before`;
	const kept = await orSentence(failed, async () => {
		await runGit(folder, ["init", "-q", "--bare", "--initial-branch=main", target]);
		for (const [name, value] of settings) await runGit(target, ["config", name, value]);
		// A backup that was made by git clone --mirror: its own fetch would go backwards.
		await runGit(target, ["config", "--remove-section", "remote.origin"]).catch(() => undefined);
		await copyObjects(source, target);
		await checkForward(source, target, folder);
		return moveBranches(target, now);
	});
	kept.push(...(await copySenders(folder, senders, now)));
	const listed = await runGit(target, ["ls-tree", "-r", "--name-only", main, "layers/"]);
	const layers = listed.toString().match(/^layers\/[^/]+\/[^/.]+\.json$/gm)?.length ?? 0;
	return { commit: await tipOf(target), layers, hasSenders: senders !== null, kept };
}

/** Runs a task. @throws {WrongError} with a sentence and the reason if git fails */
async function orSentence<T>(sentence: string, task: () => Promise<T>): Promise<T> {
	return task().catch((error) => {
		if (!(error instanceof GitFailure)) throw error;
		const [words] = error.message.split("\n");
		throw new WrongError(`${sentence} (${reasonOf(error)}: ${words})`);
	});
}

function tipOf(repository: string, ref = main): Promise<string> {
	return gitText(repository, ["rev-parse", "--verify", "--end-of-options", ref]);
}

/** Copies the objects of all branches, and reads all of them back. */
async function copyObjects(source: string, target: string): Promise<void> {
	// The source may belong to another user, such as the service's if root makes the backup.
	const serve = "git -c safe.directory='*' upload-pack";
	const words = ["--quiet", "--no-tags", "--no-write-fetch-head", "--prune", `--upload-pack=${serve}`];
	await runGit(target, ["fetch", ...words, resolve(source), `+refs/heads/*:${arriving}*`], { limitMs });
	await runGit(target, ["fsck", "--strict", "--no-dangling", "--no-progress"], { limitMs });
}

/** @throws {WrongError} if the source's branch main does not have all commits of the backup's */
async function checkForward(source: string, target: string, folder: string): Promise<void> {
	const before = await tipOf(target).catch(() => null);
	const after = await tipOf(target, `${arriving}main`);
	if (before === null || (await isDescendant(target, before, after))) return;
	const describe = (id: string) => gitText(target, ["log", "-1", "--format=%h of %cI", id]);
	throw new WrongError(
		[
			`${folder}: the backup ends with commit ${await describe(before)}, which ${source} does not have: it ends with`,
			`${await describe(after)}. The source was lost and began again, or is an older copy. The backup is as before.`,
			"To go back to it, restore it (docs/operate.md); to back up the source as it is now, name another folder",
		].join(" "),
	);
}

/** Moves the backup's branches to those that have arrived. @returns the refs under which others were kept */
async function moveBranches(target: string, now: Date): Promise<string[]> {
	const format = "--format=%(objectname) %(refname)";
	const listed = (await gitText(target, ["for-each-ref", format])).split("\n").filter(Boolean);
	const refs = new Map(listed.map((line) => [line.slice(line.indexOf(" ") + 1), line.split(" ")[0] ?? ""]));
	const stamp = now.toISOString().replaceAll(":", "");
	const [removals, moves, kept]: [string[], string[], string[]] = [[], [], []];
	for (const [ref, id] of refs) {
		if (ref.startsWith(arriving)) {
			removals.push(`delete ${ref} ${id}`);
			moves.push(`update refs/heads/${ref.slice(arriving.length)} ${id}`);
		}
		if (!ref.startsWith("refs/heads/")) continue;
		const name = ref.slice("refs/heads/".length);
		const next = refs.get(arriving + name);
		if (next !== undefined && (await isDescendant(target, id, next))) continue;
		kept.push(`${keptFolder}${stamp}/${name}`);
		removals.push(`create ${kept.at(-1)} ${id}`, `delete ${ref} ${id}`);
	}
	// Two transactions: a name may be free only after another one is removed (`a`, and `a/b`).
	for (const lines of [removals, moves])
		await runGit(target, ["update-ref", "-m", "backup", "--stdin"], { input: `${lines.join("\n")}\n` });
	return kept;
}

/** The text of the senders file; null if there is none here and in the backup. */
async function readSendersOf(dataDir: string, folder: string): Promise<string | null> {
	const place = sendersPath(dataDir);
	const text = await readTextIfThere(place);
	if (text !== null) parseSenders(text, place);
	else if ((await readTextIfThere(sendersPath(folder))) !== null)
		throw new WrongError(`${place}: is not there, and the backup in ${folder} has it: nothing was changed`);
	return text;
}

/** Copies the senders file, and reads it back. @returns the name of the file that keeps other senders */
async function copySenders(folder: string, text: string | null, now: Date): Promise<string[]> {
	if (text === null) return [];
	const path = sendersPath(folder);
	const before = await readTextIfThere(path);
	const kept = before === null || before === text ? [] : [`${path}.${now.toISOString().replaceAll(":", "")}`];
	for (const name of kept) await replaceFile(name, before ?? "", undefined, 0o600);
	await replaceFile(path, text, undefined, 0o600);
	if ((await readFile(path, "utf8")) !== text)
		throw new WrongError(`${path}: does not have what was written to it: its disk fails`);
	return kept;
}

/** The lines that say what a backup has. */
function backupLines(folder: string, { commit, layers, hasSenders, kept }: Backup): string[] {
	const senders = hasSenders ? "and the senders" : "and no senders file: SENDERS has them, keep that too";
	return [
		`${folder}: has ${counted(layers, "layer")} at commit ${commit.slice(0, 12)}, ${senders}; all was read back`,
		...kept.map((place) => `kept what was replaced or removed since the last backup: ${place}`),
	];
}

const help = `
The service may run meanwhile. The first backup copies everything, later ones what is new. The branch main of the backup only
moves forward: it ends with 1, and the backup is as before, if DATA_DIR lacks commits that the backup has, or is damaged.
docs/operate.md says how to restore it.`;

export const run = createRun("backup", async ({ read, environment, io }) => {
	const [, named] = await read((line) =>
		line.argument("<dir>", "the folder of the backup, on another disk").addHelpText("after", help),
	);
	const { dataDir } = readConfiguration({ DATA_DIR: environment.DATA_DIR });
	const folder = resolve(named);
	for (const line of backupLines(folder, await backUp(dataDir, folder, io.now()))) io.print(line);
});
