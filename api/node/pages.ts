import { readFile } from "node:fs/promises";
import { join } from "node:path";
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
 * Serves the catalogue from a folder, compressed where a compressed copy stands there. Read anew each time: another
 * process keeps the files in step.
 * @param isSecure whether it is served over https only
 */
export function folderPages(folder: string, isSecure: boolean): Pages {
	return async (file, { ifNoneMatch, acceptEncoding }) => {
		for (const [coding, ending] of codings) {
			if (!accepts(acceptEncoding, coding)) continue;
			const bytes = await readIfThere(join(folder, file + ending));
			const headers = { "Content-Encoding": coding, Vary: "Accept-Encoding" };
			if (bytes) return answerPage(file, bytes, { ifNoneMatch, isSecure, headers });
		}
		const headers = { Vary: "Accept-Encoding" };
		const bytes = await readIfThere(join(folder, file));
		if (!bytes && firstPages.has(file)) return notBuilt();
		return answerPage(file, bytes, { ifNoneMatch, isSecure, headers });
	};
}

/** They are in every catalogue: where one is missing, it is still being made. */
const firstPages: ReadonlySet<string> = new Set(["index.html", "en/index.html", "fr/index.html"]);

function notBuilt(): Reply {
	return plainText(503, "the catalogue is being built: try again in a moment", { "Retry-After": "5" });
}

/** Whether an `Accept-Encoding` names a coding, and not as one that is not taken (RFC 9110, section 12.5.3). */
function accepts(header: string, coding: string): boolean {
	return header.split(",").some((part) => {
		const [name = "", ...parameters] = part.toLowerCase().split(";");
		const isRefused = parameters.some((one) => /^\s*q=0(?:\.0*)?\s*$/.test(one));
		return name.trim() === coding && !isRefused;
	});
}

async function readIfThere(path: string): Promise<Uint8Array | null> {
	return readFile(path).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT" || error.code === "EISDIR" || error.code === "ENOTDIR") return null;
		throw error;
	});
}
