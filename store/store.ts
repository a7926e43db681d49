import { type Problem, problemAt, type Text } from "../registry/texts.ts";

export interface Log {
	info(fields: object): void;
	warn(text: string): void;
	error(error: unknown): void;
}

export interface Layer {
	/** Text of `layers/<ab>/<smallkey>.json`: a registration, written by the service or by hand. */
	registration: string;
	/** Text of `<smallkey>.service.json`: the result of the last harvest, or null. */
	description: string | null;
}

/** A file to write, or to remove if its text is null. */
export interface Edit {
	/** Path in the repository: `layers/23/23ax5t.json`. */
	path: string;
	text: string | null;
}

/** The metadata of a change, for its commit. */
export interface Meta {
	smallkey: string | null;
	/** Who requested the change: a sender's id, or the service's own name. */
	author: string;
	time: number;
	/** The commit's subject: `register 23ax5t (wms)`. */
	subject: string;
	trailers: readonly (readonly [string, string])[];
	/** SHA-256 of the signature's text in hex, which is also the trailer `Request`; null if the change is not signed. */
	request: string | null;
	/** Method of the signed request, which its signature does not cover: `PUT`. */
	method?: string;
	review: boolean;
	/** With `review`: all changes of the author with this name wait on one branch. */
	reviewName?: string;
}

/** The outcome of a change that was made, or that was not needed. */
export interface Commit {
	/** Id of the commit that contains the requested state; `""` in a repository without commits. */
	commit: string;
	/** False if the requested state was stored already, so that no commit was made. */
	changed: boolean;
	/** False if readers of the files do not have the change yet. */
	published?: boolean;
	branch?: string;
	pullRequest?: string;
	/** What the sender should know although the change was made. */
	warnings?: Problem[];
}

/** The outcome of a change that was not made, with the reason for its sender. */
export interface Refusal {
	status: number;
	errors: readonly Problem[];
	/** The reason in a word or two, if it differs from the status's usual one (`refusalReasons` in api/reply.ts). */
	reason?: string;
	hint?: Text;
	retryAfter?: number | undefined;
	/** Whether what is stored is already as the refused change would have left it. */
	isDone?: boolean;
}

/** The git blob ids of a layer's files (SHA-1 in hex): equal ids are equal texts. */
export interface LayerIds {
	registration: string;
	description: string | null;
	/** Whether the registration is known to be in canonical form. Then a different text is a different registration. */
	isCanonical?: boolean;
}

/** Reads the stored layers as they are at one moment. */
export interface Reader {
	read(smallkey: string): Promise<Layer | null>;
	/** The ids of a layer's files, without reading them; null if there is no such layer. */
	ids(smallkey: string): Promise<LayerIds | null>;
	/**
	 * The smallkeys in one folder under `layers/`, sorted; empty if there is no such folder.
	 * @param like a smallkey: only its spellings, which differ at most in case. A batch may have thousands in one folder.
	 */
	keys(folder: string, like?: string): Promise<string[]>;
}

/**
 * Decides, on the stored state `now`, which files a change writes and removes, or refuses it. The store calls it again
 * if another change was made in the meantime.
 */
export type Edits = (now: Reader) => Promise<Edit[] | Refusal>;

/** A signed request whose answer is final. */
export interface UsedRequest {
	/** SHA-256 of the signature's text in hex. */
	request: string;
	/** `PUT` or `DELETE`, since the method is not signed; `""` if only the request's commit is known. */
	method: string;
	time: number;
	/** The commit in its answer, or the status of an answer without a commit. */
	outcome: string | number;
}

export interface Store extends Reader {
	/** Whether a change can be read as a fragment as soon as `change` resolves. */
	readonly published: boolean;
	/**
	 * Makes one commit of `edits` on the branch. The commit is durable when the promise resolves. No edits: no commit.
	 * @returns the commit; the refusal of `edits`; or a refusal with status 401 if a commit of this key in the last
	 * five minutes has the same `request`, and this change would change something again
	 * @throws {StoreBusy} if the change cannot be made now; it was not made
	 */
	change(edits: Edits, meta: Meta): Promise<Commit | Refusal>;
	/**
	 * Remembers a signed request that was refused, or that changed no layer, so that it cannot take effect later. On this
	 * machine the record is durable when the promise resolves; with the layers on GitHub it ends with the process.
	 * @returns whether the request is new; false also if the store no longer knows whether it is
	 * @throws {StoreBusy} if the request cannot be remembered
	 */
	remember(used: UsedRequest): Promise<boolean>;
}

/** The use of a change's request. @param outcome see `UsedRequest` @returns empty if the change is not signed */
export function usesOf({ request, method = "-", time }: Meta, outcome: string | number): UsedRequest[] {
	return request === null ? [] : [{ request, method, time, outcome }];
}

/** How long a request is remembered for its key, in milliseconds: longer than a signature is valid. */
export const requestMemoryMs = 300_000;

export const usedBefore: Refusal = {
	status: 401,
	reason: "used before",
	errors: [/* @__PURE__ */ problemAt("Authorization", "signature-used")],
};

export function waitsOf(sender: string): Refusal {
	return {
		status: 409,
		reason: "waits for review",
		errors: [problemAt("smallkey", "waits-of-other", sender)],
	};
}

/** The refusal of a new smallkey while a change of another spelling waits for review: only one of them can be accepted. */
export function twinWaits(smallkey: string, other: string): Refusal {
	return {
		status: 409,
		reason: "other case",
		errors: [problemAt("smallkey", "case-twin-waits", smallkey, other)],
	};
}

export function isRefusal<T extends object>(outcome: T): outcome is Extract<T, { errors: unknown }> {
	return "errors" in outcome;
}

/** What a client reads, and a label of the metrics. */
export type BusyCode = "busy" | "read-only" | "disk-full" | "github" | "branch-moved";

/** The store cannot be written now; nothing was changed. */
export class StoreBusy extends Error {
	override name = "StoreBusy";

	/**
	 * @param retryAfter seconds after which the client should try again
	 * @param reason in English, for the operator: the log and `/readyz`
	 */
	constructor(
		readonly code: BusyCode,
		readonly retryAfter: number,
		reason: string,
	) {
		super(reason);
	}
}

/** The text of a commit: subject, blank line, trailers (git-interpret-trailers). */
export function commitMessage(meta: Meta): string {
	const trailers = meta.trailers.map(([name, text]) => `${name}: ${text}`);
	return [meta.subject, ...(trailers.length > 0 ? ["", ...trailers] : [])].join("\n");
}

/** A domain under `.invalid` never receives mail (RFC 2606). */
const mailDomain = "@sender.invalid";

export function authorMail(author: string): string {
	return `${author}${mailDomain}`;
}

/** The author whose mail address this is; null for another address. */
export function authorOf(mail: string): string | null {
	return mail.endsWith(mailDomain) ? mail.slice(0, -mailDomain.length) : null;
}

/** Folders of the branches on which changes wait for review: `register` for senders, `repair` for proposed repairs. */
export const reviewFolders = ["register", "repair"] as const;

/** Folder of the branches that keep declined changes: `declined/register/<smallkey>/<commit>`. */
export const declinedFolder = "declined";

/** The trailer of a declined review with the served branch's commit at that time: later commits are newer. */
export const mainTrailer = "Main";

/**
 * Branch on which a change waits for review. No smallkey has a full stop, and neither the id of a sender nor the name of a
 * review has a plus. No branch lies below another: git has either a branch `a` or a branch `a/b`.
 */
export function reviewBranch({ smallkey, author, reviewName }: Meta): string {
	// Git refuses a full stop at the start of a name, and two of them beside each other (git-check-ref-format(1)).
	const sender = author.replace(/(?<=^|\.)\./g, "+");
	if (reviewName !== undefined) return `register/${sender}+review.${reviewName}`;
	return `register/${smallkey ?? `${sender}.batch`}`;
}

/** The names of all branches on which changes wait: of `reviewBranch`, also in its earlier form, and of `repairBranch`. */
const reviewBranchPattern = /^(?:(?:register|repair)\/[^/]+|register\/[^/]+\/review\.[^/]+)$/;

/** Whether a branch has this name on which changes wait. The service alone makes such branches. */
export function isReviewBranch(branch: string): boolean {
	return reviewBranchPattern.test(branch);
}

/** The author of the service's own commits, and the committer of every commit that the service makes and of no other. */
export const serviceAuthor = "fragment-publisher";

export const serviceIdentity = `${serviceAuthor} <${/* @__PURE__ */ authorMail(serviceAuthor)}>`;

export function repairBranch(smallkey: string): string {
	return `repair/${smallkey}`;
}

/**
 * Judges a repeated request. It gets the first answer again if it would change nothing now; otherwise it is refused as
 * used before. The method is not signed: the same signature with another method is another request, and refused.
 * @param first how the request was answered the first time
 * @returns the refusal; null if the answer is the first commit
 */
export function judgeRepeat(first: UsedRequest, method: string, outcome: Edit[] | Refusal): Refusal | null {
	if (first.method !== "" && first.method !== method) return usedBefore;
	const wasAccepted = typeof first.outcome === "string";
	if (isRefusal(outcome)) {
		// A repeated DELETE does not find the layer that the first one removed.
		if (wasAccepted && method === "DELETE" && outcome.status === 404) return null;
		// Its condition held, and does not any more, since it was carried out.
		if (wasAccepted && outcome.status === 412) return outcome.isDone ? null : outcome;
		return first.outcome === outcome.status ? outcome : usedBefore;
	}
	return wasAccepted && outcome.length === 0 ? null : usedBefore;
}
