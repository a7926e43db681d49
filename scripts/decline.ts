// npx fragments decline: rejects a change that waits for a review
import { userInfo } from "node:os";
import { declineReview, parseReviewer, refuseCheckout } from "../review/decide.ts";
import { findWaiting } from "../review/waiting.ts";
import { findRepository } from "../service/find-repository.ts";
import { readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes, needed } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("decline", io)
		.argument("<branch>", "the branch, such as register/my-layer; npx fragments status lists those that wait")
		.option("--why <text>", "required: the reason, which is kept with the declined change")
		.option("--by <name>", "who declines it (who is logged in)")
		.option("--repo <dir>", "the repository of a service instead of that of DATA_DIR")
		.addHelpText("after", "\nThe sender is not notified; inform them.")
		.parse(argv, { from: "user" });
	const { by = userInfo().username, repo } = line.opts();
	const why = needed("--why", line.opts().why);
	const reviewer = parseReviewer(by);
	const settings = readConfiguration(withoutStore(environment));
	const found = await findRepository(repo, settings.dataDir);
	await refuseCheckout(found);
	const waiting = await findWaiting(found.path, line.processedArgs[0]);
	printError(io, plain(`Declining ${waiting.branch} of ${waiting.author} in ${found.name}`));
	const branch = await declineReview(found.path, waiting, reviewer, why);
	printLine(io, plain(`Declined; the change is kept on the branch ${branch}`));
	return exitCodes.done;
});
