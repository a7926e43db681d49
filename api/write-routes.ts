const registerPath = /^(?:\/v[12])?\/register\/[^/]*$/;

/** The routes of writes. Their last segment may have any content: it is checked after the signature. */
const routes = [
	{ action: "remove", method: "DELETE", path: registerPath },
	{ action: "register", method: "PUT", path: registerPath },
	// The routes below are those of the older service, which its publishers still use.
	{ action: "updateFeature", method: "PUT", path: /^\/v1\/updatefeature\/[^/]*$/ },
	{ action: "simplify", method: "PUT", path: /^\/v1\/simplification\/[^/]*$/ },
	{ action: "update", method: "PUT", path: /^\/v2\/update\/(?:2\.0\/)?[^/]*$/ },
	{
		action: "refresh",
		method: "POST",
		path: /^(?:\/v1\/update\/[^/]*|\/v2\/refresh\/[^/]*(?:\/[^/]*)?)$/,
	},
] as const;

export type WriteAction = (typeof routes)[number]["action"];

/** Paths that belong to writes, with all paths below them. */
const writePaths =
	/^(?:(?:\/v[12])?\/register|\/v1\/(?:updatefeature|simplification|update)|\/v2\/(?:update|refresh))(?:[/?]|$)/;

export function isWriteMethod(method: string): boolean {
	return method === "PUT" || method === "DELETE" || method === "POST";
}

/** Whether a request is answered as a write, possibly with a refusal. */
export function isForWrites(method: string, path: string): boolean {
	return method === "PUT" || method === "DELETE" || writePaths.test(path);
}

/** The actions at a path, by method; empty where the path is not a write's. */
export function actionsAt(path: string): Map<string, WriteAction> {
	const found = routes.filter((route) => route.path.test(path));
	return new Map(found.map(({ method, action }) => [method, action]));
}

/** The method of a write; the signature does not cover it. */
export function methodOf(action: WriteAction): string {
	return routes.find((route) => route.action === action)?.method ?? "";
}
