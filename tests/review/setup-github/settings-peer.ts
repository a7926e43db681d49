import { answerFrom, type JsonServer, type Routes, startJsonServer } from "../../scripts/json-server.ts";

type Json = Record<string, unknown>;

/** As much of GitHub as a repository's settings need: `emulate` has no environments, rulesets and variables. */
export interface SettingsPeer extends JsonServer {
	/** Null: there is no such repository. */
	repository: Json | null;
	owner: Json;
	/** Names and ids at the top of the branch; null: there is no such branch. */
	tree: { path: string; sha: string }[] | null;
	labels: Json[];
	actions: Json;
	workflow: Json;
	/** What may run where `actions` says `selected`. */
	selected: Json;
	workflows: { id: number; name: string; state: string }[];
	/** By name; those that are not here are 404. */
	environments: Map<string, Json & { policies: { name: string; type?: string }[]; secrets: string[] }>;
	variables: Map<string, string>;
	repositorySecrets: string[];
	rulesets: ({ id: number; name: string } & Json)[];
	/** Rules of a branch by its name. */
	branchRules: Map<string, { type: string; ruleset_id?: number }[]>;
	protection: Json | null;
	apps: Map<string, number>;
	/** Ids of the Apps that have set a check on the branch. */
	checkedBy: number[];
	/** Ids of accounts by their login. */
	accounts: Map<string, number>;
	installations: { app_id: number; suspended_at: string | null }[];
	/** Writes so far. */
	writes: string[];
	/** Answers that take the place of the peer's own. */
	refusals: { path: RegExp; status: number; message: string }[];
}

export const peerRepository = {
	owner: { login: "maps", type: "Organization" },
	name: "layers",
	private: false,
	fork: false,
	archived: false,
	html_url: "https://github.example/maps/layers",
	clone_url: "",
	default_branch: "main",
	delete_branch_on_merge: true,
	has_issues: true,
};

const named = (name: string) => ({ name });

/** A list as GitHub wraps some of them. */
function listed(name: string, items: unknown[]): Json {
	return { total_count: items.length, [name]: items };
}

/** A repository that nothing was done for: empty, as GitHub makes it. */
export async function startSettingsPeer(cloneUrl: string): Promise<SettingsPeer> {
	const peer: Omit<SettingsPeer, keyof JsonServer> = {
		repository: { ...peerRepository, clone_url: cloneUrl, delete_branch_on_merge: false },
		owner: { login: "maps", type: "Organization" },
		tree: null,
		labels: [],
		actions: { enabled: true, allowed_actions: "all" },
		workflow: { default_workflow_permissions: "write", can_approve_pull_request_reviews: false },
		selected: { github_owned_allowed: true, verified_allowed: true, patterns_allowed: [] },
		workflows: [],
		environments: new Map(),
		variables: new Map(),
		repositorySecrets: [],
		rulesets: [],
		branchRules: new Map(),
		protection: null,
		apps: new Map(),
		checkedBy: [],
		accounts: new Map(),
		installations: [],
		writes: [],
		refusals: [],
	};
	const set =
		<T extends keyof typeof peer>(name: T) =>
		(_groups: unknown, body: Json) => {
			peer[name] = { ...(peer[name] as Json), ...body } as (typeof peer)[T];
			return {};
		};
	const routes: Routes = {
		"GET /users/maps": () => peer.owner,
		"GET /users/(.+)": ([login = ""]) => {
			const id = peer.accounts.get(login);
			return id === undefined ? null : { login, id, type: "User" };
		},
		"GET /repos/maps/layers/commits/heads%2Fmain/check-runs": (_groups, _body, query) => {
			const runs = peer.checkedBy.filter((id) => id === Number(query.get("app_id")));
			return listed(
				"check_runs",
				runs.map((id) => ({ name: "owners", app: { id } })),
			);
		},
		"POST /orgs/maps/repos": (_groups, body) => {
			peer.repository = { ...peerRepository, clone_url: cloneUrl, ...body };
			return {};
		},
		"GET /apps/(.+)": ([slug = ""]) => {
			const id = peer.apps.get(slug);
			return id === undefined ? null : { id };
		},
		"GET /orgs/maps/installations": () => listed("installations", peer.installations),
		"GET /repos/maps/layers": () => peer.repository,
		"PATCH /repos/maps/layers": set("repository"),
		"GET /repos/maps/layers/git/ref/heads%2Fmain": () => peer.tree && { object: { sha: "c0ffee" } },
		"GET /repos/maps/layers/git/trees/c0ffee": () => ({ tree: peer.tree }),
		"GET /repos/maps/layers/labels": () => peer.labels,
		"POST /repos/maps/layers/labels": (_groups, body) => {
			peer.labels.push(body);
			return body;
		},
		"GET /repos/maps/layers/actions/permissions": () => peer.actions,
		"PUT /repos/maps/layers/actions/permissions": set("actions"),
		"GET /repos/maps/layers/actions/permissions/workflow": () => peer.workflow,
		"PUT /repos/maps/layers/actions/permissions/workflow": set("workflow"),
		"GET /repos/maps/layers/actions/permissions/selected-actions": () => peer.selected,
		"PUT /repos/maps/layers/actions/permissions/selected-actions": set("selected"),
		"GET /repos/maps/layers/actions/workflows": () => listed("workflows", peer.workflows),
		"PUT /repos/maps/layers/actions/workflows/(\\d+)/enable": ([id]) => {
			const found = peer.workflows.find((one) => one.id === Number(id));
			if (found) found.state = "active";
			return {};
		},
		"GET /repos/maps/layers/environments/(\\w+)": ([name = ""]) => peer.environments.get(name) ?? null,
		"PUT /repos/maps/layers/environments/(\\w+)": ([name = ""], body) => {
			const before = peer.environments.get(name) ?? { policies: [], secrets: [] };
			peer.environments.set(name, { ...before, ...body });
			return {};
		},
		"GET /repos/maps/layers/environments/(\\w+)/deployment-branch-policies": ([name = ""]) =>
			listed("branch_policies", peer.environments.get(name)?.policies ?? []),
		"POST /repos/maps/layers/environments/(\\w+)/deployment-branch-policies": ([name = ""], body) => {
			peer.environments.get(name)?.policies.push(body as { name: string });
			return {};
		},
		"PUT /repos/maps/layers/environments/(\\w+)/secrets/(\\w+)": ([name = "", secret = ""]) => {
			peer.environments.get(name)?.secrets.push(secret);
			return {};
		},
		"GET /repos/maps/layers/environments/(\\w+)/secrets": ([name = ""]) => {
			const found = peer.environments.get(name);
			return found ? listed("secrets", found.secrets.map(named)) : null;
		},
		"GET /repos/maps/layers/actions/secrets": () => listed("secrets", peer.repositorySecrets.map(named)),
		"GET /repos/maps/layers/actions/variables": () =>
			listed(
				"variables",
				Array.from(peer.variables, ([name, value]) => ({ name, value })),
			),
		"POST /repos/maps/layers/actions/variables": (_groups, body) => {
			peer.variables.set(String(body.name), String(body.value));
			return {};
		},
		"PATCH /repos/maps/layers/actions/variables/(.+)": ([name = ""], body) => {
			peer.variables.set(name, String(body.value));
			return {};
		},
		"GET /repos/maps/layers/rulesets": () => peer.rulesets.map(({ id, name }) => ({ id, name })),
		"POST /repos/maps/layers/rulesets": (_groups, body) => {
			peer.rulesets.push({ id: peer.rulesets.length + 1, name: String(body.name), ...body });
			return {};
		},
		"GET /repos/maps/layers/rulesets/(\\d+)": ([id]) => peer.rulesets.find((one) => one.id === Number(id)),
		"PUT /repos/maps/layers/rulesets/(\\d+)": ([id], body) => {
			Object.assign(peer.rulesets.find((one) => one.id === Number(id)) as Json, body);
			return {};
		},
		"GET /repos/maps/layers/rules/branches/(.+)": ([branch = ""]) =>
			peer.branchRules.get(decodeURIComponent(branch)) ?? [],
		"GET /repos/maps/layers/branches/main/protection": () => peer.protection,
	};

	const server = await startJsonServer((request) => {
		const { method, path } = request;
		const call = `${method} ${path}`;
		const refusal = peer.refusals.find((one) => one.path.test(call));
		if (refusal) return { status: refusal.status, body: { message: refusal.message } };
		if (method !== "GET") peer.writes.push(call);
		const isGone = path.startsWith("/repos/maps/layers/") && peer.repository === null;
		return isGone ? { status: 404, body: { message: "Not Found" } } : answerFrom(routes, request);
	});
	return Object.assign(peer, server);
}
