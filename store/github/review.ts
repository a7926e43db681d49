import { layerPath } from "../../registry/smallkey.ts";
import {
	batchBranch,
	type Commit,
	type Edit,
	isRefusal,
	type Meta,
	type Reader,
	type Refusal,
	reviewBranch,
	usedBefore,
} from "../store.ts";
import type { Change, ChangeContext } from "./chain.ts";
import { commitTree, moveBranch, placeBranch, writeTree } from "./commit.ts";
import { carriesRequest, wasUsed } from "./history.ts";
import { batchBody, layerBody } from "./pull-request.ts";
import { dataOf } from "./refusal.ts";
import type { Github } from "./routes.ts";
import { CommitFiles, Snapshot } from "./snapshot.ts";

interface Text {
	title: string;
	body: string;
}

type PullRequest = NonNullable<Awaited<ReturnType<typeof findPullRequest>>>;

/**
 * Makes a change on a branch of its own, with a pull request. A further change on this branch before the merge joins the
 * same pull request. After the pull request was closed or merged, the branch starts again from the base branch.
 * @param tried the same object at each attempt. Its text is the pull request's, from the first attempt on that came to
 * write the branch: the commit may be there although GitHub's answer was lost
 * @throws {Conflict} where another writer was faster
 */
export async function proposeChange(
	context: ChangeContext,
	{ edits, meta, started }: Change,
	tried: { text: Text | null },
): Promise<Commit | Refusal> {
	const { github, branch, heads, now } = context;
	const { smallkey, author } = meta;
	const proposal = smallkey === null ? batchBranch(author) : reviewBranch(smallkey);
	const main = await heads.read(github, branch);
	const open = await findPullRequest(context, proposal);
	const base = open ? await heads.read(github, proposal) : main;
	const receipt = open ? { branch: proposal, pullRequest: open.html_url } : {};
	const landed = tried.text && open && base.recent.find((commit) => carriesRequest(commit, meta));
	if (landed) {
		await updateWhereDifferent(github, open, tried.text as Text);
		return { commit: landed.sha, changed: true, ...receipt };
	}
	const proposed = new Snapshot(new CommitFiles(github, base));
	const wanted = await edits(proposed);
	if (isRefusal(wanted)) return wanted;
	const below = open ? new Snapshot(new CommitFiles(github, main)) : proposed;
	const text = () => pullRequestText(meta, wanted, below, proposed);
	if (wanted.length === 0) {
		// An earlier attempt may have ended between the commit and the text. A batch's text lists its edits: there are none.
		const whole = tried.text ?? (smallkey === null ? null : await text());
		if (open && whole) await updateWhereDifferent(github, open, whole);
		return { commit: base.commit, changed: false, ...receipt };
	}
	if (await wasUsed(github, base, meta, now())) return usedBefore;
	const tree = await writeTree(github, base.tree, wanted);
	if (tree === base.tree) return { commit: base.commit, changed: false, ...receipt };
	const commit = await commitTree(github, base, tree, meta, started);
	tried.text = await text();
	await (open ? moveBranch : placeBranch)(github, proposal, commit);
	if (open) heads.noteReplaced(base.commit);
	const { html_url } = open
		? await updatePullRequest(github, open, tried.text)
		: await openPullRequest(context, proposal, tried.text);
	return { commit, changed: true, branch: proposal, pullRequest: html_url };
}

/** The pull request's text: what its merge changes on the base branch. */
async function pullRequestText(meta: Meta, edits: Edit[], main: Reader, proposed: Reader): Promise<Text> {
	const { smallkey, subject } = meta;
	if (smallkey === null) return { title: subject, body: batchBody(meta, edits) };
	const edit = edits.find(({ path }) => path === layerPath(smallkey));
	const before = await main.read(smallkey);
	const after = edit ? edit.text : (await proposed.read(smallkey))?.registration;
	const body = layerBody(meta, smallkey, before?.registration ?? null, after ?? null);
	return { title: subject, body };
}

async function findPullRequest({ github, branch }: ChangeContext, proposal: string) {
	const { rest, repo } = github;
	const head = `${repo.owner}:${proposal}`;
	const asked = rest.pulls.list({ ...repo, state: "open", head, base: branch });
	return (await dataOf(asked, "list the pull requests"))[0] ?? null;
}

/** Writes the text of an open pull request where it differs. */
async function updateWhereDifferent(github: Github, open: PullRequest, text: Text): Promise<void> {
	const body = (open.body ?? "").replaceAll("\r\n", "\n");
	if (open.title !== text.title || body !== text.body) await updatePullRequest(github, open, text);
}

function updatePullRequest({ rest, repo }: Github, { number }: PullRequest, text: Text) {
	return dataOf(rest.pulls.update({ ...repo, pull_number: number, ...text }), "update the pull request");
}

function openPullRequest({ github, branch }: ChangeContext, proposal: string, text: Text) {
	const { rest, repo } = github;
	const asked = rest.pulls.create({ ...repo, ...text, head: proposal, base: branch });
	return dataOf(asked, "open a pull request");
}
