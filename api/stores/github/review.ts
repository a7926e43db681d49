import { layerPath } from "../../smallkey.ts";
import {
	batchBranch,
	type Commit,
	type Edit,
	type Edits,
	isRefusal,
	type Meta,
	type Reader,
	type Refusal,
	reviewBranch,
	StoreBusy,
	usedBefore,
} from "../../store.ts";
import type { Call } from "./client.ts";
import type { Freshness } from "./freshness.ts";
import { batchBody, layerBody } from "./pull-request.ts";
import { carriesRequest, type Replays } from "./replay.ts";
import { type Head, made, makeCommit, moveBranch, placeBranch, readerAt, readHead } from "./repository.ts";

/** What a proposal needs of the store. */
export interface Proposing {
	call: Call;
	/** The branch that reviewers merge into. */
	branch: string;
	owner: string;
	replays: Replays;
	fresh: Freshness;
	/** When the change came in. */
	started: Date;
	/** Whether an earlier try got as far as writing: what it wrote may be there although its answer was lost. */
	written: boolean;
}

interface PullRequest {
	number: number;
	html_url: string;
}

/**
 * Makes a change on a branch of its own, with a pull request; a further change before the merge joins it. The branch
 * of a pull request that was closed or merged is started anew.
 * @param proposing the same at each try
 * @throws {Conflict} where somebody else was faster
 */
export async function proposeChange(
	proposing: Proposing,
	edits: Edits,
	meta: Meta,
): Promise<Commit | Refusal> {
	const { call, branch, replays, fresh, started } = proposing;
	const proposal = proposalBranch(meta);
	const main = fresh.check(await readHead(call, branch));
	if (!main) throw new StoreBusy("the repository on GitHub has no commit yet", 300);
	const open = await findPullRequest(proposing, proposal);
	const base = open ? fresh.check((await readHead(call, proposal)) as Head) : main;
	const receipt = open ? { branch: proposal, pullRequest: open.html_url } : {};
	const landed = proposing.written && open && base.recent.find((commit) => carriesRequest(commit, meta));
	if (landed) return { commit: landed.sha, changed: true, ...receipt };
	const now = readerAt(call, base);
	const wanted = await edits(now);
	if (isRefusal(wanted)) return wanted;
	if (wanted.length === 0) return { commit: base.commit, changed: false, ...receipt };
	if (await replays.wasUsed(call, base, meta)) return usedBefore;
	const commit = await makeCommit(call, base, wanted, meta, started);
	if (commit === null) return { commit: base.commit, changed: false, ...receipt };
	const body = await describe(meta, wanted, open ? readerAt(call, main) : now, now);
	proposing.written = true;
	await (open ? moveBranch : placeBranch)(call, proposal, commit);
	if (open) fresh.replaced(base.commit);
	const { html_url } = await writePullRequest(proposing, proposal, open, { title: meta.subject, body });
	return { commit, changed: true, branch: proposal, pullRequest: html_url };
}

/** Where a change waits. */
function proposalBranch({ smallkey, author }: Meta): string {
	return smallkey === null ? batchBranch(author) : reviewBranch(smallkey);
}

/** The pull request's text: what merging it changes on the branch below it. */
async function describe(meta: Meta, edits: Edit[], main: Reader, proposed: Reader): Promise<string> {
	const { smallkey } = meta;
	if (smallkey === null) return batchBody(meta, edits);
	const edit = edits.find(({ path }) => path === layerPath(smallkey));
	const before = await main.read(smallkey);
	const after = edit ? edit.text : (await proposed.read(smallkey))?.registration;
	return layerBody(meta, smallkey, before?.registration ?? null, after ?? null);
}

async function findPullRequest({ call, branch, owner }: Proposing, proposal: string) {
	const parameters = { state: "open", head: `${owner}:${proposal}`, base: branch };
	const answer = await call<PullRequest[]>("GET", "/repos/{owner}/{repo}/pulls", parameters);
	return made(answer, "list the pull requests")[0] ?? null;
}

async function writePullRequest(
	{ call, branch }: Proposing,
	proposal: string,
	open: PullRequest | null,
	text: { title: string; body: string },
): Promise<PullRequest> {
	if (open) {
		const route = `/repos/{owner}/{repo}/pulls/${open.number}`;
		return made(await call<PullRequest>("PATCH", route, text), "update the pull request");
	}
	const parameters = { ...text, head: proposal, base: branch };
	const answer = await call<PullRequest>("POST", "/repos/{owner}/{repo}/pulls", parameters);
	return made(answer, "open a pull request");
}
