import {
	answerFrom,
	type JsonAnswer,
	type JsonRequest,
	type JsonServer,
	type Routes,
	startJsonServer,
} from "../../../scripts/json-server.ts";

/** A pull request of the peer's; what GitHub lists of it may be less than there is. */
export interface PeerPull {
	number: number;
	author: string | null;
	from: string;
	base: string;
	sha: string;
	title?: string;
	files: { filename: string; previous_filename?: string; status?: string }[];
	changedFiles?: number;
	commits?: { author: string | null; committer: string | null; message?: string; mail?: string }[];
	allCommits?: number;
	/** Logins of who has pushed to its branch; not shown without it. */
	pushers?: string[];
	mergeable?: boolean;
	merged?: boolean;
	mergedWith?: Record<string, unknown>;
	isClosed?: boolean;
	reviews: { login: string; state: string; commit: string }[];
	statuses?: string;
	baseChanges?: string[];
}

export interface PeerCheck {
	id: number;
	head_sha: string;
	name: string;
	conclusion: string;
	output: { title: string; summary: string };
	app: string;
	started_at?: string;
}

interface PeerIssue {
	number: number;
	title: string;
	body: string;
	state: string;
	user: { login: string };
}

/** The workflows' App, which sets checks and writes comments. */
export const bot = "maps-workflows[bot]";

/** The id of an account, the same in any case of letters. */
export function idOf(login: string): number {
	return [...login.toLowerCase()].reduce((sum, character) => sum * 31 + character.charCodeAt(0), 7) % 1e9;
}

function createState() {
	return {
		pulls: [] as PeerPull[],
		/** `org/team` → logins; a team that is not here is 404. */
		teams: new Map<string, string[]>(),
		/** Ids of accounts that are not `idOf` their login. */
		ids: new Map<string, number>(),
		checks: [] as PeerCheck[],
		comments: [] as { number: number; id: number; body: string; author?: string }[],
		issues: [] as PeerIssue[],
		tip: "f".repeat(40),
		/** Happens once, before files are listed. */
		meanwhile: null as (() => void) | null,
		requests: [] as string[],
		answers: [] as { path: RegExp; status: number; message: string }[],
		/** Answers that a larger GitHub has beside these; null where it has none. */
		extra: null as ((request: JsonRequest) => JsonAnswer | null) | null,
	};
}

/** As much of GitHub as reviews, checks and teams need: the package `emulate` takes any review, and names no App of a check. */
export type ReviewPeer = ReturnType<typeof createState> & JsonServer & { env: Record<string, string> };

export async function startReviewPeer(): Promise<ReviewPeer> {
	const peer = createState();
	const pullOf = (number?: string) => peer.pulls.find((pull) => pull.number === Number(number)) as PeerPull;
	const commitsOf = ({ commits, author }: PeerPull) => commits ?? [{ author, committer: author }];
	const accountOf = (login: string) => ({ login, id: peer.ids.get(login) ?? idOf(login) });
	const account = (login: string | null) => (login === null ? null : accountOf(login));
	const shown = (pull: PeerPull) => {
		const { number, title = "a change", sha, mergeable = true } = pull;
		const [owner, ref] = pull.from.split(":");
		return {
			number,
			title,
			mergeable,
			user: account(pull.author),
			base: { ref: pull.base, repo: { full_name: "maps/layers" } },
			head: { sha, ref, repo: { full_name: `${owner}/layers` } },
			state: pull.merged || pull.isClosed ? "closed" : "open",
			merged_at: pull.merged ? "2026-01-02T00:00:00Z" : null,
			commits: pull.allCommits ?? commitsOf(pull).length,
			changed_files: pull.changedFiles ?? pull.files.length,
		};
	};
	const routes: Routes = {
		"GET /pulls": (_groups, _body, query) =>
			peer.pulls.map(shown).filter(({ state, base }) => {
				return query.get("state") === "all" || (state === "open" && base.ref === query.get("base"));
			}),
		"GET /git/ref/heads%2Fmain": () => ({ object: { sha: peer.tip } }),
		"GET /pulls/(\\d+)": ([number]) => shown(pullOf(number)),
		"GET /pulls/(\\d+)/files": ([number]) => {
			peer.meanwhile?.();
			peer.meanwhile = null;
			return pullOf(number).files;
		},
		"GET /pulls/(\\d+)/reviews": ([number]) =>
			pullOf(number).reviews.map(({ login, state, commit }) => {
				return { user: account(login), state, commit_id: commit, submitted_at: "2026-01-02T00:00:00Z" };
			}),
		"GET /issues/(\\d+)/events": ([number]) =>
			(pullOf(number).baseChanges ?? []).map((created_at) => ({ event: "base_ref_changed", created_at })),
		"GET /pulls/(\\d+)/commits": ([number]) =>
			commitsOf(pullOf(number)).map(({ author, committer, mail = "a@b.example", message = "a commit" }) => {
				const commit = { author: { email: mail }, message };
				return { author: account(author), committer: account(committer), commit };
			}),
		"PUT /pulls/(\\d+)/merge": ([number], body) => {
			const pull = pullOf(number);
			if (body.sha !== pull.sha) return null;
			return Object.assign(pull, { merged: true, mergedWith: body });
		},
		"GET /commits/(\\w+)/status": ([sha]) => {
			const { statuses } = peer.pulls.find((pull) => pull.sha === sha) ?? {};
			return { state: statuses ?? "pending", total_count: statuses ? 1 : 0 };
		},
		"GET /commits/(\\w+)/check-runs": ([sha], _body, query) => {
			const name = query.get("check_name");
			const runs = peer.checks.filter((run) => run.head_sha === sha && (name === null || run.name === name));
			const isNewest = (run: PeerCheck, index: number) =>
				!runs.slice(index + 1).some((later) => later.name === run.name && later.app === run.app);
			const check_runs = runs
				.filter(isNewest)
				.map(({ app, ...run }) => ({ ...run, app: { id: 1, slug: app } }));
			return { total_count: check_runs.length, check_runs };
		},
		"POST /check-runs": (_groups, body) => {
			const run = body as unknown as PeerCheck;
			return { id: peer.checks.push({ ...run, id: peer.checks.length + 1, app: bot.replace("[bot]", "") }) };
		},
		"GET /issues/(\\d+)/comments": ([number]) => {
			const comments = peer.comments.filter((comment) => comment.number === Number(number));
			return comments.map(({ author = bot, ...comment }) => ({ ...comment, user: { login: author } }));
		},
		"POST /issues/(\\d+)/comments": ([number], body) => {
			const id = peer.comments.length;
			return { id: peer.comments.push({ number: Number(number), id, body: String(body.body) }) };
		},
		"PATCH /issues/comments/(\\d+)": ([id], body) =>
			Object.assign(peer.comments.find((comment) => comment.id === Number(id)) ?? {}, body),
		"GET /issues": () => peer.issues.filter(({ state }) => state === "open"),
		"POST /issues": (_groups, { title, body }) => {
			const number = 1_001 + peer.issues.length;
			const user = { login: "github-actions[bot]" };
			peer.issues.push({ number, title: String(title), body: String(body), state: "open", user });
			return { number };
		},
		"PATCH /issues/(\\d+)": ([number], body) =>
			Object.assign(peer.issues.find((issue) => issue.number === Number(number)) ?? {}, body),
		"GET /orgs/([^/]+/)teams/([^/]+)/members": ([org, team]) =>
			peer.teams.get(`${org}${team}`)?.map(accountOf) ?? null,
		"GET (?:/repos/([^/]+)/layers)?/activity": ([owner = "maps"], _body, query) => {
			const from = `${owner}:${query.get("ref")?.replace("refs/heads/", "")}`;
			const pushers = peer.pulls.find((pull) => pull.from === from)?.pushers;
			return pushers?.map((actor) => ({ activity_type: "push", actor: accountOf(actor) })) ?? null;
		},
	};

	const server = await startJsonServer((request) => {
		const { method, path } = request;
		peer.requests.push(`${method} ${path}`);
		const more = peer.extra?.(request);
		if (more) return more;
		const fault = peer.answers.find((answer) => answer.path.test(path));
		if (fault) return { status: fault.status, body: { message: fault.message } };
		return answerFrom(routes, { ...request, path: path.replace("/repos/maps/layers", "") });
	});
	const env = { GITHUB_REPOSITORY: "maps/layers", GITHUB_TOKEN: "t", GITHUB_API_URL: server.url };
	return Object.assign(peer, server, { env });
}
