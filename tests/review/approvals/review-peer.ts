import { startJsonServer } from "../../scripts/json-server.ts";

/** A pull request of the peer's. */
export interface PeerPull {
	number: number;
	author: string | null;
	/** `owner:branch`. */
	from: string;
	base: string;
	sha: string;
	files: { filename: string; previous_filename?: string }[];
	/** Where GitHub lists fewer files than there are. */
	changedFiles?: number;
	reviews: { login: string | null; state: string; commit: string }[];
}

/** What was written to the peer. */
export interface PeerStatus {
	sha: string;
	state: string;
	description: string;
	context: string;
}

/** As much of GitHub as reviews, statuses and teams need: `emulate` has no statuses, and takes any review. */
export interface ReviewPeer {
	url: string;
	pulls: PeerPull[];
	/** `org/team` → logins; a team that is not here is 404. */
	teams: Map<string, string[]>;
	/** Accounts that are known. */
	accounts: Set<string>;
	/** What is wrong in CODEOWNERS; null: there is none. */
	codeowners: { path: string; line: number; kind: string; source: string }[] | null;
	/** Logins that may be asked for a review. */
	collaborators: Set<string>;
	statuses: PeerStatus[];
	comments: { number: number; id: number; body: string }[];
	requested: { number: number; login: string }[];
	/** Happens once, before files are listed. */
	meanwhile: (() => void) | null;
	/** Each request so far, and answers that take the place of the peer's own. */
	requests: string[];
	answers: { path: RegExp; status: number; message: string }[];
	close(): Promise<void>;
}

/** Who writes statuses and comments. */
export const bot = "github-actions[bot]";

type Handler = (match: RegExpExecArray, body: Record<string, unknown>, query: URLSearchParams) => unknown;

export async function startReviewPeer(): Promise<ReviewPeer> {
	const peer: Omit<ReviewPeer, "url" | "close"> = {
		pulls: [],
		teams: new Map(),
		accounts: new Set(),
		codeowners: null,
		meanwhile: null,
		collaborators: new Set(),
		statuses: [],
		comments: [],
		requested: [],
		requests: [],
		answers: [],
	};
	const pullOf = (number: string) => peer.pulls.find((pull) => pull.number === Number(number));
	const shown = (pull: PeerPull) => ({
		number: pull.number,
		html_url: `https://github.example/pull/${pull.number}`,
		user: pull.author === null ? null : { login: pull.author },
		head: {
			sha: pull.sha,
			ref: pull.from.split(":")[1],
			repo: { full_name: `${pull.from.split(":")[0]}/layers` },
		},
		mergeable: true,
		changed_files: pull.changedFiles ?? pull.files.length,
		requested_reviewers: peer.requested
			.filter(({ number }) => number === pull.number)
			.map(({ login }) => ({ login })),
	});
	const routes: [string, RegExp, Handler][] = [
		[
			"GET",
			/^\/pulls$/,
			(_match, _body, query) => {
				const from = query.get("head");
				const fits = (pull: PeerPull) => pull.base === query.get("base") && (from ?? pull.from) === pull.from;
				return peer.pulls.filter(fits).map(shown);
			},
		],
		["GET", /^\/git\/matching-refs\/./, () => []],
		["GET", /^\/codeowners\/errors$/, () => peer.codeowners && { errors: peer.codeowners }],
		["GET", /^\/pulls\/(\d+)$/, ([, number = ""]) => shown(pullOf(number) as PeerPull)],
		[
			"GET",
			/^\/pulls\/(\d+)\/files$/,
			([, number = ""]) => {
				peer.meanwhile?.();
				peer.meanwhile = null;
				return pullOf(number)?.files;
			},
		],
		[
			"GET",
			/^\/pulls\/(\d+)\/reviews$/,
			([, number = ""]) =>
				pullOf(number)?.reviews.map(({ login, state, commit }) => ({
					user: login === null ? null : { login },
					state,
					commit_id: commit,
				})),
		],
		[
			"POST",
			/^\/pulls\/(\d+)\/requested_reviewers$/,
			([, number = ""], body) => {
				const [login = ""] = body.reviewers as string[];
				if (!peer.collaborators.has(login)) return null;
				peer.requested.push({ number: Number(number), login });
				return shown(pullOf(number) as PeerPull);
			},
		],
		[
			"GET",
			/^\/commits\/(\w+)\/statuses$/,
			([, sha]) =>
				peer.statuses
					.filter((status) => status.sha === sha)
					.reverse()
					.map((status) => ({ ...status, creator: { login: bot } })),
		],
		[
			"POST",
			/^\/statuses\/(\w+)$/,
			([, sha = ""], body) => {
				peer.statuses.push({ sha, ...(body as Omit<PeerStatus, "sha">) });
				return {};
			},
		],
		[
			"GET",
			/^\/issues\/(\d+)\/comments$/,
			([, number]) =>
				peer.comments
					.filter((comment) => comment.number === Number(number))
					.map((comment) => ({ ...comment, user: { login: bot } })),
		],
		[
			"POST",
			/^\/issues\/(\d+)\/comments$/,
			([, number], body) => {
				peer.comments.push({ number: Number(number), id: peer.comments.length, body: String(body.body) });
				return {};
			},
		],
		[
			"PATCH",
			/^\/issues\/comments\/(\d+)$/,
			([, id], body) => {
				const comment = peer.comments.find((one) => one.id === Number(id));
				if (comment) comment.body = String(body.body);
				return {};
			},
		],
	];

	function answerTo(
		method: string,
		path: string,
		body: Record<string, unknown>,
		query: URLSearchParams,
	): unknown {
		const team = /^\/orgs\/([^/]+)\/teams\/([^/]+)\/members$/.exec(path);
		if (team) return peer.teams.get(`${team[1]}/${team[2]}`)?.map((login) => ({ login })) ?? null;
		const account = /^\/users\/([^/]+)$/.exec(path)?.[1];
		if (account !== undefined) return peer.accounts.has(account) ? { login: account } : null;
		const own = path.replace("/repos/maps/layers", "");
		for (const [wanted, pattern, handler] of routes) {
			const match = pattern.exec(own);
			if (match && wanted === method) return handler(match, body, query);
		}
		throw new Error(`${method} ${path} is no route of the peer's`);
	}

	const server = await startJsonServer(({ method, path, query, body }) => {
		peer.requests.push(`${method} ${path}`);
		const fault = peer.answers.find((one) => one.path.test(path));
		if (fault) return { status: fault.status, body: { message: fault.message } };
		const answer = answerTo(method, path, body, query);
		return answer === null ? { status: 404, body: { message: "Not Found" } } : { status: 200, body: answer };
	});
	return Object.assign(peer, server);
}
