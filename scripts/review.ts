// npm run review -- --base REF [--head REF] [--repo DIR] [--out FILE]: what a pull request changes, and what is wrong

import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { createCheckLayer } from "../harvest/check-layer.ts";
import type { Ask } from "../harvest/net/ask.ts";
import { askWith } from "./harvest/ask.ts";
import { annotations, plainLine } from "./review/annotations.ts";
import { renderComment } from "./review/comment.ts";
import { isWrong, type Review, review } from "./review/review.ts";
import { readConfiguration, withoutStore } from "./service/settings.ts";
import { runCommand } from "./terminal/command-line.ts";
import { plain } from "./terminal/plain.ts";

const usage = `npm run review -- --base REF [--head REF] [--repo DIR] [--out FILE]

  --base REF   the commit that the change would be merged into
  --head REF   the commit with the change (HEAD); it is read as data, nothing of it runs
  --repo DIR   the git repository that has both (.)
  --out FILE   writes the comment for the pull request there

Exit code 1 where the change is wrong, 2 where it could not be looked at. A server that is down blocks nothing.`;

const options = {
	base: { type: "string" },
	head: { type: "string", default: "HEAD" },
	repo: { type: "string", default: "." },
	out: { type: "string" },
	help: { type: "boolean", short: "h" },
} as const;

/** Longest that services are asked, in milliseconds: slow ones must not keep the check from ending. */
const longestAsking = 8 * 60_000;

/** Asks only until a signal aborts; what is not asked by then counts as a server that is down. */
function askUntil(end: AbortSignal, ask: Ask): Ask {
	return (address, signal) => ask(address, signal ? AbortSignal.any([signal, end]) : end);
}

/** Who has to approve, one line each. */
function approvalLines({ approvals }: Review): string[] {
	return (approvals ?? []).map(({ owners, paths }) => {
		return plain(
			`approval of ${owners.join(" or ")} for ${paths.length} file${paths.length === 1 ? "" : "s"}`,
		);
	});
}

/** Lines for the log: annotations where GitHub reads them, else for a person. */
function logLines({ problems, services }: Review, forGitHub: boolean): string[] {
	const groups = [
		["error", "Layer", problems],
		["error", "Map service: this change is wrong", services.wrong],
		["warning", "Map service: their server is down", services.down],
	] as const;
	return groups.flatMap(([level, title, found]) => {
		return forGitHub ? annotations(level, title, found) : found.map((one) => plainLine(level, one));
	});
}

await runCommand(async () => {
	const { values } = parseArgs({ options });
	if (values.help || values.base === undefined) {
		console.log(usage);
		return values.help ? 0 : 2;
	}
	const configuration = readConfiguration(withoutStore(process.env));
	const outcome = await review({
		repository: values.repo,
		base: values.base,
		head: values.head,
		settings: configuration,
		check: createCheckLayer(askUntil(AbortSignal.timeout(longestAsking), askWith(configuration.harvest))),
	}).catch((error: Error) => error);
	if (outcome instanceof Error) {
		console.error(plain(outcome.message));
		return 2;
	}
	for (const line of logLines(outcome, process.env.GITHUB_ACTIONS === "true")) console.log(line);
	if (values.out !== undefined) await writeFile(values.out, renderComment(outcome));
	for (const line of approvalLines(outcome)) console.log(line);
	const { problems, services, layers } = outcome;
	console.log(
		`${layers.length} layers changed, ${problems.length + services.wrong.length} to mend, ` +
			`${services.down.length} warnings of servers that are down`,
	);
	return isWrong(outcome) ? 1 : 0;
});
