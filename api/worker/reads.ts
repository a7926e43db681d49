import pMap from "p-map";
import { targetPath } from "../../registry/targets/table.ts";
import { handleRead } from "../app.ts";
import type { Context } from "../context.ts";
import { etagOf } from "../etag.ts";
import { type Fragment, maxDocsBytes } from "../read.ts";
import { type Reply, refuseRead } from "../reply.ts";
import { keysOf, type Wanted } from "../wanted.ts";

/** The files of the build, as Cloudflare serves them (Workers, "Static assets", binding). */
export interface Assets {
	fetch(address: string): Promise<Response>;
}

/** The used part of an R2 bucket (R2, "Workers API reference"). */
export interface Objects {
	get(name: string): Promise<{ httpEtag: string; arrayBuffer(): Promise<ArrayBuffer> } | null>;
}

/** The used part of a rate limit (Workers, "Rate limiting", binding). */
export interface RateLimit {
	limit(options: { key: string }): Promise<{ success: boolean }>;
}

/** The worker's environment: where the fragments are, and the configuration's variables. */
export interface Bindings {
	ASSETS?: Assets;
	/** The fragments as objects of a bucket; used instead of ASSETS. */
	OBJECTS?: Objects;
	/** Limits writes by address and by sender; without it they are not limited. */
	WRITES?: RateLimit;
	[variable: string]: unknown;
}

/**
 * How files of the build are fetched with these bindings; null where there is none. Throws where the hosting fails.
 * @throws {Error} that names the missing binding
 */
export function filesOf({ ASSETS, OBJECTS }: Bindings): (file: string) => Promise<Fragment | null> {
	if (OBJECTS) return (file) => fetchObject(OBJECTS, file);
	// The name is encoded: a literal + or = causes a redirect.
	if (ASSETS) return (file) => fetchAsset(ASSETS, file.split("/").map(encodeURIComponent).join("/"));
	throw new Error("the binding ASSETS (or OBJECTS) is missing: see wrangler.jsonc");
}

async function fetchObject(objects: Objects, name: string): Promise<Fragment | null> {
	const object = await objects.get(name);
	return object && { body: new Uint8Array(await object.arrayBuffer()), etag: object.httpEtag };
}

async function fetchAsset(assets: Assets, path: string): Promise<Fragment | null> {
	// The binding ignores the host.
	const response = await assets.fetch(`http://assets/${path}`);
	if (response.status === 404) return null;
	if (response.status !== 200) throw new Error(`ASSETS: answers ${response.status} to /${path}`);
	const body = new Uint8Array(await response.arrayBuffer());
	// The same tag as without the worker, but strong, since the body is not compressed here.
	return { body, etag: response.headers.get("ETag")?.replace(/^W\//, "") ?? etagOf(body) };
}

const atOnce = 24;

/** Answers a read with fragments from the hosting. @throws {Error} where a binding is missing or fails */
export async function handleFetchedRead(
	wanted: Wanted,
	ifNoneMatch: string | null,
	bindings: Bindings,
	log: Context["log"],
): Promise<Reply> {
	const fetched = await fetchWanted(wanted, bindings);
	if (!fetched) return refuseRead(414);
	const find = (_target: unknown, _lang: unknown, smallkey: string) => fetched.get(smallkey) ?? null;
	return handleRead(wanted, ifNoneMatch, find, log);
}

/**
 * Fetches each distinct fragment of a read once, with bounded concurrency; null where they are larger than an answer may
 * be.
 */
async function fetchWanted(wanted: Wanted, bindings: Bindings): Promise<Map<string, Fragment | null> | null> {
	const fetched = new Map<string, Fragment | null>();
	const fetchFile = filesOf(bindings);
	let bytes = 0;
	const fetchOne = async (key: string) => {
		if (bytes > maxDocsBytes) return;
		const fragment = await fetchFile(targetPath(wanted.target, wanted.lang, key));
		bytes += fragment?.body.length ?? 0;
		fetched.set(key, fragment);
	};
	await pMap(keysOf(wanted), fetchOne, { concurrency: atOnce });
	return bytes > maxDocsBytes ? null : fetched;
}
