import { textAt } from "../registry/texts.ts";

/** How far a timestamp may be from the server's clock, exclusive, in milliseconds (specification, "Limits"). */
export const clockSkew = 120_000;

/** ISO 8601 date and time in UTC: an optional fraction of 1 to 9 digits, then `Z`, `+00:00` or nothing. */
const timestampPattern = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d{1,9})?(?:Z|\+00:00)?$/;

/** Parses a `TimeStamp` header into milliseconds since 1970, with its fraction; null for anything else. */
export function parseTimestamp(text: string): number | null {
	const match = timestampPattern.exec(text);
	if (!match?.[1]) return null;
	const seconds = Date.parse(`${match[1]}Z`);
	if (Number.isNaN(seconds) || !new Date(seconds).toISOString().startsWith(match[1])) return null;
	return seconds + Number(match[2] ?? 0) * 1000;
}

/** A layer as stored. */
export interface Layer {
	/** Text of `layers/<ab>/<smallkey>.json`: a registration, written by the service or by hand. */
	registration: string;
	/** Text of `<smallkey>.service.json`: what was last harvested, or null. */
	description: string | null;
}

/** A file to write or, with a text of null, to remove. */
export interface Edit {
	/** Path in the repository: `layers/23/23ax5t.json`. */
	path: string;
	text: string | null;
}

/** What a commit says of a change. */
export interface Meta {
	/** The smallkey that the change is about; null for a batch of many. */
	smallkey: string | null;
	/** Who asked for it: a sender's id, or the service's own name. */
	author: string;
	/** When it was asked for: milliseconds since 1970. */
	time: number;
	/** What happened: `register 23ax5t (wms)`. */
	subject: string;
	/** Name and text of each trailer, in order. */
	trailers: readonly (readonly [string, string])[];
	/** SHA-256 of the signature's text in hex, for a signed change; also the trailer `Request`. */
	request: string | null;
	/** Method of the signed request, which its signature does not cover: `PUT`. */
	method?: string;
	/** Whether the change waits on a branch of its own until a reviewer merges it. */
	review: boolean;
}

/** A change that was made, or was not needed. */
export interface Commit {
	/** Id of the commit that holds the state asked for; `""` in a repository without commits. */
	commit: string;
	/** False where the state was as asked for and no commit was made. */
	changed: boolean;
	/** The branch of a change that waits for review. */
	branch?: string;
	/** Address of its pull request, where the store has such. */
	pullRequest?: string;
	/** What the sender should know although the change was made: `the files of the web server are behind: …`. */
	warnings?: string[];
}

/** A change that was not made, for a reason that its sender has to know. */
export interface Refusal {
	status: number;
	errors: string[];
	/** Why, in a word or two, where the status does not say it (`refusalReasons`). */
	reason?: string;
	/** What the sender may look at. */
	hint?: string;
}

/** The git blob ids of a layer's files (SHA-1 in hex): equal ids are equal texts. */
export interface LayerIds {
	registration: string;
	/** Null where there is no description. */
	description: string | null;
	/** Whether the registration is known to be in the canonical form: another text is another registration then. */
	isCanonical?: boolean;
}

/** What is stored, at one moment. */
export interface Reader {
	/** The layer of a smallkey, or null. */
	read(smallkey: string): Promise<Layer | null>;
	/** The ids of a layer's files, without reading them; null where there is no such layer. */
	ids(smallkey: string): Promise<LayerIds | null>;
	/** The smallkeys in one folder under `layers/`, sorted; empty where there is no such folder. */
	keys(folder: string): Promise<string[]>;
}

/** Decides on the state that the change will be built on; asked again when that state has moved meanwhile. */
export type Edits = (now: Reader) => Promise<Edit[] | Refusal>;

/** A signed request that was answered for good, and changed nothing of the layers. */
export interface UsedRequest {
	/** SHA-256 of the signature's text in hex. */
	request: string;
	method: string;
	/** Its timestamp, in milliseconds since 1970. */
	time: number;
	/** Status of the answer. */
	status: number;
}

/** The repository of layers. */
export interface Store extends Reader {
	/** Whether a change can be read as a fragment at the moment `change` answers. */
	readonly published: boolean;
	/**
	 * Makes one commit of `edits` on the branch, durable when this answers. No edits: no commit.
	 * @returns the commit, what `edits` refused, or a refusal with status 401 where a commit of this key in the last
	 * five minutes carries the same `request` and something would change again.
	 * @throws {StoreBusy} where the change could not be made now, and was not made.
	 */
	change(edits: Edits, meta: Meta): Promise<Commit | Refusal>;
	/**
	 * Keeps a signed request that was refused, or that changed no layer, so that it cannot take effect later; durable
	 * when this answers. A store without this keeps only the requests that its commits carry out.
	 * @returns whether it is the first time; false also where that is forgotten
	 * @throws {StoreBusy} where it could not be kept
	 */
	remember?(used: UsedRequest): Promise<boolean>;
}

/** How long a request is remembered on its key, in milliseconds: longer than a signature can be used. */
export const requestMemory = 300_000;

/** The refusal of a signature that was used before, on a key that has changed since. */
export const usedBefore: Refusal = {
	status: 401,
	reason: "used before",
	errors: [/* @__PURE__ */ textAt("Authorization", "signature-used")],
};

/** Whether `outcome` says that nothing was changed. */
export function isRefusal<T extends object>(outcome: T | Refusal): outcome is Refusal {
	return "errors" in outcome;
}

/** The store cannot be written now; nothing was changed. */
export class StoreBusy extends Error {
	override name = "StoreBusy";

	/** @param retryAfter seconds after which it is worth trying again */
	constructor(
		message: string,
		readonly retryAfter: number,
	) {
		super(message);
	}
}

/** The text of a commit: subject, blank line, trailers (git-interpret-trailers). */
export function commitMessage(meta: Meta): string {
	const trailers = meta.trailers.map(([name, text]) => `${name}: ${text}`);
	return [meta.subject, ...(trailers.length > 0 ? ["", ...trailers] : [])].join("\n");
}

/** Address that a commit names for its author; `.invalid` never receives mail (RFC 2606). */
export function authorMail(author: string): string {
	return `${author}@sender.invalid`;
}

/** Folders of the branches on which changes wait for review: those of senders, and those that a program proposes. */
export const reviewFolders = ["register", "repair"] as const;

/** Folder of the branches that keep declined reviews: `declined/register/<smallkey>/<commit>`. */
export const declinedFolder = "declined";

/** Branch on which a change of one layer waits for review. */
export function reviewBranch(smallkey: string): string {
	return `register/${smallkey}`;
}

/** The author of the service's own commits, and the committer of every commit that it makes, and of no other. */
export const serviceAuthor = "fragment-publisher";

/** The same as a commit has it. */
export const serviceIdentity = `${serviceAuthor} <${/* @__PURE__ */ authorMail(serviceAuthor)}>`;

/** Branch on which the repair of a layer is proposed. */
export function repairBranch(smallkey: string): string {
	return `repair/${smallkey}`;
}

/** Branch on which a batch of many layers waits for review: the dot keeps it apart from that of every smallkey. */
export function batchBranch(author: string): string {
	return `register/${author}.batch`;
}
