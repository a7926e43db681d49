// npx fragments accept: merges a change that waits for a reviewer in the repository of a service on this machine
import { userInfo } from "node:os";
import { acceptReview, parseReviewer, refuseCheckout } from "../review/decide.ts";
import { changeLines } from "../review/lines.ts";
import { review } from "../review/review.ts";
import { findWaiting } from "../review/waiting.ts";
import { findRepository, servedRef } from "../service/find-repository.ts";
import { readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("accept", io)
		.argument("<branch>", "the branch, such as register/my-layer; npx fragments status lists those that wait")
		.option("--by <name>", "who accepts it (who is logged in)")
		.option("--repo <dir>", "the repository of a service instead of that of DATA_DIR")
		.addHelpText("after", "\nIt shows what changes for viewers. A running service serves it at once.")
		.parse(argv, { from: "user" });
	const { by = userInfo().username, repo } = line.opts();
	const reviewer = parseReviewer(by);
	const settings = readConfiguration(withoutStore(environment));
	const found = await findRepository(repo, settings.dataDir);
	await refuseCheckout(found);
	const waiting = await findWaiting(found.path, line.processedArgs[0]);
	printError(io, plain(`Accepting ${waiting.branch} of ${waiting.author} in ${found.name}`));
	const outcome = await review({
		repository: found.path,
		base: servedRef,
		head: waiting.commit,
		settings,
		// What the services say is a matter of npx fragments check-services: a merge does not wait for it.
		check: async () => ({ findings: [] }),
	});
	for (const text of changeLines(outcome)) printLine(io, plain(text));
	if (outcome.problems.length > 0 || outcome.outside.length > 0) {
		printError(io, "Not accepted: what is wrong has to be corrected first, and a review changes layers only");
		return exitCodes.wrong;
	}
	const merge = await acceptReview(found.path, waiting, reviewer);
	printLine(io, `Accepted: ${merge.slice(0, 12)} is on the branch main`);
	return exitCodes.done;
});
