import { healthPath } from "../../registry/health.ts";
import { serviceName } from "../../store/git/new-commit.ts";
import { base64Bytes } from "../../store/github/base64.ts";
import { commitEdits, placeBranch } from "../../store/github/commit.ts";
import { readHead } from "../../store/github/head.ts";
import { dataOf, dataOrNull } from "../../store/github/refusal.ts";
import type { Github } from "../../store/github/routes.ts";
import { CommitFiles, Snapshot } from "../../store/github/snapshot.ts";
import type { Edit } from "../../store/store.ts";
import { descriptionEdits, type NewDescription } from "./descriptions.ts";

/** Branch of the weekly pull request. */
export const refreshBranch = "refresh";

/** The repository that a refresh is proposed to. */
export interface Target {
	github: Github;
	/** The branch that reviewers merge into. */
	branch: string;
}

interface PullRequest {
	number: number;
	html_url: string;
}

/** The refresh that reviewers have not decided on yet, or null. */
export async function findRefresh({ github, branch }: Target): Promise<PullRequest | null> {
	const { rest, repo } = github;
	const head = `${repo.owner}:${refreshBranch}`;
	const asked = rest.pulls.list({ ...repo, state: "open", head, base: branch });
	return (await dataOf(asked, "list the pull requests"))[0] ?? null;
}

/** The text of the health, on the branch of the open refresh or else on the main one; null where there is none. */
export async function readHealthText({ github, branch }: Target, isOpen: boolean): Promise<string | null> {
	const { rest, repo } = github;
	const ref = isOpen ? refreshBranch : branch;
	const asked = rest.repos.getContent({ ...repo, path: healthPath, ref });
	const data = await dataOrNull(asked, "show the health");
	const bytes = data && "content" in data ? base64Bytes(data.content) : null;
	return bytes && new TextDecoder().decode(bytes);
}

/** What a refresh brings. */
export interface Refresh {
	descriptions: NewDescription[];
	/** Text of the health; null for no file. */
	health: string | null;
	body: string;
}

/**
 * Opens the pull request of a refresh, or brings the open one up to date: one commit on top of the main branch, in
 * place of what its branch held. Where nothing is to be merged, an open one is closed.
 * @returns its address; null where there is none
 */
export async function proposeRefresh(target: Target, refresh: Refresh, time: Date): Promise<string | null> {
	const { github, branch } = target;
	const open = await findRefresh(target);
	const head = await readHead(github, branch);
	if (!head) return null;
	const now = new Snapshot(new CommitFiles(github, head));
	const edits: Edit[] = await descriptionEdits(now, refresh.descriptions);
	if ((await readHealthText(target, false)) !== refresh.health) {
		edits.push({ path: healthPath, text: refresh.health });
	}
	const commit = edits.length > 0 ? await commitEdits(github, head, edits, meta(time), time) : null;
	if (commit === null) return close(github, open);
	await placeBranch(github, refreshBranch, commit);
	return write(target, open, refresh.body);
}

function meta(now: Date) {
	return {
		smallkey: null,
		author: serviceName,
		time: now.getTime(),
		subject: "refresh service descriptions",
		trailers: [],
		request: null,
		review: true,
	};
}

async function write({ github, branch }: Target, open: PullRequest | null, body: string): Promise<string> {
	const { rest, repo } = github;
	const text = { title: "Refresh service descriptions", body };
	const written = open
		? rest.pulls.update({ ...repo, pull_number: open.number, ...text })
		: rest.pulls.create({ ...repo, ...text, head: refreshBranch, base: branch });
	return (await dataOf<PullRequest>(written, "write the pull request")).html_url;
}

async function close({ rest, repo }: Github, open: PullRequest | null): Promise<null> {
	if (!open) return null;
	const asked = rest.pulls.update({ ...repo, pull_number: open.number, state: "closed" });
	await dataOf(asked, "close the pull request");
	return null;
}
