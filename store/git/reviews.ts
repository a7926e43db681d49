import { dirname, join } from "node:path";
import { runGit } from "../../git/run.ts";
import { BranchHeld } from "../../git/update-ref.ts";
import { batchBranch, type Commit, type Refusal, reviewBranch, StoreBusy } from "../store.ts";
import type { StoreContext } from "./context.ts";
import { judge, type Pending } from "./judge.ts";
import { branchLocks, clearLocks } from "./locks.ts";
import type { NewCommit } from "./new-commit.ts";
import type { PublishedHead } from "./published-head.ts";

/**
 * Makes one change on a branch of its own, for a reviewer to merge. No other change may be under way.
 * @throws {StoreBusy} where the branch cannot be made, or others keep moving it
 */
export async function changeForReview(
	pending: Pending,
	context: StoreContext,
	head: PublishedHead,
): Promise<Commit | Refusal> {
	const { meta } = pending;
	const { requests, now } = context;
	await head.follow();
	const name = meta.smallkey === null ? batchBranch(meta.author) : reviewBranch(meta.smallkey);
	const own = await openHead(context, name);
	const base = own ?? head.commit;
	const judged = judge(pending, await pending.edits(head.readerAt(base)), requests);
	const { request, method = "-", time: timeMs } = meta;
	if (judged.edits.length === 0) {
		const commit = (await judged.commit) ?? base;
		const outcome = judged.refusal?.status ?? commit;
		if (request !== null) await requests.keep([[request, { method, timeMs, outcome }]]);
		return judged.refusal ?? { commit, changed: false, ...(own ? { branch: name } : {}) };
	}
	const commit = { edits: judged.edits, meta, committed: now() };
	const id = (await write(context, name, base, commit)) ?? (await writeAgain(context, name, base, commit));
	if (request !== null) requests.noteCommitted([[request, { method, timeMs, outcome: id }]]);
	for (const folder of [dirname(join("refs/heads", name)), "refs/heads"]) {
		await context.sync(join(context.repository, folder));
	}
	context.health.recovered();
	return { commit: id, changed: true, branch: name };
}

/** The commit of a review branch that still waits to be merged; null where there is none. */
async function openHead({ catFile, branch }: StoreContext, name: string): Promise<string | null> {
	const own = await catFile.read(`refs/heads/${name}`);
	return own && !(await branch.has(own.id)) ? own.id : null;
}

/** Commits to a review's branch; null where others have moved it meanwhile, or hold its lock. */
async function write(
	{ catFile, branch, writer }: StoreContext,
	name: string,
	base: string,
	commit: NewCommit,
): Promise<string | null> {
	const there = await catFile.read(`refs/heads/${name}`);
	// What others have put there in the meantime is not built on, and stays.
	if (there && there.id !== base && !(await branch.isAncestor(there.id, base))) return null;
	writer.begin(base);
	const made = writer.commit(commit);
	await writer.store();
	const id = await made;
	try {
		await writer.move(name, there?.id ?? null, id);
		return id;
	} catch (error) {
		if (error instanceof BranchHeld) return null;
		throw error;
	}
}

async function writeAgain(
	context: StoreContext,
	name: string,
	base: string,
	commit: NewCommit,
): Promise<string> {
	const { repository, limits, log } = context;
	await refuseInTheWay(context, name);
	const removed = await clearLocks(repository, branchLocks(name), limits.lockMs);
	if (removed.length > 0) log.warn(`removed locks that a killed process left: ${removed.join(", ")}`);
	const id = await write(context, name, base, commit);
	if (id === null) throw new StoreBusy(`others change the branch ${name}`, 2);
	return id;
}

/** @throws {StoreBusy} where another branch has the name as a folder, or a folder's name */
async function refuseInTheWay({ repository, limits, log }: StoreContext, name: string): Promise<void> {
	const refs = [`refs/heads/${dirname(name)}`, `refs/heads/${name}`];
	const args = ["for-each-ref", "--format=%(refname)", ...refs];
	const output = await runGit(repository, args, { limitMs: limits.commandMs });
	const found = output.toString("utf8").split("\n").filter(Boolean);
	const other = found.find((ref) => ref === refs[0] || ref.startsWith(`${refs[1]}/`));
	if (!other) return;
	const branch = other.slice("refs/heads/".length);
	const error = new StoreBusy(`the branch ${branch} is in the way of ${name}: rename or remove it`, 60);
	log.error(error);
	throw error;
}
