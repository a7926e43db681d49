/** What a write asks for. */
export type WriteAction = "register" | "remove" | "update" | "updateFeature" | "simplify" | "refresh";

/** A method on paths that are written to. */
interface WriteRoute {
	action: WriteAction;
	method: "PUT" | "DELETE" | "POST";
	/** Of its last segments, whatever they hold: their rules are checked after the signature. */
	path: RegExp;
}

const registerPath = /^(?:\/v[12])?\/register\/[^/]*$/;

const routes: readonly WriteRoute[] = [
	{ action: "remove", method: "DELETE", path: registerPath },
	{ action: "register", method: "PUT", path: registerPath },
	// The older service's own, whose publishers go on asking for them.
	{ action: "updateFeature", method: "PUT", path: /^\/v1\/updatefeature\/[^/]*$/ },
	{ action: "simplify", method: "PUT", path: /^\/v1\/simplification\/[^/]*$/ },
	{ action: "update", method: "PUT", path: /^\/v2\/update\/(?:2\.0\/)?[^/]*$/ },
	{
		action: "refresh",
		method: "POST",
		path: /^(?:\/v1\/update\/[^/]*|\/v2\/refresh\/[^/]*(?:\/[^/]*)?)$/,
	},
];

/** Everything below these segments is the writes'. */
const writePaths =
	/^(?:(?:\/v[12])?\/register|\/v1\/(?:updatefeature|simplification|update)|\/v2\/(?:update|refresh))(?:[/?]|$)/;

/** Whether a method is one of the writes': nothing is read by it. */
export function isWriteMethod(method: string): boolean {
	return method === "PUT" || method === "DELETE" || method === "POST";
}

/** Whether a request is to be answered as a write, if only with its refusal. */
export function isForWrites(method: string, path: string): boolean {
	return method === "PUT" || method === "DELETE" || writePaths.test(path);
}

/** What can be asked for at a path, by method; empty where it is no write's. */
export function actionsAt(path: string): Map<string, WriteAction> {
	const found = routes.filter((route) => route.path.test(path));
	return new Map(found.map(({ method, action }) => [method, action]));
}

/** The method of a write: it is not signed. */
export function methodOf(action: WriteAction): string {
	return routes.find((route) => route.action === action)?.method ?? "";
}
