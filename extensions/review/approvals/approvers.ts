import { type Account, accountOf, allOwners, isTeam, type Owners } from "../../../registry/owners.ts";
import { code } from "../../../registry/untrusted-text.ts";
import { type Github, orNull } from "../../../store/github/client.ts";
import { ignoreAnswer, nullIfRefused, type OpenPull, type readComments, setCheckRun } from "../pulls.ts";
import type { Judgement, Teams } from "./approvals.ts";
import { askedIn, askedMarker, askingText } from "./approvals.ts";

/** The check that a ruleset requires. */
export const checkName = "owners";

/** People that one run asks for a review: GitHub accepts 15 per pull request. */
const maxRequests = 10;

/** Reads the members of each team among the owners. A team may not exist, or the token may not see it. */
export async function readTeams({ rest, paginate }: Github, owners: Owners): Promise<Teams> {
	const teams = new Map<string, Account[] | null>();
	const names = new Set([...allOwners(owners), ...[...owners.senders.values()].flat()]);
	for (const name of [...names].filter(isTeam)) {
		const [org = "", team_slug = ""] = name.slice(1).split("/");
		const listed = paginate(rest.teams.listMembersInOrg, { org, team_slug, per_page: 100 });
		const members = await listed.catch(nullIfRefused);
		teams.set(name, members?.map(({ login, id }) => ({ login, id })) ?? null);
	}
	return teams;
}

/** Parses what `.github/read-teams.sh` prints. @throws {Error} if it is anything else */
export function parseTeams(text: string): Teams {
	const read = Object.entries((JSON.parse(text) ?? {}) as Record<string, Account[] | null>);
	const isAccount = ({ login, id }: Partial<Account>) =>
		typeof login === "string" && Number.isSafeInteger(id);
	if (!read.every(([, members]) => members === null || (Array.isArray(members) && members.every(isAccount))))
		throw new Error("--teams: must be the members of each team");
	return new Map(read);
}

/** The owners who can never approve, each with the reason: teams without members, and names without an account. */
export async function unknownOwners({ rest }: Github, owners: Owners, teams: Teams): Promise<string[]> {
	const unknown: string[] = [];
	for (const [team, members] of teams) {
		if (!members) unknown.push(`${team}: there is no such team, or the token may not see it`);
		else if (members.length === 0) unknown.push(`${team}: the team has no members`);
	}
	for (const owner of allOwners(owners).filter((name) => !isTeam(name))) {
		const account = accountOf(owner);
		if (!account) {
			unknown.push(`${owner}: approves nothing without an id, which npx fragment-publisher owners writes`);
			continue;
		}
		const found = await orNull(rest.users.getById({ account_id: account.id }));
		if (!found) unknown.push(`${owner}: there is no such account`);
		else if (found.login.toLowerCase() !== account.login.toLowerCase())
			unknown.push(`${owner}: is called @${found.login} now, which npx fragment-publisher owners writes`);
	}
	return unknown;
}

/**
 * Asks the owners whose approval is missing: by a request for a review where GitHub accepts it, which it does only for
 * people with access, else by a comment that mentions them. Each is asked once.
 */
export async function askOwners(
	{ rest, repo }: Github,
	{ number, requested_reviewers }: OpenPull,
	{ groups }: Judgement,
	reviewers: ReadonlySet<number>,
	comments: Awaited<ReturnType<typeof readComments>>,
): Promise<void> {
	const asked = comments.flatMap(({ body }) => (body?.startsWith(askedMarker) ? askedIn(body) : []));
	const known = new Set([...asked, ...(requested_reviewers ?? []).map(({ login }) => login.toLowerCase())]);
	const missing = groups.filter(({ approvedBy }) => approvedBy.length === 0);
	const people = new Map(missing.flatMap(({ canApprove }) => canApprove.map((one) => [one.id, one.login])));
	const open = [...people].filter(([id, login]) => !reviewers.has(id) && !known.has(login.toLowerCase()));
	const outside: string[] = [];
	for (const [, login] of open.slice(0, maxRequests)) {
		// GitHub refuses the answer to a token that may not push: then it is not known.
		const collaborator = await rest.repos
			.checkCollaborator({ ...repo, username: login })
			.catch(nullIfRefused);
		if (!collaborator) outside.push(login);
		// GitHub may refuse it all the same.
		else
			await rest.pulls
				.requestReviewers({ ...repo, pull_number: number, reviewers: [login] })
				.catch(ignoreAnswer);
	}
	if (outside.length === 0) return;
	const body = askingText(outside);
	await rest.issues.createComment({ ...repo, issue_number: number, body });
}

/**
 * Sets the check `owners` of the branch's newest commit: whether each owner of its file can approve. A ruleset can name an
 * App as the source of a check only once that App has set one ("Available rules for rulesets").
 * @param unknown owners who can never approve
 */
export async function checkBranch(
	github: Github,
	branch: string,
	owners: Owners | null,
	unknown: readonly string[],
	author: string,
): Promise<void> {
	const { rest, repo } = github;
	const asked = rest.git.getRef({ ...repo, ref: `heads/${branch}` });
	const { object } = (await asked).data;
	const isRight = owners !== null && unknown.length === 0;
	const reason = owners ? `${unknown.length} owners can approve nothing` : "cannot be read";
	const title = `layers/owners.json: ${isRight ? "each owner can approve" : reason}`;
	const summary = unknown.length > 0 ? unknown.map((text) => `- ${code(text)}`).join("\n") : title;
	const conclusion = isRight ? ("success" as const) : ("failure" as const);
	await setCheckRun(github, object.sha, { name: checkName, conclusion, title, summary }, author);
}

/** An owner in the text of the owners file: a string that starts with `@`, which no glob and no sender does. */
const quotedLogin = /"@([A-Za-z0-9][A-Za-z0-9_-]*)(?:#(\d+))?"/g;

/**
 * Writes the ids of accounts into the text of an owners file, and the logins that renamed accounts have now; the rest of
 * the text stays.
 * @returns the text, and the owners that are no account of a person
 */
export async function fillIds({ rest }: Github, text: string) {
	const filled = new Map<string, string>();
	const problems: string[] = [];
	for (const [quoted, login = "", id] of text.matchAll(quotedLogin)) {
		if (filled.has(quoted)) continue;
		const request = id
			? rest.users.getById({ account_id: Number(id) })
			: rest.users.getByUsername({ username: login });
		const found = await orNull(request);
		const isPerson = found !== null && found.type !== "Organization";
		if (!found) problems.push(`${quoted}: there is no such account`);
		else if (!isPerson) problems.push(`${quoted}: is an organisation; name one of its teams`);
		filled.set(quoted, isPerson ? `"@${found.login}#${found.id}"` : quoted);
	}
	return { text: text.replace(quotedLogin, (quoted) => filled.get(quoted) ?? quoted), problems };
}
