// npx fragment-publisher review
import { writeFile } from "node:fs/promises";
import { type Environment, type Io, WrongError } from "../../../api/configuration.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { resolveCommit } from "../../../publish/collect.ts";
import { plain } from "../../../registry/untrusted.ts";
import { createRun, exitCodes, needed } from "../../../scripts/terminal/command-line.ts";
import { gitText } from "../../../store/git/commands/run.ts";
import { repairBranch } from "../../../store/naming.ts";
import { findRepositoryOf, servedRef } from "../../harvest/repository.ts";
import { createCheckServices } from "../ask-services.ts";
import { linksInto, type Report, renderComment } from "../comment.ts";
import {
	acceptReview,
	declineReview,
	parseReason,
	parseReviewer,
	refuseOthers,
	refuseUnseen,
} from "../decide.ts";
import { proposalLines } from "../history.ts";
import { conflictObstacle } from "../layer-changes.ts";
import { countErrors, type Review, review } from "../review.ts";
import { changeLines, pullLines, reviewLines, summaryLine } from "../terminal.ts";
import { findWaiting, isStale, staleAdvice, type WaitingReview } from "../waiting.ts";

const help = `
Without a verb it compares two commits, as for a pull request. The verbs are for the changes that wait in the repository
of a service on this machine. A map server that is down blocks nothing.`;

interface Session {
	environment: Environment;
	io: Io;
	/** Without control characters. */
	print: (...lines: string[]) => void;
}

async function compare(
	{ environment, print }: Session,
	{ head, report, ...options }: { base?: string; head: string; report?: string },
) {
	const base = needed("--base", options.base);
	const settings = readConfiguration(environment);
	const check = createCheckServices(settings);
	const outcome = await review({ repository: ".", base, head, settings, check }).catch((error: Error) => {
		throw new Error(plain(error.message));
	});
	const isWrong = countErrors(outcome) > 0;
	if (report !== undefined) {
		// In GitHub Actions the comment has links to files.
		const { GITHUB_SERVER_URL: web, GITHUB_REPOSITORY: name } = environment;
		const links = web && name ? linksInto(web, name, await resolveCommit(".", head)) : undefined;
		const comment = renderComment(outcome, links);
		const result: Report = { conclusion: isWrong ? "failure" : "success", comment };
		await writeFile(report, JSON.stringify(result));
	}
	print(...pullLines(outcome));
	return isWrong ? exitCodes.wrong : exitCodes.done;
}

async function list({ environment, io, print }: Session) {
	const { repository, name } = await findRepositoryOf(environment);
	const waiting = await reviewLines(repository);
	print(...waiting);
	if (waiting.length === 0) io.warn(plain(`no review waits in ${name}`));
	return exitCodes.done;
}

async function show({ environment, io, print }: Session, key: string) {
	const { settings, repository } = await findRepositoryOf(environment);
	const waiting = await findWaiting(repository, key);
	const { branch, commit } = waiting;
	const check = createCheckServices(settings);
	const changes = await review({ repository, base: servedRef, head: commit, settings, check });
	const hasConflict = changes.obstacle === conflictObstacle || (await isStale(repository, commit));
	const outcome = hasConflict ? { ...changes, obstacle: staleAdvice } : changes;
	const isRepair = branch.startsWith(repairBranch(""));
	const evidence = isRepair ? await gitText(repository, ["log", "-1", "--format=%b", commit]) : "";
	print(
		`${branch} at commit ${commit}`,
		...(await proposalLines(repository, commit, io.now().getTime())),
		...evidence.split("\n").filter(Boolean),
		...changeLines(outcome),
		summaryLine(outcome),
		nextStep(waiting, outcome),
		`To decline it: npx fragment-publisher review decline ${branch} --why "the reason" --by "your name"`,
	);
	return countErrors(outcome) > 0 ? exitCodes.wrong : exitCodes.done;
}

const correction = "the problems must be corrected first, and a review may change layers only";

function needsCorrection({ remarks, outside }: Review) {
	return outside.length > 0 || remarks.some(({ source }) => source === "problems");
}

function nextStep({ branch, commit }: WaitingReview, outcome: Review) {
	const { obstacle, layers } = outcome;
	if (obstacle !== null) return `It cannot be merged: ${obstacle}`;
	if (needsCorrection(outcome)) return `It cannot be merged: ${correction}`;
	const accept = `npx fragment-publisher review accept ${branch} --commit ${commit.slice(0, 12)}`;
	// None, such as after a squash by hand.
	const what = layers.length === 0 ? "The branch main has it already. To close it" : "To merge exactly this";
	return `${what}: ${accept} --by "your name"`;
}

async function openWaiting({ environment }: Session, key: string) {
	const opened = await findRepositoryOf(environment);
	await refuseOthers(opened.repository, opened.name);
	return { ...opened, waiting: await findWaiting(opened.repository, key) };
}

async function accept(session: Session, key: string, options: { by?: string; commit?: string }) {
	const reviewer = parseReviewer(options.by);
	const shown = options.commit ?? "";
	if (!/^[0-9a-f]{7,64}$/.test(shown))
		throw new Error(
			"--commit: is needed, 7 or more digits of the id as npx fragment-publisher review show prints it",
		);
	const { settings, repository, waiting } = await openWaiting(session, key);
	refuseUnseen(waiting, shown);
	// A merge does not wait for map services: only `show` asks them.
	const check = async () => [];
	const outcome = await review({ repository, base: servedRef, head: waiting.commit, settings, check });
	const { obstacle } = outcome;
	if (needsCorrection(outcome)) {
		session.print(...changeLines(outcome));
		throw new WrongError(`Not accepted: ${correction}`);
	}
	// `acceptReview` says of a conflict what to do.
	if (obstacle !== null && obstacle !== conflictObstacle) throw new WrongError(`Not accepted: ${obstacle}`);
	const merge = await acceptReview(repository, waiting, reviewer);
	session.print(`Accepted: ${merge.slice(0, 12)} is on the branch main`);
	return exitCodes.done;
}

async function decline(session: Session, key: string, options: { by?: string; why?: string }) {
	const reason = parseReason(needed("--why", options.why));
	const reviewer = parseReviewer(options.by);
	const { repository, waiting } = await openWaiting(session, key);
	const branch = await declineReview(repository, waiting, reviewer, reason);
	session.print(`Declined; the change is kept on the branch ${branch}`);
	return exitCodes.done;
}

export const run = createRun(async ({ read, environment, io }) => {
	let code: number = exitCodes.done;
	const session: Session = {
		environment,
		io,
		print(...lines) {
			for (const line of lines) io.print(plain(line));
		},
	};
	const doing =
		<Args extends unknown[]>(task: (session: Session, ...args: Args) => Promise<number>) =>
		async (...args: Args) => {
			code = await task(session, ...args);
		};
	await read((top) => {
		const line = top
			// An option after a verb belongs to the verb.
			.enablePositionalOptions()
			.option("--base <ref>", "needed without a verb: the commit that the change would be merged into")
			.option("--head <ref>", "the commit with the change; it is read as data, nothing of it runs", "HEAD")
			.option(
				"--report <file>",
				"write the comment for the pull request there as JSON, for npx fragment-publisher approvals",
			)
			.addHelpText("after", help)
			.action(doing(compare));
		const verb = (name: string, description: string) => line.command(name).description(description);
		const byText = "who decides, for the audit (default: the user who runs this)";
		const keyText = "the key, the name of the review, or its branch, such as register/my-layer";

		verb("list", "list the changes that wait for a reviewer").action(doing(list));
		verb("show", "show what a change does for viewers, what is wrong or odd, and who asked for it")
			.argument("<key>", keyText)
			.action(doing(show));
		verb("accept", "merge a change")
			.argument("<key>", keyText)
			.option("--commit <id>", "needed: the commit that was shown; another one is not merged")
			.option("--by <name>", byText)
			.action(doing(accept));
		verb("decline", "reject a change; anyone can read the reason in the status of the layer")
			.argument("<key>", keyText)
			.option("--why <text>", "needed: the reason, one line")
			.option("--by <name>", byText)
			.action(doing(decline));
		return line;
	});
	return code;
});
