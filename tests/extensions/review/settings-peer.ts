import { type JsonServer, startJsonServer } from "../../scripts/json-server.ts";

// biome-ignore lint/suspicious/noExplicitAny: GitHub's values
export type Json = any;

/** Lists that are the member of an object, by the end of their path. */
const listNames: Record<string, string> = {
	"deployment-branch-policies": "branch_policies",
	variables: "variables",
	secrets: "secrets",
};

/** Of GitHub: what was written to a path is read there. */
export interface SettingsPeer extends JsonServer {
	values: Map<string, Json>;
	writes: string[];
	isThere: boolean;
}

export async function startSettingsPeer(): Promise<SettingsPeer> {
	const values = new Map<string, Json>([
		["", { archived: false, fork: false, private: false, default_branch: "main", has_issues: true }],
	]);
	const writes: string[] = [];
	const state = { values, writes, isThere: true };
	const append = (path: string, body: Json) => {
		const name = listNames[path.slice(path.lastIndexOf("/") + 1)];
		const stored = values.get(path) ?? (name ? { [name]: [] } : []);
		const list = name ? stored[name] : stored;
		list.push({ id: list.length + 1, ...body });
		values.set(path, stored);
		if (!name) values.set(`${path}/${list.length}`, { id: list.length, ...body });
	};
	const server = await startJsonServer(({ method, path, body }) => {
		const [, below = null] = /^\/repos\/maps\/layers([^?]*)/.exec(path) ?? [];
		if (method !== "GET") writes.push(`${method} ${path}`);
		if (below === null) return { status: 404, body: {} };
		if (method === "POST") append(below, body);
		if (method === "PUT" || method === "PATCH")
			values.set(below, { ...values.get(below), ...(body as Json) });
		const value = state.isThere ? values.get(below) : undefined;
		return value === undefined
			? { status: 404, body: { message: "Not Found" } }
			: { status: 200, body: value };
	});
	return Object.assign(state, server);
}
