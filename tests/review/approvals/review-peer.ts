import {
	answerFrom,
	type JsonAnswer,
	type JsonRequest,
	type JsonServer,
	type Routes,
	startJsonServer,
} from "../../scripts/json-server.ts";

/** A pull request of the peer's. */
export interface PeerPull {
	number: number;
	author: string | null;
	/** `owner:branch`. */
	from: string;
	base: string;
	sha: string;
	files: { filename: string; previous_filename?: string; status?: string }[];
	/** Logins of the author and the committer of each commit; null where GitHub knows no account. */
	commits?: { author: string | null; committer: string | null }[];
	/** Logins of who has pushed to its branch; not shown without it. */
	pushers?: string[];
	/** Where GitHub lists fewer commits than there are. */
	allCommits?: number;
	mergeable?: boolean | null;
	merged?: boolean;
	/** Where GitHub lists fewer files than there are. */
	changedFiles?: number;
	reviews: { login: string | null; state: string; commit: string; at?: string }[];
	/** Texts of its commits. */
	messages?: string[];
	/** State of its commit statuses, where it has any. */
	statuses?: string;
	/** What it was merged with. */
	mergedWith?: Record<string, unknown>;
	/** When it was pointed at another branch. */
	baseChanges?: string[];
	/** Mail addresses of its commits' authors. */
	mails?: string[];
}

/** A check run. */
export interface PeerCheck {
	id: number;
	head_sha: string;
	name: string;
	conclusion: string;
	output: { title: string; summary: string; annotations: object[] };
	/** Address part of the App that made it. */
	app: string;
	/** When it was judged. */
	started_at?: string;
}

/** As much of GitHub as reviews, checks and teams need: `emulate` takes any review, and names no App of a check. */
export interface ReviewPeer extends JsonServer {
	/** What leads a command to it. */
	env: Record<string, string>;
	pulls: PeerPull[];
	/** `org/team` → logins; a team that is not here is 404. */
	teams: Map<string, string[]>;
	/** Accounts that are known. */
	accounts: Set<string>;
	/** Ids of accounts that are not `idOf` their login. */
	ids: Map<string, number>;
	/** Logins that may be asked for a review. */
	collaborators: Set<string>;
	checks: PeerCheck[];
	comments: { number: number; id: number; body: string }[];
	requested: { number: number; login: string }[];
	/** Newest commit of the branch main. */
	tip: string;
	/** Happens once, before files are listed. */
	meanwhile: (() => void) | null;
	/** Each request so far, and answers that take the place of the peer's own. */
	requests: string[];
	answers: { path: RegExp; status: number; message: string }[];
	/** Answers that a larger GitHub has beside these; null where it has none. */
	extra: ((request: JsonRequest) => JsonAnswer | null) | null;
	/** The merge by a larger GitHub. */
	merge: ((number: number, body: Record<string, unknown>) => JsonAnswer) | null;
}

/** The workflows' App, which sets checks and writes comments. */
export const bot = "maps-workflows[bot]";

/** The id of an account, the same in any case of letters: what an account keeps that is renamed. */
export function idOf(login: string): number {
	return [...login.toLowerCase()].reduce((sum, character) => sum * 31 + character.charCodeAt(0), 7) % 1e9;
}

export async function startReviewPeer(): Promise<ReviewPeer> {
	const peer: Omit<ReviewPeer, keyof JsonServer | "env"> = {
		pulls: [],
		teams: new Map(),
		accounts: new Set(),
		ids: new Map(),
		tip: "f".repeat(40),
		meanwhile: null,
		collaborators: new Set(),
		checks: [],
		comments: [],
		requested: [],
		requests: [],
		answers: [],
		extra: null,
		merge: null,
	};
	const pullOf = (number?: string) => peer.pulls.find((pull) => pull.number === Number(number)) as PeerPull;
	const commitsOf = ({ commits, author }: PeerPull) => commits ?? [{ author, committer: author }];
	const known = (login: string) => ({ login, id: peer.ids.get(login) ?? idOf(login) });
	const account = (login: string | null) => (login === null ? null : known(login));
	const shown = (pull: PeerPull) => ({
		number: pull.number,
		title: "a change",
		html_url: `https://github.example/pull/${pull.number}`,
		user: account(pull.author),
		base: { ref: pull.base, repo: { full_name: "maps/layers" } },
		head: {
			sha: pull.sha,
			ref: pull.from.split(":")[1],
			repo: { full_name: `${pull.from.split(":")[0]}/layers` },
		},
		state: pull.merged ? "closed" : "open",
		mergeable: pull.mergeable === undefined ? true : pull.mergeable,
		commits: pull.allCommits ?? commitsOf(pull).length,
		changed_files: pull.changedFiles ?? pull.files.length,
		requested_reviewers: peer.requested
			.filter(({ number }) => number === pull.number)
			.map(({ login }) => known(login)),
	});
	const accountWhere = (isIt: (account: { login: string; id: number }) => boolean) =>
		[...peer.accounts].map(known).find(isIt) ?? null;
	const routes: Routes = {
		"GET /pulls": (_groups, _body, query) =>
			peer.pulls.filter(({ base, merged }) => base === query.get("base") && !merged).map(shown),
		"GET /git/ref/heads%2Fmain": () => ({ object: { sha: peer.tip } }),
		"GET /pulls/(\\d+)": ([number]) => shown(pullOf(number)),
		"GET /pulls/(\\d+)/files": ([number]) => {
			peer.meanwhile?.();
			peer.meanwhile = null;
			return pullOf(number).files;
		},
		"GET /pulls/(\\d+)/reviews": ([number]) =>
			pullOf(number).reviews.map(({ login, state, commit, at = "2026-01-02T00:00:00Z" }) => {
				return { user: account(login), state, commit_id: commit, submitted_at: at };
			}),
		"GET /issues/(\\d+)/events": ([number]) =>
			(pullOf(number).baseChanges ?? []).map((created_at) => ({ event: "base_ref_changed", created_at })),
		"POST /pulls/(\\d+)/requested_reviewers": ([number], body) => {
			const [login = ""] = body.reviewers as string[];
			if (!peer.collaborators.has(login)) return null;
			peer.requested.push({ number: Number(number), login });
			return shown(pullOf(number));
		},
		"GET /pulls/(\\d+)/commits": ([number]) => {
			const pull = pullOf(number);
			return commitsOf(pull).map(({ author, committer }, index) => ({
				author: account(author),
				committer: account(committer),
				commit: {
					author: { email: pull.mails?.[index] ?? "a@b.example" },
					message: pull.messages?.[index] ?? "a commit",
				},
			}));
		},
		"PUT /pulls/(\\d+)/merge": ([number], body) => {
			const pull = pullOf(number);
			if (body.sha !== pull.sha) return null;
			Object.assign(pull, { merged: true, mergedWith: body });
			return { merged: true };
		},
		"GET /commits/(\\w+)/status": ([sha]) => {
			const { statuses } = peer.pulls.find((pull) => pull.sha === sha) ?? {};
			return { state: statuses ?? "pending", total_count: statuses ? 1 : 0 };
		},
		"GET /commits/(\\w+)/check-runs": ([sha], _body, query) => {
			const wanted = query.get("check_name");
			const isWanted = ({ head_sha, name }: PeerCheck) =>
				head_sha === sha && (wanted === null || name === wanted);
			const runs = peer.checks.filter(isWanted);
			const isNewest = ({ name, app }: PeerCheck, index: number) =>
				!runs.slice(index + 1).some((later) => later.name === name && later.app === app);
			const check_runs = runs.filter(isNewest).map(({ app, output, ...run }) => ({
				...run,
				app: { id: 1, slug: app },
				output: { ...output, annotations_count: output.annotations.length },
			}));
			return { total_count: check_runs.length, check_runs };
		},
		"POST /check-runs": (_groups, body) => {
			const run = body as unknown as Omit<PeerCheck, "id" | "app">;
			peer.checks.push({ ...run, id: peer.checks.length + 1, app: bot.replace("[bot]", "") });
			return {};
		},
		"GET /issues/(\\d+)/comments": ([number]) => {
			const comments = peer.comments.filter((comment) => comment.number === Number(number));
			return comments.map((comment) => ({ ...comment, user: { login: bot } }));
		},
		"POST /issues/(\\d+)/comments": ([number], body) => {
			peer.comments.push({ number: Number(number), id: peer.comments.length, body: String(body.body) });
			return {};
		},
		"PATCH /issues/comments/(\\d+)": ([id], body) => {
			const comment = peer.comments.find((one) => one.id === Number(id));
			if (comment) comment.body = String(body.body);
			return {};
		},
		"GET /orgs/([^/]+/)teams/([^/]+)/members": ([org, team]) =>
			peer.teams.get(`${org}${team}`)?.map(known) ?? null,
		"GET /users/([^/]+)": ([login]) =>
			accountWhere((one) => one.login.toLowerCase() === login?.toLowerCase()),
		"GET /user/(\\d+)": ([id]) => accountWhere((one) => one.id === Number(id)),
		"GET /collaborators/([^/]+)": ([login = ""]) => (peer.collaborators.has(login) ? {} : null),
		"GET (?:/repos/([^/]+)/layers)?/activity": ([owner = "maps"], _body, query) => {
			const from = `${owner}:${query.get("ref")?.replace("refs/heads/", "")}`;
			const pushers = peer.pulls.find((pull) => pull.from === from)?.pushers;
			return pushers?.map((actor) => ({ activity_type: "push", actor: known(actor) })) ?? null;
		},
	};

	const server = await startJsonServer((request) => {
		const { method, path, body } = request;
		peer.requests.push(`${method} ${path}`);
		const own = path.replace("/repos/maps/layers", "");
		const merged = /^\/pulls\/(\d+)\/merge$/.exec(own);
		if (peer.merge && merged) return peer.merge(Number(merged[1]), body);
		const more = peer.extra?.(request);
		if (more) return more;
		const fault = peer.answers.find((one) => one.path.test(path));
		if (fault) return { status: fault.status, body: { message: fault.message } };
		return answerFrom(routes, { ...request, path: own });
	});
	return Object.assign(peer, server, {
		env: { GITHUB_REPOSITORY: "maps/layers", GITHUB_TOKEN: "t", GITHUB_API_URL: server.url },
	});
}
