import type { Owners } from "../../../registry/owners.ts";
import { ownersPath } from "../../../registry/smallkey.ts";
import { code } from "../../../registry/untrusted.ts";
import { subjectOf } from "../provenance.ts";
import {
	accountsOf,
	allOwners,
	describeUnknown,
	isTeam,
	type Judgement,
	judgeApprovals,
	renderApprovals,
	type Teams,
} from "./approvals.ts";
import {
	type CheckRuns,
	findCheckRun,
	type OpenPull,
	type PullState,
	readComments,
	readState,
	type StateSource,
	setCheckRun,
} from "./pull-state.ts";

const checkName = "owners";

/** Begins a comment that mentions owners. */
const mentionMarker = "<!-- fragment-publisher: asked -->";

/** People in one comment. */
const maxMentions = 10;

interface ApprovalRun extends StateSource {
	owners: Owners | null;
	teams: Teams;
	isMentioning: boolean;
}

/**
 * Sets the check `owners`, mentions the people who can approve, and merges an approved change of the service. Does nothing
 * if the pull request has changed meanwhile: another run judges it.
 * @returns a line for the log
 * @throws {Error} if GitHub refuses the merge, such as for a newer commit
 */
export async function judgePull(run: ApprovalRun, pull: OpenPull): Promise<string> {
	const { github, owners, teams, author } = run;
	const { number } = pull;
	const { sha } = pull.head;
	const state = await readState(run, pull);
	if (!state) return "has changed meanwhile";
	const judgement = judgeApprovals(state, owners, teams);
	const { conclusion, title } = judgement;
	const summary = renderApprovals(judgement);
	const checks = await setCheckRun(github, author, sha, { name: checkName, conclusion, title, summary });
	if (run.isMentioning) await askOwners(run, number, judgement);
	const result = `${conclusion}: ${title}`;
	if (!(await isReady(run, sha, judgement, checks, state))) return result;
	const merge = { ...github.repo, pull_number: number, sha, merge_method: "squash" as const };
	await github.rest.pulls.merge({ ...merge, ...squashText(pull, state.messages) });
	return `${result}; merged`;
}

/** Mentions each owner once: GitHub asks no one without write access for a review. */
async function askOwners({ github, author }: ApprovalRun, issue_number: number, { groups }: Judgement) {
	const missing = groups.filter(({ approvedBy }) => approvedBy.length === 0);
	if (missing.length === 0) return;
	const comments = await readComments(github, issue_number, author);
	const requests = comments.filter(({ body }) => body?.startsWith(mentionMarker));
	const mentioned = new Set(requests.flatMap(({ body }) => body?.match(/@[\w-]+/g) ?? []));
	const people = new Set(missing.flatMap(({ canApprove }) => canApprove.map((login) => `@${login}`)));
	const mentions = [...people].filter((name) => !mentioned.has(name)).slice(0, maxMentions);
	const body = `${mentionMarker}\n${mentions.join(" ")}: you own files of this change. To approve it: *Files changed*, *Review changes*, *Approve*.\n`;
	if (mentions.length > 0) await github.rest.issues.createComment({ ...github.repo, issue_number, body });
}

/** Conclusions that GitHub accepts for a required check. */
const passed = new Set(["success", "skipped", "neutral"]);

/**
 * Whether the App may merge. It can bypass the ruleset, so this asks what that requires: the checks `layers`, which only
 * this App sets, and `check` of CI; and also that no owner asks for changes, and that all other checks have passed.
 * @param runs check runs of the newest commit, from before the judgement
 */
async function isReady(
	{ github, owners, teams, author }: ApprovalRun,
	ref: string,
	{ conclusion, groups }: Judgement,
	runs: CheckRuns,
	{ isOfService, isMergeable, objectors }: PullState,
) {
	if (!isOfService || !isMergeable || conclusion !== "success" || groups.length === 0) return false;
	const all = owners ? allOwners(owners) : [];
	if (accountsOf(all, teams).some(({ id }) => objectors.has(id))) return false;
	// An objector can be a member of a team that GitHub does not show.
	if (objectors.size > 0 && all.some((owner) => isTeam(owner) && !teams.get(owner))) return false;
	if (findCheckRun(runs, "layers", author)?.conclusion !== "success") return false;
	if (!runs.some(({ name, app }) => name === "check" && app?.slug === "github-actions")) return false;
	const ownRun = findCheckRun(runs, checkName, author);
	if (runs.some((run) => run !== ownRun && !passed.has(run.conclusion ?? ""))) return false;
	const { data: statuses } = await github.rest.repos.getCombinedStatusForRef({ ...github.repo, ref });
	// Without a status the state is `pending` ("Get the combined status for a specific reference").
	return statuses.total_count === 0 || statuses.state === "success";
}

/** Of the last paragraph, if each of its lines is `Name: value`. */
function trailersIn(message: string) {
	const [, ...paragraphs] = message.trim().split(/\n[ \t]*\n/);
	const lines = (paragraphs.at(-1) ?? "").split("\n").map((line) => line.trim());
	return lines.every((line) => /^[A-Za-z][A-Za-z-]*: \S/.test(line)) ? lines : [];
}

/** Keeps each trailer once: the audit and the guard against replays read who has sent what. */
function squashText({ number, title }: OpenPull, messages: readonly string[]) {
	const [first = ""] = messages;
	const subject = messages.length === 1 ? subjectOf(first) : title;
	const trailers = [...new Set(messages.flatMap(trailersIn))];
	return { commit_title: `${subject} (#${number})`, commit_message: trailers.join("\n") };
}

/**
 * Sets the check `owners` of the branch: a ruleset can require a check of an App only once that App has set it ("Available
 * rules for rulesets").
 */
export async function checkBranch({ github, base, owners, teams, author }: ApprovalRun): Promise<void> {
	const { data } = await github.rest.git.getRef({ ...github.repo, ref: `heads/${base}` });
	const problem = owners ? describeUnknown(allOwners(owners), teams) : "cannot be read";
	const title = `${ownersPath}: ${problem ?? "each owner can approve"}`;
	const conclusion = problem === null ? "success" : "failure";
	const check = { name: checkName, conclusion, title, summary: code(title) } as const;
	await setCheckRun(github, author, data.object.sha, check);
}
