// npm run commit-descriptions: commits the service descriptions that npm run harvest has written into layers/

import { serviceName } from "../api/git/fast-import.ts";
import { type Commit, isRefusal, type Store } from "../api/store.ts";
import { descriptionEdits, type NewDescription, newDescriptions } from "./refresh/descriptions.ts";
import { openStore } from "./service/open-store.ts";
import { readConfiguration } from "./service/settings.ts";
import { runCommand } from "./terminal/command-line.ts";

/** The checkout of the repository that was harvested into. */
const checkout = ".";

/** Descriptions of one commit: what is committed stays where a later one fails, as at GitHub's limit of requests. */
const portion = 200;

/** @throws {Error} where the store refuses */
async function commit(store: Store, found: readonly NewDescription[]): Promise<Commit> {
	const outcome = await store.change((now) => descriptionEdits(now, found), {
		smallkey: null,
		author: serviceName,
		time: Date.now(),
		subject: `describe ${found.length} layer${found.length === 1 ? "" : "s"}`,
		trailers: [],
		request: null,
		review: false,
	});
	if (isRefusal(outcome)) throw new Error(outcome.errors.join("\n"));
	return outcome;
}

await runCommand(async () => {
	const found = await newDescriptions(checkout);
	if (found.length === 0) {
		console.log("no new descriptions");
		return 0;
	}
	const open = await openStore(readConfiguration(process.env), checkout);
	try {
		let changes = 0;
		for (let start = 0; start < found.length; start += portion) {
			const outcome = await commit(open.store, found.slice(start, start + portion));
			if (!outcome.changed) continue;
			changes += 1;
			console.log(`commit ${outcome.commit}`);
		}
		if (changes === 0) console.log("they are stored already");
		return 0;
	} finally {
		await open.close();
	}
});
