import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { etagOf } from "../../store/hashes.ts";
import { Catalogue, type CatalogueFile } from "./catalogue-requests.ts";

/** The best first. */
const codings = Object.entries({ br: ".br", gzip: ".gz" });

/** Another process may write the files, so each request checks for changes. */
export function folderPages(folder: string, { isSecure = false } = {}): Catalogue {
	const read = fileReader();
	const find = async (file: string, acceptEncoding: string) => {
		for (const [coding, ending] of codings) {
			const copy = accepts(acceptEncoding, coding) ? await read(join(folder, file + ending)) : null;
			if (copy) return { ...copy, headers: { "Content-Encoding": coding } };
		}
		return read(join(folder, file));
	};
	// Not kept in memory, since `Catalogue` keeps the entries.
	const text = (file: string) => readFile(join(folder, file), "utf8").catch(nullWithoutFile);
	const headers = { Vary: "Accept-Encoding" };
	return new Catalogue({ find, text, headers, isSecure, isLive: true });
}

/** A weight of 0 refuses (RFC 9110, section 12.5.3). */
function accepts(header: string, coding: string): boolean {
	return header.split(",").some((part) => {
		const [name = "", ...parameters] = part.toLowerCase().split(";");
		const isRefused = parameters.some((parameter) => /^\s*q=0(?:\.0*)?\s*$/.test(parameter));
		return name.trim() === coding && !isRefused;
	});
}

const maxKeptBytes = 32_000_000;

function fileReader(): (path: string) => Promise<CatalogueFile | null> {
	const kept = new LRUCache<string, { stamp: string; file: Promise<CatalogueFile> }>({
		maxSize: maxKeptBytes,
	});
	return async (path) => {
		try {
			const { ino, size, ctimeMs } = await stat(path);
			const stamp = `${ino} ${size} ${ctimeMs}`;
			const last = kept.get(path);
			if (last?.stamp === stamp) return await last.file;
			const file = readFile(path).then((body) => ({ body, etag: etagOf(body) }));
			kept.set(path, { stamp, file }, { size: size + path.length });
			return await file;
		} catch (error) {
			kept.delete(path);
			return nullWithoutFile(error as Error);
		}
	};
}

/** The last one is Node's for a path with a NUL. */
const noFile = /^(?:ENOENT|EISDIR|ENOTDIR|ENAMETOOLONG|ELOOP|ERR_INVALID_ARG_VALUE)$/;

function nullWithoutFile(error: NodeJS.ErrnoException): null {
	if (noFile.test(error.code ?? "")) return null;
	throw error;
}
