import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { reloadSeconds } from "../../catalogue/static/frame.ts";
import { pageSettingsPath } from "../../catalogue/static/html.ts";
import { chunksFolder } from "../../registry/entries.ts";
import { etagOf } from "../etag.ts";
import { answerErrorPage, answerPage, type PageWanted, type RecordsWanted } from "../pages.ts";
import { Rendered } from "../rendered.ts";
import type { Reply } from "../reply.ts";

/** The headers of a request on which the answer with a file of the catalogue depends. */
export interface PageQuestion {
	/** `If-None-Match`, or null. */
	ifNoneMatch: string | null;
	/** `Accept-Encoding`, or empty. */
	acceptEncoding: string;
}

/** Answers a request for a file of the catalogue or for records. */
export type Pages = (wanted: PageWanted | RecordsWanted, question: PageQuestion) => Promise<Reply>;

/** Content coding → the suffix of a file's compressed copy, the best coding first. */
const codings = [
	["br", ".br"],
	["gzip", ".gz"],
] as const;

/**
 * Serves the catalogue from a folder, compressed where there is a compressed copy. Another process may write the files, so
 * each request checks whether the file has changed.
 * @param isSecure whether the catalogue is served over https only
 */
export function folderPages(folder: string, isSecure: boolean): Pages {
	const read = fileReader();
	const rendered = new Rendered(async (file) => {
		// The bytes of a chunk are not kept in memory, since `Rendered` keeps its entries.
		const found = file.startsWith(`${chunksFolder}/`)
			? await readFile(join(folder, file)).catch(nullWithoutFile)
			: (await read(join(folder, file)))?.body;
		return found ? new TextDecoder().decode(found) : null;
	});
	return async (wanted, { ifNoneMatch, acceptEncoding }) => {
		if (wanted.kind === "records") return rendered.records(wanted, ifNoneMatch);
		const { file, root } = wanted;
		for (const [coding, ending] of codings) {
			if (!accepts(acceptEncoding, coding)) continue;
			const found = await read(join(folder, file + ending));
			const headers = { "Content-Encoding": coding, Vary: "Accept-Encoding" };
			if (found) return answerPage(wanted, found.body, { ifNoneMatch, isSecure, headers, etag: found.etag });
		}
		const headers = { Vary: "Accept-Encoding" };
		const found = await read(join(folder, file));
		if (found) return answerPage(wanted, found.body, { ifNoneMatch, isSecure, headers, etag: found.etag });
		const page = file.endsWith(".html") ? await rendered.page(file) : null;
		const isBuilt = page !== null || !file.endsWith(".html") || (await read(join(folder, pageSettingsPath)));
		if (!isBuilt) return answerErrorPage("building", 503, root, { "Retry-After": String(reloadSeconds) });
		return answerPage(wanted, page === null ? null : new TextEncoder().encode(page), {
			ifNoneMatch,
			isSecure,
			headers,
		});
	};
}

/** Longest `Accept-Encoding` that is parsed, in characters: no browser sends a longer one. */
const maxAcceptLength = 1_000;

/** Whether an `Accept-Encoding` names a coding, with a weight other than 0 (RFC 9110, section 12.5.3). */
function accepts(header: string, coding: string): boolean {
	if (header.length > maxAcceptLength) return false;
	return header.split(",").some((part) => {
		const [name = "", ...parameters] = part.toLowerCase().split(";");
		const isRefused = parameters.some((one) => /^\s*q=0(?:\.0*)?\s*$/.test(one));
		return name.trim() === coding && !isRefused;
	});
}

/** A file with its entity tag. */
interface KeptFile {
	body: Uint8Array;
	etag: string;
}

/** Most bytes of files that are kept in memory. */
const maxKeptBytes = 32_000_000;

/**
 * Reads files, and keeps them in memory until they change, so that all answers with a file share its bytes. The returned
 * function gives null where there is no such file.
 */
function fileReader(): (path: string) => Promise<KeptFile | null> {
	const kept = new Map<string, { stamp: string; file: Promise<KeptFile> }>();
	let bytes = 0;
	return async (path) => {
		try {
			const { ino, size, ctimeMs } = await stat(path);
			const stamp = `${ino} ${size} ${ctimeMs}`;
			const known = kept.get(path);
			if (known?.stamp === stamp) return await known.file;
			const file = readFile(path).then((body) => ({ body, etag: etagOf(body) }));
			if (bytes + size > maxKeptBytes) {
				kept.clear();
				bytes = 0;
			}
			bytes += size;
			kept.set(path, { stamp, file });
			return await file;
		} catch (error) {
			kept.delete(path);
			return nullWithoutFile(error as Error);
		}
	};
}

/** Error codes of a path that is not a file. */
const noFileCodes: ReadonlySet<string | undefined> = new Set([
	"ENOENT",
	"EISDIR",
	"ENOTDIR",
	"ENAMETOOLONG",
	"ELOOP",
	// Node.js refuses a path with a NUL.
	"ERR_INVALID_ARG_VALUE",
]);

/** Null for the error of a path that is not a file. @throws {Error} any other error */
function nullWithoutFile(error: NodeJS.ErrnoException): null {
	if (noFileCodes.has(error.code)) return null;
	throw error;
}
