import type { Lang } from "../../registry/smallkey.ts";
import { targetPath } from "../../registry/targets/table.ts";
import type { TargetName } from "../../registry/targets/target.ts";
import { etagOf } from "../etag.ts";
import type { Fragment } from "../fragment.ts";

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
	/** The fragments as static assets. */
	ASSETS?: Assets;
	/** The fragments as objects of a bucket; used instead of ASSETS. */
	OBJECTS?: Objects;
	/** Limits writes by address and by sender; without it they are not limited. */
	WRITES?: RateLimit;
	[variable: string]: unknown;
}

/** Fetches a fragment from the hosting; null where there is none. @throws {Error} where the hosting fails */
export type FetchFragment = (target: TargetName, lang: Lang, smallkey: string) => Promise<Fragment | null>;

/** Fetches a file of the catalogue from the hosting; null where there is none. @throws {Error} where it fails */
export async function fetchPage({ OBJECTS, ASSETS }: Bindings, file: string): Promise<Fragment | null> {
	if (OBJECTS) return fetchObject(OBJECTS, file);
	// The encoded name: a literal + or = is answered by a redirect.
	return ASSETS ? fetchAsset(ASSETS, file.split("/").map(encodeURIComponent).join("/")) : null;
}

/** How fragments are fetched with these bindings. @throws {Error} that names the missing binding */
export function fragmentsOf({ ASSETS, OBJECTS }: Bindings): FetchFragment {
	if (OBJECTS) return (target, lang, smallkey) => fetchObject(OBJECTS, targetPath(target, lang, smallkey));
	// The name is encoded: a literal + or = causes a redirect.
	if (ASSETS)
		return (target, lang, smallkey) =>
			fetchAsset(ASSETS, targetPath(target, lang, encodeURIComponent(smallkey)));
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
