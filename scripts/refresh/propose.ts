import { serviceName } from "../../api/git/fast-import.ts";
import type { Edit } from "../../api/store.ts";
import { base64Bytes } from "../../api/stores/github/base64.ts";
import type { Call } from "../../api/stores/github/client.ts";
import { made, makeCommit, placeBranch, readerAt, readHead } from "../../api/stores/github/repository.ts";
import { descriptionEdits, type NewDescription } from "./descriptions.ts";
import { healthPath } from "./health.ts";

/** Branch of the weekly pull request. */
export const refreshBranch = "refresh";

/** The repository that a refresh is proposed to. */
export interface Target {
	call: Call;
	/** Its owner's login. */
	owner: string;
	/** The branch that reviewers merge into. */
	branch: string;
}

interface PullRequest {
	number: number;
	html_url: string;
}

/** The refresh that reviewers have not decided on yet, or null. */
export async function findRefresh({ call, owner, branch }: Target): Promise<PullRequest | null> {
	const parameters = { state: "open", head: `${owner}:${refreshBranch}`, base: branch };
	const answer = await call<PullRequest[]>("GET", "/repos/{owner}/{repo}/pulls", parameters);
	return made(answer, "list the pull requests")[0] ?? null;
}

/** The text of the weeks' count, on the branch of the open refresh or else on the main one; null where there is none. */
export async function readHealthText({ call, branch }: Target, isOpen: boolean): Promise<string | null> {
	const ref = isOpen ? refreshBranch : branch;
	const route = `/repos/{owner}/{repo}/contents/${healthPath}`;
	const { status, data } = await call<{ content?: string }>("GET", route, { ref });
	const bytes = status === 200 ? base64Bytes(data.content ?? "") : null;
	return bytes && new TextDecoder().decode(bytes);
}

/** What a refresh brings. */
export interface Refresh {
	descriptions: NewDescription[];
	/** Text of the weeks' count; null for no file. */
	health: string | null;
	body: string;
}

/**
 * Opens the pull request of a refresh, or brings the open one up to date: one commit on top of the main branch, in
 * place of what its branch held. Where nothing is to be merged, an open one is closed.
 * @returns its address; null where there is none
 */
export async function proposeRefresh(target: Target, refresh: Refresh, now: Date): Promise<string | null> {
	const { call, branch } = target;
	const open = await findRefresh(target);
	const head = await readHead(call, branch);
	if (!head) return null;
	const edits: Edit[] = await descriptionEdits(readerAt(call, head), refresh.descriptions);
	if ((await readHealthText(target, false)) !== refresh.health) {
		edits.push({ path: healthPath, text: refresh.health });
	}
	const commit = edits.length > 0 ? await makeCommit(call, head, edits, meta(now), now) : null;
	if (commit === null) return close(call, open);
	await placeBranch(call, refreshBranch, commit);
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

async function write({ call, branch }: Target, open: PullRequest | null, body: string): Promise<string> {
	const text = { title: "Refresh service descriptions", body };
	const answer = open
		? await call<PullRequest>("PATCH", `/repos/{owner}/{repo}/pulls/${open.number}`, text)
		: await call<PullRequest>("POST", "/repos/{owner}/{repo}/pulls", {
				...text,
				head: refreshBranch,
				base: branch,
			});
	return made(answer, "write the pull request").html_url;
}

async function close(call: Call, open: PullRequest | null): Promise<null> {
	if (!open) return null;
	const route = `/repos/{owner}/{repo}/pulls/${open.number}`;
	made(await call("PATCH", route, { state: "closed" }), "close the pull request");
	return null;
}
