import { code } from "../../registry/untrusted.ts";
import type { Waiting } from "../decide.ts";
import { authorOf, isReviewBranch, reviewBranch } from "../naming.ts";
import { readerOf } from "../reader.ts";
import type { Meta } from "../store.ts";
import { type Head, type Heads, readHead } from "./branch.ts";
import type { Github } from "./client.ts";

export interface Place {
	github: Github;
	branch: string;
	heads: Heads;
}

/** After its pull request is closed or merged, a review begins again from the served branch. */
export interface Review {
	name: string;
	/** Null if none is open, or another sender's is. */
	open: Awaited<ReturnType<typeof listPullRequests>>[number] | null;
	base: Head;
	waiting: Waiting;
}

async function listPullRequests({ github: { rest, repo, paginate }, branch }: Place) {
	const pulls = await paginate(rest.pulls.list, { ...repo, state: "open", base: branch, per_page: 100 });
	return pulls.filter(({ head, base }) => head.repo?.full_name === base.repo.full_name);
}

export async function findReview(context: Place, main: Head, meta: Meta): Promise<Review> {
	const { github, heads } = context;
	const name = reviewBranch(meta);
	const pulls = await listPullRequests(context);
	const open = pulls.find(({ head }) => head.ref === name) ?? null;
	const base = (open && (await heads.find(github, name))) ?? main;
	const isOfLayer = meta.smallkey !== null && meta.reviewName === undefined;
	const sender = isOfLayer ? senderOf(base, main) : null;
	const holder = sender === meta.author ? null : sender;
	const branches = pulls.map(({ head }) => head.ref).filter(isReviewBranch);
	const waiting = { holder, spellings: spellingsOn(github, branches) };
	return holder === null ? { name, open, base, waiting } : { name, open: null, base: main, waiting };
}

/** The name of a layer's review is its smallkey; a review of many layers is read. */
function spellingsOn(github: Github, branches: readonly string[]): Waiting["spellings"] {
	const names = branches.map((branch) => branch.slice(branch.indexOf("/") + 1));
	const ofMany = branches.filter((branch) => branch.includes("."));
	let heads: Promise<Head[]> | null = null;
	return async (smallkey) => {
		heads ??= Promise.all(ofMany.map((branch) => readHead(github, branch)));
		const spellings = (await heads).map(({ files }) => readerOf(files).spellings(smallkey));
		return [...names, ...(await Promise.all(spellings)).flat()];
	};
}

/** The sender of the newest change; null if none of the newest commits is a sender's. */
function senderOf(base: Head, main: Head): string | null {
	const merged = new Set(main.recent.map(({ sha }) => sha));
	const commits = base.recent.filter(({ sha }) => !merged.has(sha));
	const senders = commits.map(({ commit }) => authorOf(commit.author?.email ?? ""));
	return senders.find((sender) => sender !== null) ?? null;
}

/** An earlier attempt may have left another title. @returns the pull request's address */
export async function showReview(
	{ github: { rest, repo }, branch }: Place,
	{ name, open }: Review,
	last: Meta,
): Promise<string> {
	const { author, reviewName, subject } = last;
	const title = reviewName === undefined ? subject : `review ${reviewName} of ${author}`;
	if (!open) {
		const body = `The sender ${code(author)} sends this change. The comment below lists its layers, and *Files changed* shows each. Further changes come to this pull request.`;
		return (await rest.pulls.create({ ...repo, title, body, head: name, base: branch })).data.html_url;
	}
	if (open.title !== title) await rest.pulls.update({ ...repo, pull_number: open.number, title });
	return open.html_url;
}
