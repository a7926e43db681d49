import { dirname, join } from "node:path";
import { GitFailure, runGit } from "../../git/run.ts";
import { BranchHeld } from "../../git/update-ref.ts";
import {
	batchBranch,
	type Commit,
	type Edit,
	type Edits,
	isRefusal,
	type Meta,
	type Refusal,
	reviewBranch,
	StoreBusy,
} from "../store.ts";
import { commitOnce } from "./commit-once.ts";
import { syncNames } from "./landing.ts";
import { branchLocks, clearLocks } from "./locks.ts";
import type { NewCommit } from "./new-commit.ts";
import type { Parts } from "./parts.ts";
import { answerRepeat, mayBeUsed } from "./repeats.ts";

/** Makes changes on branches of their own, for reviewers to merge. */
export class Reviews {
	readonly #parts: Parts;

	constructor(parts: Parts) {
		this.#parts = parts;
	}

	/** Makes one commit on the branch of its layer or batch. @throws {StoreBusy} where that could not be made */
	async change(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		let isOwnFault = false;
		const watched: Edits = async (now) => {
			try {
				return await edits(now);
			} catch (error) {
				isOwnFault = !(error instanceof GitFailure);
				throw error;
			}
		};
		try {
			return await this.#change(watched, meta);
		} catch (error) {
			throw isOwnFault ? error : this.#parts.condition.failed(error);
		}
	}

	async #change(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		await this.#parts.served.follow();
		const name = meta.smallkey === null ? batchBranch(meta.author) : reviewBranch(meta.smallkey);
		const own = await this.#openHead(name);
		const base = own ?? this.#parts.served.tip;
		const outcome = await edits(this.#parts.served.readerAt(base));
		const answer =
			this.#judge(meta, outcome) ?? (await this.#commit(name, base, own, outcome as Edit[], meta));
		await this.#keepRequest(meta, answer);
		return answer;
	}

	/** A refusal; null where a commit is to be made, or the first answer is to be given again. */
	#judge(meta: Meta, outcome: Edit[] | Refusal): Refusal | null {
		const { request, method = "-", time } = meta;
		const use = request === null ? null : this.#parts.requests.find(request);
		if (use) {
			const status = typeof use.outcome === "number" ? use.outcome : null;
			return answerRepeat({ method: use.method, status }, method, outcome);
		}
		if (isRefusal(outcome)) return outcome;
		const isChange = request !== null && outcome.length > 0;
		return isChange && this.#parts.requests.isForgotten(time) ? mayBeUsed : null;
	}

	/** The commit that a review branch goes on from; null where there is none that still waits to be merged. */
	async #openHead(name: string): Promise<string | null> {
		const { catFile, branch } = this.#parts;
		const own = await catFile.read(`refs/heads/${name}`);
		return own && !(await branch.has(own.id)) ? own.id : null;
	}

	async #commit(
		name: string,
		base: string,
		own: string | null,
		edits: Edit[] | Refusal,
		meta: Meta,
	): Promise<Commit> {
		if (isRefusal(edits) || edits.length === 0) {
			return { commit: base, changed: false, ...(own ? { branch: name } : {}) };
		}
		const { repository, limits, now, condition } = this.#parts;
		await this.#expectRequest(meta, base);
		const commit = { edits, meta, committed: now() };
		let id = await this.#write(name, base, commit);
		if (id === null) {
			await this.#refuseInTheWay(name);
			const removed = await clearLocks(repository, branchLocks(name), limits.lockMs);
			if (removed.length > 0)
				condition.tell(`removed locks that a killed process left: ${removed.join(", ")}`);
			id = await this.#write(name, base, commit);
			if (id === null) throw new StoreBusy(`others change the branch ${name}`, 2);
		}
		await syncNames(this.#parts, dirname(join("refs/heads", name)));
		condition.recovered();
		return { commit: id, changed: true, branch: name };
	}

	/** Commits to a review's branch; null where others have moved it meanwhile, or hold it. */
	async #write(name: string, base: string, commit: NewCommit): Promise<string | null> {
		const { limits, catFile, branch, packs } = this.#parts;
		const there = await catFile.read(`refs/heads/${name}`);
		// What somebody else has put there in the meantime is not built on, and stays.
		if (there && there.id !== base && !(await branch.isAncestor(there.id, base))) return null;
		try {
			const options = { ...this.#parts, silenceMs: limits.silenceMs };
			return await commitOnce(options, name, { base, from: there?.id ?? null }, commit);
		} catch (error) {
			if (error instanceof BranchHeld) return null;
			throw error;
		} finally {
			packs.written();
		}
	}

	/** @throws {StoreBusy} where another branch has the name as a folder, or a folder's name */
	async #refuseInTheWay(name: string): Promise<void> {
		const { repository, limits, condition } = this.#parts;
		const args = ["for-each-ref", "--format=%(refname)"];
		const refs = [`refs/heads/${dirname(name)}`, `refs/heads/${name}`];
		const output = await runGit(repository, [...args, ...refs], { limitMs: limits.commandMs });
		const found = output.toString("utf8").split("\n").filter(Boolean);
		const other = found.find((ref) => ref === refs[0] || ref.startsWith(`${refs[1]}/`));
		if (!other) return;
		const branch = other.slice("refs/heads/".length);
		const error = new StoreBusy(`the branch ${branch} is in the way of ${name}: rename or remove it`, 60);
		condition.report(error);
		throw error;
	}

	/** Notes that a commit is about to be made, on the disk before it is. */
	async #expectRequest({ request, method = "-", time: timeMs }: Meta, base: string): Promise<void> {
		if (request === null) return;
		this.#parts.requests.expect({ request, method, timeMs, base });
		await this.#parts.requests.sync();
	}

	async #keepRequest(meta: Meta, answer: Commit | Refusal): Promise<void> {
		const { request, method = "-", time: timeMs } = meta;
		if (request === null) return;
		const outcome = isRefusal(answer) ? answer.status : answer.commit;
		this.#parts.requests.add(request, { method, timeMs, outcome });
		await this.#parts.requests.sync();
	}
}
