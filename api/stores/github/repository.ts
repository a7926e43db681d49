import { folderOf, parseSmallkey } from "../../../registry/smallkey.ts";
import {
	authorMail,
	commitMessage,
	type Edit,
	type Layer,
	type Meta,
	type Reader,
	StoreBusy,
} from "../../store.ts";
import { base64Bytes, bytesBase64, utf8 } from "./base64.ts";
import { type Answer, type Call, messageOf } from "./client.ts";

/** The newest commit of a branch, with those before it. */
export interface Head {
	/** Id of the commit. */
	commit: string;
	/** Id of its root folder. */
	tree: string;
	/** The newest commits, itself first. */
	recent: PastCommit[];
}

/** A commit that is on a branch. */
export interface PastCommit {
	sha: string;
	/** When the service made it: milliseconds since 1970. */
	time: number;
	message: string;
}

/** A write that GitHub refused, most often because somebody else was faster: to be tried again from a fresh read. */
export class Conflict extends Error {
	/** Whether GitHub's words say that somebody else was faster. */
	readonly isRace: boolean;

	constructor({ status, data }: Answer<unknown>, what: string) {
		const message = messageOf(data);
		super(`GitHub answers ${status} to ${what}: ${message}`);
		this.name = "Conflict";
		this.isRace =
			status === 409 || /fast.?forward|already exists|does not exist|no commit found/i.test(message);
	}
}

/** GitHub's words where a rule of the repository keeps the service from writing: trying again does not help. */
const forbidden =
	/protected (?:branch|ref)|rule violation|through a pull request|required status check|approving review/i;

/**
 * The data of an answer.
 * @throws {Conflict} where GitHub refused; Error where a rule of the repository is why
 */
export function made<T>(answer: Answer<T>, what: string): T {
	if (answer.status < 400) return answer.data;
	const message = messageOf(answer.data);
	if (forbidden.test(message)) throw new Error(`GitHub does not let the service ${what}: ${message}`);
	throw new Conflict(answer, what);
}

/** How many commits are read with the head: in a quiet repository they hold all that `wasUsed` has to know. */
export const recentCommits = 20;

interface ListedCommit {
	sha: string;
	commit: { message: string; committer: { date: string } | null; tree: { sha: string } };
}

function pastCommit({ sha, commit }: ListedCommit): PastCommit {
	return { sha, time: Date.parse(commit.committer?.date ?? ""), message: commit.message };
}

/**
 * The head of a branch; null where the repository is empty.
 * @throws {Conflict} where GitHub shows no such branch
 */
export async function readHead(call: Call, branch: string): Promise<Head | null> {
	const parameters = { sha: branch, per_page: recentCommits };
	const answer = await call<ListedCommit[]>("GET", "/repos/{owner}/{repo}/commits", parameters);
	if (answer.status === 409) return null;
	const commits = made(answer, `show the branch ${branch}`);
	const newest = commits[0];
	if (!newest) return null;
	return { commit: newest.sha, tree: newest.commit.tree.sha, recent: commits.map(pastCommit) };
}

/** Commits that touch a file, from a time on (milliseconds since 1970), newest first, at most 100. */
export async function readHistory(call: Call, head: Head, path: string, from: number): Promise<PastCommit[]> {
	const parameters = { sha: head.commit, path, since: new Date(from).toISOString(), per_page: 100 };
	const { status, data } = await call<ListedCommit[]>("GET", "/repos/{owner}/{repo}/commits", parameters);
	return status === 200 ? data.map(pastCommit) : [];
}

/** Reads from exactly one commit, whatever happens to the branch meanwhile; null: from nothing. */
export function readerAt(call: Call, head: Head | null): Reader {
	const folders = new Map<string, Promise<Map<string, string>>>();

	function filesOf(folder: string): Promise<Map<string, string>> {
		const files = folders.get(folder) ?? (head ? listFolder(call, head, folder) : Promise.resolve(new Map()));
		folders.set(folder, files);
		return files;
	}

	return {
		async read(smallkey) {
			const files = await filesOf(folderOf(smallkey));
			const registration = files.get(`${smallkey}.json`);
			return registration ? readLayer(call, registration, files.get(`${smallkey}.service.json`)) : null;
		},
		async keys(folder) {
			const names = [...(await filesOf(folder)).keys()].filter((name) => name.endsWith(".json"));
			const keys = names.map((name) => parseSmallkey(name.slice(0, -".json".length)));
			return keys.filter((key) => key !== null).sort();
		},
	};
}

async function readLayer(call: Call, registration: string, description: string | undefined): Promise<Layer> {
	const texts = [readBlob(call, registration), description ? readBlob(call, description) : null];
	const [text, described] = await Promise.all(texts);
	return { registration: text as string, description: described ?? null };
}

async function readBlob(call: Call, sha: string): Promise<string> {
	const route = `/repos/{owner}/{repo}/git/blobs/${sha}`;
	const { status, data } = await call<{ content: string }>("GET", route);
	const bytes = status === 200 ? base64Bytes(data.content) : null;
	if (!bytes) throw new Error(`GitHub answers ${status} to the blob ${sha}`);
	return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** The contents API lists this many files of a folder and is silent on the rest. */
const mostListed = 1000;

/** Name and blob of each file in `layers/<folder>`: one request, or three where the folder is large. */
async function listFolder(call: Call, head: Head, folder: string): Promise<Map<string, string>> {
	const route = `/repos/{owner}/{repo}/contents/layers/${encodeURIComponent(folder)}`;
	type Listed = { name: string; type: string; sha: string }[];
	const answer = await call<Listed>("GET", route, { ref: head.commit });
	const { status, data } = answer;
	// "No commit found for the ref": a copy that the commit has not reached yet, not a folder that is not there.
	if (status !== 200 && /no commit found/i.test(messageOf(data))) made(answer, "list a folder");
	if (status !== 200 || !Array.isArray(data)) return new Map();
	if (data.length >= mostListed) return listLargeFolder(call, head, folder);
	return new Map(data.filter(({ type }) => type === "file").map(({ name, sha }) => [name, sha]));
}

async function listLargeFolder(call: Call, head: Head, folder: string): Promise<Map<string, string>> {
	let files = await readTree(call, head.tree);
	for (const name of ["layers", folder]) {
		const subtree = files.find(({ path, type }) => path === name && type === "tree");
		files = subtree ? await readTree(call, subtree.sha) : [];
	}
	return new Map(files.filter(({ type }) => type === "blob").map(({ path, sha }) => [path, sha]));
}

async function readTree(call: Call, sha: string): Promise<{ path: string; type: string; sha: string }[]> {
	type Tree = { tree: { path: string; type: string; sha: string }[] };
	const { status, data } = await call<Tree>("GET", `/repos/{owner}/{repo}/git/trees/${sha}`);
	if (status !== 200) throw new Error(`GitHub answers ${status} to the tree ${sha}`);
	return data.tree;
}

/** Who and when, as a commit says it: the author is who asked, the committer is the service. */
function identities(meta: Meta, now: Date): object {
	const author = { name: meta.author, email: authorMail(meta.author), date: isoSeconds(new Date(meta.time)) };
	const service = "fragment-publisher";
	return { author, committer: { name: service, email: authorMail(service), date: isoSeconds(now) } };
}

/** Git keeps whole seconds. */
function isoSeconds(time: Date): string {
	return `${time.toISOString().slice(0, 19)}Z`;
}

/**
 * Makes a commit on top of `head`, on no branch yet. With the same `now` it is the same commit each time.
 * @returns its id, or null where the edits change nothing
 * @throws {Conflict}
 */
export async function makeCommit(call: Call, head: Head, edits: Edit[], meta: Meta, now: Date) {
	const tree = edits.map(({ path, text }) => {
		const blob = text === null ? { sha: null } : { content: text };
		return { path, mode: "100644", type: "blob", ...blob };
	});
	const treeRoute = "/repos/{owner}/{repo}/git/trees";
	const root = await call<{ sha: string }>("POST", treeRoute, { base_tree: head.tree, tree });
	const { sha } = made(root, "write the files");
	if (sha === head.tree) return null;
	const commit = await call<{ sha: string }>("POST", "/repos/{owner}/{repo}/git/commits", {
		message: commitMessage(meta),
		tree: sha,
		parents: [head.commit],
		...identities(meta, now),
	});
	return made(commit, "make a commit").sha;
}

/** A branch's name in a route, its slashes as they are. */
function refRoute(branch: string): string {
	const name = branch.split("/").map(encodeURIComponent).join("/");
	return `/repos/{owner}/{repo}/git/refs/heads/${name}`;
}

/**
 * Moves a branch on to a commit that follows its head.
 * @throws {Conflict} where somebody else has moved it meanwhile
 */
export async function moveBranch(call: Call, branch: string, sha: string): Promise<void> {
	made(await call("PATCH", refRoute(branch), { sha, force: false }), `move the branch ${branch}`);
}

/** Puts a branch at a commit, wherever it was before, if anywhere. */
export async function placeBranch(call: Call, branch: string, sha: string): Promise<void> {
	const ref = `refs/heads/${branch}`;
	const created = await call("POST", "/repos/{owner}/{repo}/git/refs", { ref, sha });
	if (created.status === 201) return;
	made(await call("PATCH", refRoute(branch), { sha, force: true }), `move the branch ${branch}`);
}

const emptyRepository = "the repository on GitHub has no commit yet: its operator has to make a first one";

/**
 * Makes the first commit of an empty repository: the git data API does not work on one, the contents API does, for
 * one file.
 * @returns the commit's id
 * @throws {Conflict} where it has a commit meanwhile; StoreBusy for several files; Error for another branch
 */
export async function makeFirstCommit(call: Call, branch: string, edits: Edit[], meta: Meta, now: Date) {
	const { status, data } = await call<{ default_branch: string }>("GET", "/repos/{owner}/{repo}");
	if (status !== 200) throw new Error("GitHub knows no such repository, or the credentials do not open it");
	if (data.default_branch !== branch) throw new Error(`the repository on GitHub has no branch ${branch}`);
	const [first, ...others] = edits;
	if (!first || first.text === null || others.length > 0) throw new StoreBusy(emptyRepository, 300);
	const path = first.path.split("/").map(encodeURIComponent).join("/");
	const answer = await call<{ commit: { sha: string } }>("PUT", `/repos/{owner}/{repo}/contents/${path}`, {
		message: commitMessage(meta),
		content: bytesBase64(utf8(first.text)),
		...identities(meta, now),
	});
	return made(answer, "make the first commit").commit.sha;
}
