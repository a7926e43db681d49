import { folderOf } from "../../registry/smallkey.ts";
import { problemAt } from "../../registry/texts.ts";
import { judgeRepeat } from "../repeat.ts";
import {
	authorOf,
	type Commit,
	type Edit,
	type Edits,
	isRefusal,
	type Meta,
	type Refusal,
	serviceIdentity,
	twinWaits,
	type UsedRequest,
} from "../store.ts";
import type { WriteHealth } from "./base.ts";
import type { Branch } from "./branch.ts";
import { listCommits, personText, readCommits } from "./commands/commits.ts";
import { GitFailure, gitText } from "./commands/run.ts";
import type { CommitReader } from "./reader.ts";
import type { UsedRequests } from "./used-requests.ts";

/** How many commits of a review are read: its sender's, and those that a reviewer has added. */
const maxReviewCommits = 100;

/** The sender of the newest change of a review. @param served the published commit @returns null if no sender made it */
export async function senderOf(repository: string, served: string, review: string): Promise<string | null> {
	const words = ["--topo-order", `--max-count=${maxReviewCommits}`, `${served}..${review}`];
	for await (const { author, committer } of readCommits(repository, await listCommits(repository, words)))
		if (personText(committer) === serviceIdentity) return authorOf(author.mail);
	return null;
}

/** The refusal of a new smallkey of which another spelling waits for review, or null. @param reader the state without it */
export async function findTwin(
	branch: Pick<Branch, "commit" | "readerAt">,
	repository: string,
	smallkey: string | null,
	reader: CommitReader,
): Promise<Refusal | null> {
	if (smallkey === null || (await reader.ids(smallkey)) !== null) return null;
	const words = [
		"--ignore-case",
		`--no-merged=${branch.commit}`,
		"--format=%(objectname) %(refname:lstrip=3)",
	];
	const folder = "refs/heads/register/";
	const refs = ["*.*", "*/review.*", smallkey].map((name) => `${folder}${name}`);
	for (const line of (await gitText(repository, ["for-each-ref", ...words, ...refs])).split("\n")) {
		const [commit = "", name = ""] = line.split(" ");
		const isOfMany = name.includes(".");
		const spellings = isOfMany ? await branch.readerAt(commit).keys(folderOf(smallkey), smallkey) : [name];
		const other = spellings.find((spelling) => spelling !== "" && spelling !== smallkey);
		if (other !== undefined) return twinWaits(smallkey, other);
	}
	return null;
}

export interface Pending {
	edits: Edits;
	meta: Meta;
	resolve: (outcome: Commit | Refusal) => void;
	reject: (error: unknown) => void;
}

export interface Judged {
	pending: Pending;
	meta: Meta;
	/** Empty if the change is refused, or changes nothing. */
	edits: Edit[];
	refusal: Refusal | null;
	/** Id of the commit with the requested state; null for the branch's last commit, or if there is no commit yet. */
	commit: string | null;
}

/**
 * Judges the changes of a group in their order, each on the state after the ones before it. If the function of a change
 * throws, the change is rejected and left out of the results.
 * @param group no two of them have the same signed request
 * @param reader the state before the group; the edits of the group are added to it
 * @param held returns why a change that would change something cannot be made; null if it can
 */
export async function judgeGroup(
	group: readonly Pending[],
	reader: CommitReader,
	{ requests, health }: { requests: UsedRequests; health: WriteHealth },
	held: (meta: Meta) => Promise<Refusal | null> = async () => null,
): Promise<Judged[]> {
	const judged: Judged[] = [];
	// Reads the folders of all changes in advance, while the first ones are judged; the next reader handles a failure.
	for (const { smallkey } of group.map(({ meta }) => meta))
		if (smallkey !== null) reader.folder(folderOf(smallkey)).catch(() => undefined);
	for (const pending of group) {
		const { edits, meta } = pending;
		try {
			const proposed = await edits(reader);
			const refusal = isRefusal(proposed) || proposed.length === 0 ? null : await held(meta);
			const result = judge(meta, refusal ?? proposed, requests);
			judged.push({ pending, meta, edits: [], refusal: null, commit: null, ...result });
			reader.overlay(result.edits ?? []);
		} catch (error) {
			pending.reject(error instanceof GitFailure ? health.failed(error) : error);
		}
	}
	return judged;
}

/** The signed requests among judged changes. @param tip the commit of changes without a commit of their own */
export function usesOf(judged: readonly Judged[], tip: string): UsedRequest[] {
	return judged.flatMap(({ meta: { request, method = "-", time }, refusal, commit }) =>
		request === null ? [] : [{ request, method, time, outcome: refusal?.status ?? commit ?? tip }],
	);
}

function judge(
	{ request, method = "-", time }: Meta,
	outcome: Edit[] | Refusal,
	requests: UsedRequests,
): Partial<Pick<Judged, "edits" | "refusal" | "commit">> {
	const first = request === null ? null : requests.find(request);
	if (first) {
		const refusal = judgeRepeat(first, method, outcome);
		return refusal ? { refusal } : { commit: String(first.outcome) };
	}
	if (isRefusal(outcome)) return { refusal: outcome };
	if (request !== null && outcome.length > 0 && requests.isForgotten(time)) return { refusal: mayBeUsed };
	return { edits: outcome };
}

const mayBeUsed: Refusal = {
	status: 401,
	reason: "used before",
	errors: [problemAt("TimeStamp", "clock")],
};
