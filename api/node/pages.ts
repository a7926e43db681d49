import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { etagOf } from "../etag.ts";
import { answerPage } from "../pages.ts";
import { plainText, type Reply } from "../reply.ts";

/** What a request says that counts for a file of the catalogue. */
export interface PageQuestion {
	/** `If-None-Match`, or null. */
	ifNoneMatch: string | null;
	/** `Accept-Encoding`, or empty. */
	acceptEncoding: string;
}

/** Answers a request for a file of the catalogue, by its path below the output. */
export type Pages = (file: string, question: PageQuestion) => Promise<Reply>;

/** The codings in which a file may stand beside itself, the best first. */
const codings = [
	["br", ".br"],
	["gzip", ".gz"],
] as const;

/**
 * Serves the catalogue from a folder, compressed where a compressed copy stands there. Another process keeps the files in
 * step: each time it is looked at whether a file is still the same.
 * @param isSecure whether it is served over https only
 */
export function folderPages(folder: string, isSecure: boolean): Pages {
	const read = fileReader();
	return async (file, { ifNoneMatch, acceptEncoding }) => {
		for (const [coding, ending] of codings) {
			if (!accepts(acceptEncoding, coding)) continue;
			const found = await read(join(folder, file + ending));
			const headers = { "Content-Encoding": coding, Vary: "Accept-Encoding" };
			if (found) return answerPage(file, found.body, { ifNoneMatch, isSecure, headers, etag: found.etag });
		}
		const headers = { Vary: "Accept-Encoding" };
		const found = await read(join(folder, file));
		if (!found && firstPages.has(file)) return notBuilt();
		return answerPage(file, found?.body ?? null, {
			ifNoneMatch,
			isSecure,
			headers,
			...(found && { etag: found.etag }),
		});
	};
}

/** They are in every catalogue: where one is missing, it is still being made. */
const firstPages: ReadonlySet<string> = new Set(["index.html", "en/index.html", "fr/index.html"]);

function notBuilt(): Reply {
	return plainText(503, "the catalogue is being built: try again in a moment", { "Retry-After": "5" });
}

/** Longest `Accept-Encoding` that is looked at, in characters: what is longer comes from no browser. */
const maxAcceptLength = 1_000;

/** Whether an `Accept-Encoding` names a coding, and not as one that is not taken (RFC 9110, section 12.5.3). */
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
 * Reads files, and keeps them until they change: all answers with a file share its bytes, however many wait for their
 * readers. Null where there is none.
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
			if (noFile.has((error as NodeJS.ErrnoException).code)) return null;
			throw error;
		}
	};
}

/** What the file system says of a name that is no file's. */
const noFile: ReadonlySet<string | undefined> = new Set([
	"ENOENT",
	"EISDIR",
	"ENOTDIR",
	"ENAMETOOLONG",
	"ELOOP",
	// A NUL in it, of which Node.js asks no file system.
	"ERR_INVALID_ARG_VALUE",
]);
