import { code } from "../../registry/untrusted.ts";
import type { Waiting } from "../decide.ts";
import { authorOf, isReviewBranch, reviewBranch } from "../naming.ts";
import { readerOf } from "../reader.ts";
import type { Meta } from "../store.ts";
import { type Head, type Heads, readHead } from "./branch.ts";
import type { Github } from "./client.ts";

export interface Repository {
	github: Github;
	/** The served branch. */
	branch: string;
	heads: Heads;
}

export interface Review {
	branch: string;
	/** Null if no pull request is open, or if its change is another sender's. */
	open: Awaited<ReturnType<typeof listPullRequests>>[number] | null;
	/** Of the served branch while `open` is null. */
	base: Head;
	waiting: Waiting;
}

/** Lists open ones to the served branch, but for those from forks. */
async function listPullRequests({ github: { rest, repo, paginate }, branch }: Repository) {
	const pulls = await paginate(rest.pulls.list, { ...repo, state: "open", base: branch, per_page: 100 });
	return pulls.filter(({ head, base }) => head.repo?.full_name === base.repo.full_name);
}

/** @throws {GithubBusy | Refused} if GitHub does not answer, or a read lags behind */
export async function findReview(repository: Repository, main: Head, meta: Meta): Promise<Review> {
	const { github, heads } = repository;
	const branch = reviewBranch(meta);
	const pulls = await listPullRequests(repository);
	const branches = pulls.map(({ head }) => head.ref).filter(isReviewBranch);
	const waiting = { holder: null, spellings: spellingsOn(github, branches) };
	const open = pulls.find(({ head }) => head.ref === branch) ?? null;
	if (!open) return { branch, open, base: main, waiting };
	const base = await heads.find(github, branch);
	// Any other branch has its sender in its name.
	const isOfLayer = meta.smallkey !== null && meta.reviewName === undefined;
	const holder = isOfLayer ? senderOf(base, main) : null;
	if (holder === null || holder === meta.author) return { branch, open, base, waiting };
	return { branch, open: null, base: main, waiting: { ...waiting, holder } };
}

/** The branch of one layer is named after its smallkey; the smallkeys of a batch are read from its files. */
function spellingsOn(github: Github, branches: readonly string[]): Waiting["spellings"] {
	const names = branches.map((branch) => branch.slice(branch.indexOf("/") + 1));
	const batches = branches.filter((branch) => branch.includes("."));
	let heads: Promise<Head[]> | null = null;
	return async (smallkey) => {
		heads ??= Promise.all(batches.map((branch) => readHead(github, branch)));
		const spellings = (await heads).map(({ files }) => readerOf(files).spellings(smallkey));
		return [...names, ...(await Promise.all(spellings)).flat()];
	};
}

/** The sender of the newest change; null if no recent commit of the review has a sender. */
function senderOf(review: Head, main: Head): string | null {
	const merged = new Set(main.recent.map(({ sha }) => sha));
	const commits = review.recent.filter(({ sha }) => !merged.has(sha));
	const senders = commits.map(({ commit }) => authorOf(commit.author?.email ?? ""));
	return senders.find((sender) => sender !== null) ?? null;
}

/** Opens the pull request, or corrects the title that an earlier change gave it. @returns its address */
export async function openPullRequest(
	{ github: { rest, repo }, branch: base }: Repository,
	{ branch: head, open }: Review,
	{ author, reviewName, subject }: Meta,
): Promise<string> {
	const title = reviewName === undefined ? subject : `review ${reviewName} of ${author}`;
	if (!open) {
		const body = `The sender ${code(author)} sends this change. The comment below lists its layers, and *Files changed* shows each. Further changes come to this pull request.`;
		return (await rest.pulls.create({ ...repo, title, body, head, base })).data.html_url;
	}
	if (open.title !== title) await rest.pulls.update({ ...repo, pull_number: open.number, title });
	return open.html_url;
}
