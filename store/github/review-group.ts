import { code } from "../../registry/untrusted-text.ts";
import { readerOf } from "../reader.ts";
import { type Commit, type Meta, type Refusal, reviewBranch, StoreBusy } from "../store.ts";
import { commitTree, emptyRepository, moveBranch, placeBranch, writeTree } from "./commit.ts";
import { filesAt } from "./commit-files.ts";
import { carriesRequest, type Head } from "./history.ts";
import {
	type Change,
	type ChangeBatch,
	type ChangeContext,
	changesSomething,
	type Decision,
	decide,
	retryRaces,
} from "./pending-commits.ts";
import { findPullRequest, openPullRequest, type PullRequest, type Text } from "./pull-request.ts";
import { createFindTwin } from "./twins.ts";

/** The branch of a review, and its pull request, if there is one. */
interface Proposal {
	name: string;
	open: PullRequest | null;
	main: Head;
	/** The state that a change is made on. */
	base: Head;
}

/**
 * Makes the changes of a batch, all of one sender and one review, as one commit on the branch of that review, with one pull
 * request: GitHub lists at most 250 commits of one.
 */
export async function proposeTogether(context: ChangeContext, batch: ChangeBatch): Promise<void> {
	const tried = { isWritten: false };
	const outcomes = await retryRaces(context, batch.until, () => propose(context, batch, tried));
	for (const [index, outcome] of outcomes.entries()) batch.jobs[index]?.settle(outcome);
}

/** @param tried notes from the first attempt on that came to write the branch: GitHub's answer may have been lost */
async function propose(context: ChangeContext, batch: ChangeBatch, tried: { isWritten: boolean }) {
	const { github } = context;
	const [first] = batch.jobs as [ChangeBatch["jobs"][number]];
	const proposal = await readProposal(context, first.job.meta);
	const { name, main, base, open } = proposal;
	batch.fill();
	const changes = batch.jobs.map(({ job }) => job);
	const decisions = await refuseTwins(context, base, changes, await decide(context, base, changes));
	const commit = await writeCommit(context, proposal, changes, decisions, tried);
	const isOpening = commit !== base.commit && !open;
	const pull = isOpening ? await openPullRequest(context, name, textOf(first.job.meta)) : open;
	const receipt = { branch: name, ...(pull && { pullRequest: pull.html_url }) };
	const states = [main, base].map((head) => readerOf(filesAt(github, head)));
	const isProposed = async ({ smallkey }: Meta) => {
		if (smallkey === null) return true;
		const [served, proposed] = await Promise.all(states.map((state) => state.ids(smallkey)));
		return served?.registration !== proposed?.registration;
	};
	const outcomeOf = async (decision: Decision, { meta }: Change): Promise<() => Commit | Refusal> => {
		if (!Array.isArray(decision)) return decision;
		if (decision.length > 0) return () => ({ commit, changed: true, ...receipt });
		const landed = tried.isWritten ? base.recent.find((past) => carriesRequest(past, meta)) : undefined;
		if (landed) return () => ({ commit: landed.sha, changed: true, ...receipt });
		const waits = open !== null && (await isProposed(meta));
		return () => ({ commit: base.commit, changed: false, ...(waits && receipt) });
	};
	return Promise.all(decisions.map((decision, index) => outcomeOf(decision, changes[index] as Change)));
}

/** Writes the changes of a batch to the branch of their review. @returns the branch's last commit */
async function writeCommit(
	{ github, heads }: ChangeContext,
	{ name, base, open }: Proposal,
	changes: readonly Change[],
	decisions: readonly Decision[],
	tried: { isWritten: boolean },
): Promise<string> {
	const changing = changes.filter((_, index) => changesSomething(decisions[index] as Decision));
	const [first] = changing;
	if (!first) return base.commit;
	const tree = await writeTree(github, base.tree, decisions.filter(changesSomething).flat());
	if (tree === base.tree) return base.commit;
	const meta = metaOf(changing.map((change) => change.meta));
	const commit = await commitTree(github, base.commit, tree, meta, first.started);
	tried.isWritten = true;
	await (open ? moveBranch : placeBranch)(github, name, commit);
	if (open) heads.noteReplaced(base.commit);
	return commit;
}

async function readProposal(context: ChangeContext, meta: Meta): Promise<Proposal> {
	const { github, branch, heads } = context;
	const name = reviewBranch(meta);
	const main = await heads.find(github, branch);
	if (!main) throw new StoreBusy(emptyRepository, 300);
	const open = await findPullRequest(context, name);
	return { name, open, main, base: (open && (await heads.find(github, name))) ?? main };
}

/** The decisions, with a refusal for each new smallkey of which another spelling waits for review elsewhere. */
async function refuseTwins(
	context: ChangeContext,
	base: Head,
	changes: readonly Change[],
	decisions: readonly Decision[],
): Promise<Decision[]> {
	const before = readerOf(filesAt(context.github, base));
	const findTwin = createFindTwin(context);
	const refused = decisions.map(async (decision, index) => {
		if (!changesSomething(decision)) return decision;
		const twin = await findTwin((changes[index] as Change).meta, before);
		return twin ? () => twin : decision;
	});
	return Promise.all(refused);
}

/** The metadata of one commit for several requests of a sender: each trailer once. */
function metaOf(metas: readonly Meta[]): Meta {
	const [first] = metas as [Meta, ...Meta[]];
	if (metas.length === 1) return first;
	const trailers = new Map(metas.flatMap(({ trailers }) => trailers).map((pair) => [pair.join(": "), pair]));
	const subject = `change ${metas.length} layers`;
	return { ...first, smallkey: null, request: null, subject, trailers: [...trailers.values()] };
}

/** The text of the pull request, which stays as it is while further changes come. */
function textOf({ author, reviewName = "" }: Meta): Text {
	const body = `The sender ${code(author)} sends these layers as one review, ${code(reviewName)}. The comment below lists them, and *Files changed* shows each. Further changes of this review come to this pull request.`;
	return { title: `review ${reviewName} of ${author}`, body };
}
