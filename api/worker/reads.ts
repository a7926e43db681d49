import type { Fragment } from "../../registry/targets/facts.ts";
import { etagOf } from "../../store/hashes.ts";

export interface Bindings {
	/** The build, as Cloudflare serves it (Workers, "Static assets", binding). */
	ASSETS?: { fetch(address: string): Promise<Response> };
	/** A bucket with the build, used instead of ASSETS (R2, "Workers API reference"). */
	OBJECTS?: { get(name: string): Promise<{ httpEtag: string; arrayBuffer(): Promise<ArrayBuffer> } | null> };
	/** By address and by sender (Workers, "Rate limiting", binding); without it, writes are not limited. */
	WRITES?: { limit(options: { key: string }): Promise<{ success: boolean }> };
	[variable: string]: unknown;
}

export function filesOf({ ASSETS, OBJECTS }: Bindings): (file: string) => Promise<Fragment | null> {
	if (!ASSETS && !OBJECTS) throw new Error("the binding ASSETS (or OBJECTS) is missing: see wrangler.jsonc");
	return async (file) => {
		const object = await OBJECTS?.get(file);
		if (object) return { body: new Uint8Array(await object.arrayBuffer()), etag: object.httpEtag };
		if (OBJECTS || !ASSETS) return null;
		// A literal + or = causes a redirect. The binding ignores the host.
		const path = file.split("/").map(encodeURIComponent).join("/");
		const response = await ASSETS.fetch(`http://assets/${path}`);
		if (response.status === 404) return null;
		if (response.status !== 200) throw new Error(`ASSETS: answers ${response.status} to /${path}`);
		const body = new Uint8Array(await response.arrayBuffer());
		// The same tag as without the worker, but strong, since the body is not compressed here.
		return { body, etag: response.headers.get("ETag")?.replace(/^W\//, "") ?? etagOf(body) };
	};
}
