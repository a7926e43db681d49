import { open, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { authorMail, commitMessage, serviceAuthor } from "../naming.ts";
import type { Edit, Meta } from "../store.ts";
import type { StoreBase, Sync } from "./base.ts";
import { GitFailure, GitKilled, GitTimeout, gitText } from "./commands/run.ts";

class DiskTimeout extends Error {
	override name = "DiskTimeout";
}

export function syncWithin(maxMs: number, sync: Sync): Sync {
	return (path) =>
		new Promise((resolve, reject) => {
			const late = new DiskTimeout(`${path}: was not on the disk within ${maxMs / 1000} s`);
			const timer = setTimeout(reject, maxMs, late);
			const ended = () => clearTimeout(timer);
			sync(path).then(resolve, reject).finally(ended);
		});
}

/** Some folders cannot be synced: network file systems, Windows, another user's parent. */
const unsupported = ["EACCES", "EINVAL", "EISDIR", "ENOTSUP", "EPERM"];

export async function syncPath(path: string): Promise<void> {
	try {
		await using file = await open(path, "r");
		await file.sync();
	} catch (error) {
		if (!unsupported.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
	}
}

interface ImportedCommit {
	author: string;
	committer: string;
	message: string;
	edits: readonly Edit[];
}

/** `--done`: an incomplete stream changes nothing. */
const importArgs = ["fast-import", "--quiet", "--done"];

/**
 * `unpackLimit`: commits stay one pack. `compression`: a repack replaces most objects by deltas. `fsync`:
 * also with damaged settings.
 */
const importConfig = ["fastimport.unpackLimit=1", "pack.compression=1", "core.fsync=committed"];

/** git-fast-import(1). Prints the commit's id. @param from its parent; null: the commit before it, if any */
function commitCommands(branch: string, from: string | null, commit: ImportedCommit): string[] {
	const { author, committer, message, edits } = commit;
	const head = `commit ${branch}\nmark :1\nauthor ${author}\ncommitter ${committer}\n${data(message)}`;
	const files = edits.map(({ path, text }) => {
		return text === null ? `D ${path}\n` : `M 100644 inline ${path}\n${data(text)}`;
	});
	return [head + (from === null ? "" : `from ${from}\n`), ...files, "\nget-mark :1\n"];
}

function data(text: string): string {
	return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

/** Stores a commit that no ref names; the name of its pack is not synced. @returns its id */
export function importCommit(repository: string, from: string | null, commit: ImportedCommit) {
	const branch = "refs/pending";
	const input = [...commitCommands(branch, from, commit), `reset ${branch}\n\ndone\n`];
	return gitText(repository, importArgs, { input, config: importConfig });
}

export class BranchHeld extends GitFailure {
	override name = "BranchHeld";
}

export class GroupWriter {
	/** Folders: git syncs only the files that it renames in them (fsync(2)). */
	readonly #unsynced = new Set<string>();

	constructor(readonly base: StoreBase) {}

	/**
	 * Stores commits as one pack, each on the one before it, and moves the branch.
	 * @param from the branch's commit; null: the branch is new
	 * @returns ids, durable once `persist` has resolved
	 * @throws {BranchHeld} if the branch has moved, or another process holds its lock
	 * @throws {GitFailure} the branch may have the commits
	 */
	async write(
		branch: string,
		from: string | null,
		group: readonly { edits: readonly Edit[]; meta: Meta }[],
	): Promise<string[]> {
		const { repository, now, limits } = this.base;
		const ref = `refs/heads/${branch}`;
		const committer = personAt(serviceAuthor, now());
		const input = group.flatMap(({ edits, meta }, index) => {
			const author = personAt(meta.author, meta.time);
			const commit = { author, committer, message: commitMessage(meta.subject, [meta]), edits };
			return commitCommands(ref, index === 0 ? from : null, commit);
		});
		this.#unsynced.add(join(repository, "objects", "pack"));
		for (let folder = dirname(ref); folder !== "refs"; folder = dirname(folder))
			this.#unsynced.add(join(repository, folder));
		const config = [...importConfig, `core.filesRefLockTimeout=${limits.lockMs}`];
		const options = { input: [...input, "done\n"], config, limitMs: limits.silenceMs };
		const output = await gitText(repository, importArgs, options).catch((error) => this.#fail(ref, error));
		return output.split("\n");
	}

	/** @returns false if nothing was left to sync */
	async persist(): Promise<boolean> {
		const isLeft = this.#unsynced.size > 0;
		for (const folder of this.#unsynced) {
			await this.base.sync(folder);
			this.#unsynced.delete(folder);
		}
		return isLeft;
	}

	/** The messages are those of refs.c and builtin/fast-import.c. */
	async #fail(ref: string, error: Error): Promise<never> {
		const { repository } = this.base;
		const { message } = error;
		const [, lock] = /Unable to create '(.+\.lock)': File exists/.exec(message) ?? [];
		const isEnded = error instanceof GitTimeout || error instanceof GitKilled;
		const locks = isEnded ? ["HEAD", ref].map((name) => join(repository, `${name}.lock`)) : [];
		for (const path of lock ? [lock] : locks) await this.#clearLock(path);
		throw lock || /cannot lock ref|does not contain/.test(message) ? new BranchHeld(message) : error;
	}

	/** Removes a lock that stays for longer than git ever holds one. */
	async #clearLock(path: string): Promise<void> {
		const before = await readIdentity(path);
		if (before === null) return;
		await sleep(this.base.limits.lockMs);
		if ((await readIdentity(path)) !== before) return;
		await rm(path, { force: true });
		this.base.log.warn(`${path}: removed, since a killed process left it`);
	}
}

/** Not the file's age: the system's clock may have been changed. */
async function readIdentity(path: string): Promise<string | null> {
	const file = await stat(path, { bigint: true }).catch(() => null);
	return file && `${file.ino} ${file.ctimeNs}`;
}

function personAt(name: string, timeMs: number): string {
	return `${name} <${authorMail(name)}> ${Math.floor(timeMs / 1000)} +0000`;
}
