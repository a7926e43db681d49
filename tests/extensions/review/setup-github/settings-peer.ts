import { answerFrom, type JsonServer, type Routes, startJsonServer } from "../../../scripts/json-server.ts";

type Json = Record<string, unknown>;
type Environment = Json & { policies: { name: string; type?: string }[]; secrets: string[] };

const madeRepository = {
	...{ owner: { login: "maps", type: "Organization" }, name: "layers", private: false, fork: false },
	...{ archived: false, has_issues: true, delete_branch_on_merge: false },
	...{ html_url: "https://github.example/maps/layers", default_branch: "main" },
};

/** A repository for which nothing was done, as GitHub makes it. */
function createState(clone_url: string) {
	return {
		/** Null: there is no such repository. */
		repository: { ...madeRepository, clone_url } as Json | null,
		/** Names and ids at the top of the branch; null: there is no such branch. */
		tree: null as { path: string; sha: string }[] | null,
		labels: [] as Json[],
		permissions: { enabled: true, allowed_actions: "all" } as Json,
		workflow: { default_workflow_permissions: "write", can_approve_pull_request_reviews: false } as Json,
		selected: { github_owned_allowed: false, verified_allowed: true, patterns_allowed: [] } as Json,
		environments: new Map<string, Environment>(),
		variables: new Map<string, string>(),
		repositorySecrets: [] as string[],
		rulesets: [] as ({ id: number; name: string } & Json)[],
		apps: new Map<string, number>(),
		/** Ids of the Apps that have set a check on the branch. */
		checkedBy: [] as number[],
		accounts: new Map<string, number>(),
		installations: [] as { app_id: number; suspended_at: string | null }[],
		writes: [] as string[],
		/** Answers that replace the peer's own. */
		refusals: [] as { path: RegExp; status: number; message: string }[],
	};
}

/** As much of GitHub as a repository's settings need: the package `emulate` has no environments, rulesets and variables. */
export type SettingsPeer = ReturnType<typeof createState> & JsonServer;

const listed = (name: string, items: unknown[]) => ({ total_count: items.length, [name]: items });
const named = (names: string[]) => names.map((name) => ({ name }));

export async function startSettingsPeer(cloneUrl: string): Promise<SettingsPeer> {
	const peer = createState(cloneUrl);
	const set =
		(name: "repository" | "permissions" | "workflow" | "selected") => (_groups: unknown, body: Json) => {
			peer[name] = { ...peer[name], ...body };
			return {};
		};
	const environmentOf = (name = "") => peer.environments.get(name) ?? { policies: [], secrets: [] };
	const idOf = (id: number | undefined, more: Json = {}) => (id === undefined ? null : { id, ...more });
	const byId = <T extends { id: number }>(all: T[], id?: string) =>
		all.find((one) => one.id === Number(id)) ?? null;
	const add = (list: Json[]) => (_groups: unknown, body: Json) => {
		list.push({ id: list.length + 1, ...body });
		return body;
	};
	const variable = (_groups: unknown, { name, value }: Json) => {
		peer.variables.set(String(name), String(value));
		return {};
	};
	/** Below the repository. */
	const own: Routes = {
		"GET /commits/heads%2Fmain/check-runs": (_groups, _body, query) => {
			const ids = peer.checkedBy.filter((id) => id === Number(query.get("app_id")));
			const runs = ids.map((id) => ({ name: "owners", app: { id } }));
			return listed("check_runs", runs);
		},
		"GET ": () => peer.repository,
		"PATCH ": set("repository"),
		"GET /git/ref/heads%2Fmain": () => peer.tree && { object: { sha: "c0ffee" } },
		"GET /git/trees/c0ffee": () => ({ tree: peer.tree }),
		"GET /labels": () => peer.labels,
		"POST /labels": add(peer.labels),
		"GET /actions/permissions": () => peer.permissions,
		"PUT /actions/permissions": set("permissions"),
		"GET /actions/permissions/workflow": () => peer.workflow,
		"PUT /actions/permissions/workflow": set("workflow"),
		"GET /actions/permissions/selected-actions": () => peer.selected,
		"PUT /actions/permissions/selected-actions": set("selected"),
		"GET /actions/workflows": () => listed("workflows", []),
		"GET /environments/(\\w+)": ([name = ""]) => peer.environments.get(name) ?? null,
		"PUT /environments/(\\w+)": ([name = ""], body) => {
			peer.environments.set(name, { ...environmentOf(name), ...body });
			return {};
		},
		"GET /environments/(\\w+)/deployment-branch-policies": ([name]) =>
			listed("branch_policies", environmentOf(name).policies),
		"POST /environments/(\\w+)/deployment-branch-policies": ([name], body) => {
			environmentOf(name).policies.push(body as { name: string });
			return {};
		},
		"PUT /environments/(\\w+)/secrets/(\\w+)": ([name, secret = ""]) => {
			environmentOf(name).secrets.push(secret);
			return {};
		},
		"GET /environments/(\\w+)/secrets": ([name]) => listed("secrets", named(environmentOf(name).secrets)),
		"GET /actions/secrets": () => listed("secrets", named(peer.repositorySecrets)),
		"GET /actions/variables": () => {
			const variables = Array.from(peer.variables, ([name, value]) => ({ name, value }));
			return listed("variables", variables);
		},
		"POST /actions/variables": variable,
		"PATCH /actions/variables/(.+)": ([name], body) => variable(null, { name, ...body }),
		"GET /rulesets": () => peer.rulesets.map(({ id, name }) => ({ id, name })),
		"POST /rulesets": add(peer.rulesets),
		"GET /rulesets/(\\d+)": ([id]) => byId(peer.rulesets, id),
		"PUT /rulesets/(\\d+)": ([id], body) => Object.assign(byId(peer.rulesets, id) as Json, body),
		"GET /rules/branches/(.+)": () => [],
		"GET /branches/(register|repair)": () => null,
		"GET /branches/main/protection": () => null,
	};
	const others: Routes = {
		"GET /users/maps": () => madeRepository.owner,
		"GET /users/(.+)": ([login = ""]) => idOf(peer.accounts.get(login), { login, type: "User" }),
		"GET /apps/(.+)": ([slug = ""]) => idOf(peer.apps.get(slug)),
		"GET /orgs/maps/installations": () => listed("installations", peer.installations),
		"POST /orgs/maps/repos": (_groups, body) => {
			peer.repository = { ...madeRepository, clone_url: cloneUrl, ...body };
			return {};
		},
	};
	const server = await startJsonServer((request) => {
		const { method, path } = request;
		const refusal = peer.refusals.find((one) => one.path.test(`${method} ${path}`));
		if (refusal) return { status: refusal.status, body: { message: refusal.message } };
		if (method !== "GET") peer.writes.push(`${method} ${path}`);
		const below = /^\/repos\/maps\/layers(.*)$/.exec(path)?.[1];
		if (below === undefined) return answerFrom(others, request);
		if (peer.repository === null) return { status: 404, body: { message: "Not Found" } };
		return answerFrom(own, { ...request, path: below });
	});
	return Object.assign(peer, server);
}
