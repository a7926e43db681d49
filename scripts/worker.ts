// The Cloudflare Worker, for all but static assets (wrangler.jsonc, docs/hosting.md).
import { logText } from "../api/log.ts";
import { coreWrites } from "../api/register.ts";
import { refuseFile } from "../api/reply.ts";
import { type Bindings, FragmentWorker, filesOf } from "../api/worker/worker.ts";
import { workerWrites } from "../extensions/worker.ts";
import { Catalogue, catalogueRoute } from "../site/http/catalogue-requests.ts";

/**
 * A search of records needs every chunk, more files than a request may fetch: a build has records as files
 * (docs/catalogue.md).
 */
function catalogueOf(bindings: Bindings): Catalogue {
	// A missing binding fails only the requests that need it.
	const find = (file: string) => filesOf(bindings)(file);
	const text = async (file: string) => {
		const result = await find(file);
		return result && new TextDecoder().decode(result.body);
	};
	return new Catalogue({ find, text, headers: {}, isSecure: true, isLive: false });
}

/** GET /collections…, /conformance and /ogc…: OGC API Records, whose clients read JSON. */
const noRecords = {
	name: "records",
	matches: (path: string) => /^\/(?:collections|conformance|ogc)(?:[/?]|$)/.test(path),
	answer: async () => refuseFile(),
};

export function createSiteWorker(log: (fields: object) => void) {
	const routesOf = (bindings: Bindings) => [noRecords, catalogueRoute(catalogueOf(bindings))];
	return new FragmentWorker(log, routesOf, [...coreWrites, ...workerWrites]);
}

export default createSiteWorker((fields) => console.log(logText(fields)));
