// npx fragment-publisher approvals
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../../../api/configuration.ts";
import { fetchFromGithub } from "../../../api/service/proxy.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { parseOwners } from "../../../registry/owners.ts";
import { ownersPath } from "../../../registry/smallkey.ts";
import { plain } from "../../../registry/untrusted.ts";
import { createRun, exitCodes, needed } from "../../../scripts/terminal/command-line.ts";
import { readTextIfThere } from "../../../store/files/files.ts";
import { gitText, runGit } from "../../../store/git/commands/run.ts";
import type { Github } from "../../../store/github/client.ts";
import { readFileAt } from "../../harvest/repository.ts";
import type { Teams } from "../approvals/approvals.ts";
import { checkBranch, judgePull } from "../approvals/judge-pull.ts";
import { openPulls, partOf, readComments, setCheckRun } from "../approvals/pull-state.ts";
import { marker, type Report } from "../comment.ts";
import { connectToGithub } from "../github.ts";
import { withMerge } from "../layer-changes.ts";

/** What `.github/send-plan.sh` sends. */
export interface PlannedRequest {
	method: string;
	/** Below the repository: `issues/7/comments`. */
	path: string;
	body: unknown;
}

/**
 * With the file `plan` it sends only requests that read; those that write go to the file, also after an error. So the job
 * with all packages needs no key.
 */
async function withGithub(
	plan: string | undefined,
	environment: Environment,
	startedAt: Date,
	task: (github: Github, base: string) => Promise<void>,
): Promise<void> {
	const configuration = readConfiguration(environment);
	const { github: settings } = configuration;
	const base = settings?.branch ?? "main";
	if (plan === undefined || !settings) return task(connectToGithub(configuration), base);
	const requests: PlannedRequest[] = [];
	const send = fetchFromGithub(configuration);
	const root = `${settings.apiUrl.replace(/\/$/, "")}/repos/${settings.repository}/`;
	const github = connectToGithub(configuration, async (input, init) => {
		const { method = "GET", body = "{}" } = init ?? {};
		if (method === "GET") return send(input, init);
		const path = String(input).slice(root.length);
		// The time before anything was read: a check that was judged later is not replaced.
		const time = path === "check-runs" ? { started_at: startedAt.toISOString() } : {};
		requests.push({ method, path, body: { ...JSON.parse(String(body)), ...time } });
		return Response.json({});
	});
	return task(github, base).finally(() => writeFile(plan, JSON.stringify(requests)));
}

/** As `gh pr list --json number,headRefOid` prints it. */
interface PullRef {
	number: number;
	headRefOid: string;
}

const titles = {
	success: "the layers are in order",
	failure: "something has to be corrected: see the comment",
	cancelled: "could not be checked",
};

/** Where there is no review. The hourly run reviews pull requests whose check was cancelled. */
const unable: Report = {
	conclusion: "cancelled",
	comment:
		"The workflow `layers` has failed; its log says why. It looks again each hour, and with the next push.",
};

/** @param folder of the reports @returns what was done, in words */
async function postReport(
	github: Github,
	{ number, headRefOid: head }: PullRef,
	folder: string,
	author: string,
): Promise<string> {
	const text = await readTextIfThere(join(folder, `review-${number}.json`));
	const { conclusion, comment: body }: Report = text === null ? unable : JSON.parse(text);
	const { rest, repo } = github;
	const shown = (await rest.pulls.get({ ...repo, pull_number: number })).data;
	if (shown.head.sha !== head || shown.state !== "open") return "nothing posted: it has changed meanwhile";
	const title = titles[conclusion];
	await setCheckRun(github, author, head, { name: "layers", conclusion, title, summary: body });
	if (conclusion === "cancelled") return title;
	const comments = await readComments(github, number, author);
	const before = comments.find((comment) => comment.body?.startsWith(marker));
	if (before?.body === body) return "unchanged";
	if (before) await rest.issues.updateComment({ ...repo, comment_id: before.id, body });
	else await rest.issues.createComment({ ...repo, issue_number: number, body });
	return before ? "edited" : "posted";
}

/** @param base a branch of the clone's origin */
async function readBase(base: string) {
	const ref = `refs/remotes/origin/${base}`;
	// A run that has waited has an older commit than the branch, and a tag may have the same name.
	await runGit(".", ["fetch", "--quiet", "--no-tags", "origin", `+refs/heads/${base}:${ref}`]);
	const tip = await gitText(".", ["rev-parse", "--verify", ref]);
	const { owners } = parseOwners(await readFileAt(".", tip, ownersPath));
	const readMerge = (head: string) => withMerge(".", tip, head, async (merge) => merge);
	return { base, owners, readMerge };
}

const fetchCommit = "fetch --quiet --no-tags --no-recurse-submodules --no-write-fetch-head origin".split(" ");

const help = `
For the workflow layers, which runs it in a clone: ${ownersPath} of the base branch decides about what each merge changes. A change of a sender
that its owners have approved, and whose checks have passed, is merged.`;

export const run = createRun(async ({ read, environment, io }) => {
	const [{ author, reports, all, ...options }] = await read((line) =>
		line
			.option(
				"--pulls <json>",
				"these, as gh pr list --json number,headRefOid prints them; their owners are mentioned, unless --all is given",
			)
			.option("--all", "all open ones, and of more than 40 each hour another part; no one is mentioned")
			.option(
				"--reports <dir>",
				"post review-<number>.json of --pulls as comments, and set the check layers, also without a report",
			)
			.option(
				"--teams <file>",
				"needed: the members of the owners' teams, as .github/read-teams.sh prints them",
			)
			.option("--author <login>", "the App that sets checks and comments", "github-actions[bot]")
			.option("--plan <file>", "send nothing: write there what .github/send-plan.sh sends")
			.addHelpText("after", help),
	);
	const pulls: PullRef[] = JSON.parse(all ? (options.pulls ?? "[]") : needed("--pulls", options.pulls));
	const teamsFile = needed("--teams", options.teams);
	let code: number = exitCodes.done;
	const attempt = async (number: number, task: Promise<string>, failed = "") => {
		try {
			io.print(plain(`#${number}: ${await task}`));
		} catch (error) {
			// The other pull requests are judged all the same.
			io.warn(plain(`#${number}: ${failed}${(error as Error).message}`));
			code = exitCodes.unable;
		}
	};
	await withGithub(options.plan, environment, io.now(), async (github, base) => {
		if (reports !== undefined)
			for (const pull of pulls) await attempt(pull.number, postReport(github, pull, reports, author));
		const teams: Teams = new Map(Object.entries(JSON.parse(await readFile(teamsFile, "utf8"))));
		const run = { github, ...(await readBase(base)), teams, author, isMentioning: !all };
		if (all) await checkBranch(run);
		const open = await openPulls(github, base);
		const chosen = all
			? partOf(open, io.now())
			: open.filter(({ number }) => pulls.some((pull) => pull.number === number));
		// A commit may be gone.
		for (const { head } of chosen) await runGit(".", [...fetchCommit, head.sha]).catch(() => null);
		for (const pull of chosen) await attempt(pull.number, judgePull(run, pull), "could not be judged: ");
	});
	return code;
});
