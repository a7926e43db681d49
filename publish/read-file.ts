import { readFile } from "node:fs";
import { etagOf } from "../registry/etag.ts";
import type { Fragment } from "../registry/targets/target.ts";

/**
 * Reads a rendered file; null if it is missing, empty or cannot be read. With a callback, which takes less time than the
 * file handle of `fs/promises`.
 */
export function readFragmentFile(path: string): Promise<Fragment | null> {
	return new Promise((resolve) => {
		readFile(path, (error, body) => {
			resolve(error || body.length === 0 ? null : { body, etag: etagOf(body) });
		});
	});
}
