import { descriptionPath, layerPath, parseSmallkey } from "../registry/smallkey.ts";
import { problemAt } from "../registry/texts.ts";
import { groupBy } from "../registry/untrusted-text.ts";
import { blobId } from "./hashes.ts";
import {
	type Decide,
	type Edit,
	isRefusal,
	type Layer,
	type Meta,
	type Reader,
	type Refusal,
	type UsedRequest,
	type UsedRequests,
	usedBefore,
	waitsOf,
} from "./store.ts";

export interface FileEntry {
	/** Git's: `100644` or `100755` for a plain file; old commits have other rights, such as `100664`. */
	mode: string;
	id: string;
}

/** Name → file. */
export type Folder = ReadonlyMap<string, FileEntry>;

export interface CommitFiles {
	folder(folder: string): Promise<Folder>;
	text(id: string, path: string): Promise<string>;
}

/** Folder → name in lower case → names: a batch may change thousands of layers in one folder. */
const namesByFolder = new WeakMap<Folder, Map<string, string[]>>();

function namesLike(folder: Folder, name: string): string[] {
	const names = namesByFolder.get(folder) ?? groupBy(folder.keys(), (each) => each.toLowerCase());
	namesByFolder.set(folder, names);
	return names.get(name.toLowerCase()) ?? [];
}

export function readerOf(files: CommitFiles) {
	/** Path in lower case → path → text. */
	const changed = new Map<string, Map<string, string | null>>();

	function overlay(edits: readonly Edit[]): void {
		for (const { path, text } of edits) {
			const lower = path.toLowerCase();
			changed.set(lower, (changed.get(lower) ?? new Map<string, string | null>()).set(path, text));
		}
	}

	function partsBy(partOf: (path: string) => Promise<string | null>) {
		return async (smallkey: string): Promise<Layer | null> => {
			const paths = [layerPath(smallkey), descriptionPath(smallkey)];
			const [registration = null, description = null] = await Promise.all(paths.map(partOf));
			return registration === null ? null : { registration, description };
		};
	}

	async function spellings(smallkey: string): Promise<string[]> {
		const path = layerPath(smallkey);
		const [folder, name] = splitPath(path);
		const paths = new Set(
			namesLike(await files.folder(folder), name).map((each) => `layers/${folder}/${each}`),
		);
		for (const [other, text] of changed.get(path.toLowerCase()) ?? [])
			text === null ? paths.delete(other) : paths.add(other);
		// No other character has the lower case of a letter of smallkeys, but for the Kelvin sign.
		return [...paths]
			.flatMap((each) => parseSmallkey(splitPath(each)[1].slice(0, -".json".length)) ?? [])
			.sort();
	}

	async function find(path: string): Promise<string | FileEntry | null> {
		const [folder, name] = splitPath(path);
		const text = changed.get(path.toLowerCase())?.get(path);
		return text === undefined ? ((await files.folder(folder)).get(name) ?? null) : text;
	}

	async function textOf(path: string): Promise<string | null> {
		const file = await find(path);
		if (file === null || typeof file === "string") return file;
		return isPlain(file) ? files.text(file.id, path) : null;
	}

	async function idOf(path: string): Promise<string | null> {
		const file = await find(path);
		if (typeof file === "string") return blobId(file);
		return file && isPlain(file) ? file.id : null;
	}

	return { overlay, read: partsBy(textOf), ids: partsBy(idOf), spellings, find };
}

/** The kind of file that a mode of git means. Only plain files can be layers. */
export function kindOfMode(mode: string): "file" | "symlink" | "other" {
	if (/^100[0-7]{3}$/.test(mode)) return "file";
	return mode === "120000" ? "symlink" : "other";
}

function isPlain({ mode }: FileEntry): boolean {
	return kindOfMode(mode) === "file";
}

function splitPath(path: string): [folder: string, name: string] {
	const [, folder = "", name = path] = /^layers\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
	return [folder, name];
}

/** Whether a review differs from the served state in a layer. A change of no single layer always does. */
export async function isProposed(smallkey: string | null, review: Reader, served: Reader): Promise<boolean> {
	if (smallkey === null) return true;
	const [proposed, stored] = await Promise.all([review.ids(smallkey), served.ids(smallkey)]);
	return proposed?.registration !== stored?.registration;
}

/** What waits for review where a change would go. */
export interface Waiting {
	/** Another sender, whose change waits there. */
	holder: string | null;
	/** Smallkeys that wait on any branch, at least all spellings of this one. */
	spellings(smallkey: string): Promise<string[]>;
}

async function refuseWaiting(
	{ smallkey }: Meta,
	now: Reader,
	{ holder, spellings }: Waiting,
): Promise<Refusal | null> {
	if (holder !== null) return waitsOf(holder);
	if (smallkey === null || (await now.ids(smallkey)) !== null) return null;
	// Only one of them can be accepted.
	const isTwin = (other: string) => other !== smallkey && other.toLowerCase() === smallkey.toLowerCase();
	const twin = (await spellings(smallkey)).find(isTwin);
	return twin === undefined ? null : twinWaits(smallkey, twin);
}

export function twinWaits(smallkey: string, other: string): Refusal {
	const errors = [problemAt("smallkey", "case-twin", smallkey, other)];
	return { status: 409, reason: "other case", errors };
}

/**
 * Decides a change on the state that it meets.
 * @param waiting null for a change that needs no review
 * @param used a request in it is refused now unless it changes nothing
 */
export async function decideChange(
	{ decide, meta }: { decide: Decide; meta: Meta },
	now: Reader,
	waiting: Waiting | null,
	used: UsedRequests,
): Promise<Edit[] | Refusal> {
	const proposed = await decide(now);
	const changesFiles = (decision: Edit[] | Refusal) => !isRefusal(decision) && decision.length > 0;
	const refusal = waiting && changesFiles(proposed) ? await refuseWaiting(meta, now, waiting) : null;
	const outcome = refusal ?? proposed;
	const first = used.find(meta.request);
	if (first) return judgeRepeat(first, meta.method ?? "-", outcome) ?? [];
	const isDoubtful = meta.request !== null && changesFiles(outcome) && used.mayHave(meta.time);
	return isDoubtful ? mayBeUsed : outcome;
}

const mayBeUsed: Refusal = {
	status: 401,
	reason: "used before",
	errors: [problemAt("TimeStamp", "clock")],
};

function judgeRepeat(first: UsedRequest, method: string, outcome: Edit[] | Refusal): Refusal | null {
	if (first.method !== "?" && first.method !== method) return usedBefore;
	const wasAccepted = typeof first.outcome === "string";
	if (isRefusal(outcome)) {
		// The first DELETE has removed the layer.
		if (wasAccepted && method === "DELETE" && outcome.status === 404) return null;
		// Its condition held before it was carried out.
		if (wasAccepted && outcome.status === 412) return outcome.isDone ? null : outcome;
		return first.outcome === outcome.status ? outcome : usedBefore;
	}
	return wasAccepted && outcome.length === 0 ? null : usedBefore;
}
