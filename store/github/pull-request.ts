import { pointerSegment } from "../../registry/problems.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { tryJson } from "../../registry/try-json.ts";
import { code, linesWithin } from "../../registry/untrusted-text.ts";
import { readerOf } from "../reader.ts";
import {
	authorOf,
	type Commit,
	type Edit,
	isRefusal,
	type Meta,
	type Reader,
	type Refusal,
	reviewBranch,
	StoreBusy,
	usedBefore,
	waitsOf,
} from "../store.ts";
import { dataOf, type Github } from "./answer.ts";
import { commitTree, emptyRepository, moveBranch, placeBranch, writeTree } from "./commit.ts";
import { filesAt } from "./commit-files.ts";
import { carriesRequest, type Head, wasUsed } from "./history.ts";
import type { Change, ChangeContext } from "./pending-commits.ts";
import { createFindTwin } from "./twins.ts";

export interface Text {
	title: string;
	body: string;
}

export type PullRequest = NonNullable<Awaited<ReturnType<typeof findPullRequest>>>;

/**
 * Makes a change on a branch of its own, with a pull request. A further change on this branch before the merge joins the
 * same pull request. After the pull request was closed or merged, the branch starts again from the base branch.
 * @param tried the same object at each attempt. Its text is the pull request's, from the first attempt on that came to
 * write the branch: the commit may be there although GitHub's answer was lost
 * @throws {Conflict} if another writer was faster
 */
export async function proposeChange(
	context: ChangeContext,
	{ edits, meta, started }: Change,
	tried: { text: Text | null },
): Promise<Commit | Refusal> {
	const { github, branch, heads, now } = context;
	const proposal = reviewBranch(meta);
	const main = await heads.find(github, branch);
	if (!main) throw new StoreBusy(emptyRepository, 300);
	const open = await findPullRequest(context, proposal);
	const base = (open && (await heads.find(github, proposal))) ?? main;
	const receipt = open ? { branch: proposal, pullRequest: open.html_url } : {};
	const landed = tried.text && open && base.recent.find((commit) => carriesRequest(commit, meta));
	if (landed) {
		await updateWhereDifferent(github, open, tried.text as Text);
		return { commit: landed.sha, changed: true, ...receipt };
	}
	const sender = open && meta.smallkey !== null ? senderOf(base, main) : null;
	if (sender !== null && sender !== meta.author) {
		const wanted = await edits(readerOf(filesAt(github, main)));
		if (isRefusal(wanted)) return wanted;
		return wanted.length > 0 ? waitsOf(sender) : { commit: main.commit, changed: false };
	}
	const proposed = readerOf(filesAt(github, base));
	const wanted = await edits(proposed);
	if (isRefusal(wanted)) return wanted;
	const below = open ? readerOf(filesAt(github, main)) : proposed;
	const text = () => pullRequestText(meta, wanted, below, proposed);
	if (wanted.length === 0) {
		// An earlier attempt may have ended between the commit and the text. A batch's text lists its edits: there are none.
		const whole = tried.text ?? (meta.smallkey === null ? null : await text());
		if (open && whole) await updateWhereDifferent(github, open, whole);
		return { commit: base.commit, changed: false, ...receipt };
	}
	if (await wasUsed(github, base, meta, now())) return usedBefore;
	const twin = open ? null : await createFindTwin(context)(meta, proposed);
	if (twin) return twin;
	const tree = await writeTree(github, base.tree, wanted);
	if (tree === base.tree) return { commit: base.commit, changed: false, ...receipt };
	const commit = await commitTree(github, base.commit, tree, meta, started);
	tried.text = await text();
	await (open ? moveBranch : placeBranch)(github, proposal, commit);
	if (open) heads.noteReplaced(base.commit);
	const { html_url } = open
		? await updatePullRequest(github, open, tried.text)
		: await openPullRequest(context, proposal, tried.text);
	return { commit, changed: true, branch: proposal, pullRequest: html_url };
}

/** The sender of the newest change of a pull request; null if none of its newest commits is a sender's. */
function senderOf(proposal: Head, main: Head): string | null {
	const merged = new Set(main.recent.map(({ sha }) => sha));
	const own = proposal.recent.filter(({ sha }) => !merged.has(sha));
	const senders = own.map(({ commit }) => authorOf(commit.author?.email ?? ""));
	return senders.find((sender) => sender !== null) ?? null;
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

export async function findPullRequest({ github, branch }: ChangeContext, proposal: string) {
	const { rest, repo } = github;
	const head = `${repo.owner}:${proposal}`;
	const asked = rest.pulls.list({ ...repo, state: "open", head, base: branch });
	return (await dataOf(asked, "list the pull requests"))[0] ?? null;
}

/** Writes the text of an open pull request if it differs. */
async function updateWhereDifferent(github: Github, open: PullRequest, text: Text): Promise<void> {
	const body = (open.body ?? "").replaceAll("\r\n", "\n");
	if (open.title !== text.title || body !== text.body) await updatePullRequest(github, open, text);
}

function updatePullRequest({ rest, repo }: Github, { number }: PullRequest, text: Text) {
	return dataOf(rest.pulls.update({ ...repo, pull_number: number, ...text }), "update the pull request");
}

export function openPullRequest({ github, branch }: ChangeContext, proposal: string, text: Text) {
	const { rest, repo } = github;
	const asked = rest.pulls.create({ ...repo, ...text, head: proposal, base: branch });
	return dataOf(asked, "open a pull request");
}

/** GitHub accepts a body of at most 65,536 characters. */
const maxBodyLength = 60_000;

/**
 * The text of a pull request for one layer: a table of what changes, member by member.
 * @param before the registration's text on the base branch; null if there is none
 * @param after the registration's text after the merge; null if there is none
 */
export function layerBody(meta: Meta, smallkey: string, before: string | null, after: string | null): string {
	const verb = after === null ? "removes" : before === null ? "registers" : "changes";
	const intro = `The sender ${code(meta.author)} ${verb} the layer ${code(smallkey)}.`;
	const old = members(before);
	const fresh = members(after);
	const pointers = [...new Set([...fresh.keys(), ...old.keys()])];
	const changed = pointers.filter((pointer) => old.get(pointer) !== fresh.get(pointer));
	const rows = changed.map((pointer) => {
		return `| ${[pointer, old.get(pointer), fresh.get(pointer)].map((text) => (text === undefined ? "" : code(text))).join(" | ")} |`;
	});
	const head = ["| member | now | after the merge |", "|---|---|---|"];
	return bounded([intro, "", ...head], rows.length > 0 ? rows : ["| | no difference | |"]);
}

/** The text of a pull request for many layers: the files that it writes and removes. */
export function batchBody(meta: Meta, edits: readonly Edit[]): string {
	const intro = `The sender ${code(meta.author)} changes these files:`;
	const rows = edits.map(({ path, text }) => `- ${text === null ? "removed: " : ""}${code(path)}`);
	return bounded([intro, ""], rows);
}

/** The JSON pointer of each value of a registration → the value; `""` → the whole text if it is not JSON. */
function members(text: string | null): Map<string, string> {
	return new Map(text === null ? [] : valuesOf(tryJson(text) ?? text, ""));
}

function valuesOf(value: unknown, pointer: string): [pointer: string, text: string][] {
	if (typeof value === "string") return [[pointer, value]];
	if (typeof value !== "object" || value === null) return [[pointer, JSON.stringify(value)]];
	return Object.entries(value).flatMap(([name, member]) =>
		valuesOf(member, `${pointer}/${pointerSegment(name)}`),
	);
}

/** The lines that GitHub has room for. */
function bounded(head: string[], rows: string[]): string {
	const room = maxBodyLength - head.join("\n").length;
	const closing = (hidden: number) => ["", `And ${hidden} more: see the changed files.`];
	return [...head, ...linesWithin(rows, room, closing)].join("\n");
}
