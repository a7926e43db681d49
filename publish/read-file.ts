import { readFileSync } from "node:fs";
import { etagOf } from "../registry/etag.ts";
import type { Fragment } from "../registry/targets/target.ts";

/**
 * Reads a rendered file; null if it is missing, empty or cannot be read. Synchronous: for a small file this takes a third of
 * the time.
 */
export function readFragmentFile(path: string): Fragment | null {
	try {
		const body = readFileSync(path);
		return body.length === 0 ? null : { body, etag: etagOf(body) };
	} catch {
		return null;
	}
}
