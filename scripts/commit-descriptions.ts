// npx fragments commit-descriptions: commits the service descriptions that npx fragments harvest wrote into layers/

import { descriptionEdits, type NewDescription, newDescriptions } from "../review/refresh/descriptions.ts";
import { openStore } from "../service/open-store.ts";
import { readConfiguration } from "../service/settings.ts";
import { serviceName } from "../store/git/new-commit.ts";
import { type Commit, isRefusal, type Store } from "../store/store.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printLine } from "../terminal/io.ts";

/** The harvested checkout. */
const checkout = ".";

/** Descriptions of one commit. Earlier commits remain where a later one fails, as at GitHub's limit of requests. */
const portion = 200;

/** @throws {Error} where the store refuses */
async function commit(store: Store, found: readonly NewDescription[], now: Date): Promise<Commit> {
	const outcome = await store.change((state) => descriptionEdits(state, found), {
		smallkey: null,
		author: serviceName,
		time: now.getTime(),
		subject: `describe ${found.length} layer${found.length === 1 ? "" : "s"}`,
		trailers: [],
		request: null,
		review: false,
	});
	if (isRefusal(outcome)) throw new Error(outcome.errors.join("\n"));
	return outcome;
}

export const run = createRun(async (argv, environment, io) => {
	createCommandLine("commit-descriptions", io).parse(argv, { from: "user" });
	const found = await newDescriptions(checkout);
	if (found.length === 0) {
		printLine(io, "no new descriptions");
		return exitCodes.done;
	}
	const open = await openStore(readConfiguration(environment));
	try {
		let changes = 0;
		for (let start = 0; start < found.length; start += portion) {
			const outcome = await commit(open.store, found.slice(start, start + portion), io.now());
			if (!outcome.changed) continue;
			changes += 1;
			printLine(io, `commit ${outcome.commit}`);
		}
		if (changes === 0) printLine(io, "they are stored already");
		return exitCodes.done;
	} finally {
		await open.close();
	}
});
