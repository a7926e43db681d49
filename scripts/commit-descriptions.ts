// npm run commit-descriptions: commits the service descriptions that npm run harvest has written into layers/
import { isRefusal } from "../api/store.ts";
import { serviceName } from "../api/stores/git/fast-import.ts";
import { descriptionEdits, newDescriptions } from "./lib/refresh/descriptions.ts";
import { runCommand } from "./lib/request.ts";
import { readConfiguration } from "./lib/settings.ts";
import { openStore } from "./lib/store.ts";

await runCommand(async () => {
	const found = await newDescriptions(".");
	if (found.length === 0) {
		console.log("no new descriptions");
		return 0;
	}
	const open = await openStore(readConfiguration(process.env));
	try {
		const outcome = await open.store.change((now) => descriptionEdits(now, found), {
			smallkey: null,
			author: serviceName,
			time: Date.now(),
			subject: `describe ${found.length} layer${found.length === 1 ? "" : "s"}`,
			trailers: [],
			request: null,
			review: false,
		});
		if (isRefusal(outcome)) throw new Error(outcome.errors.join("\n"));
		console.log(outcome.changed ? `commit ${outcome.commit}` : "they are stored already");
		return 0;
	} finally {
		await open.close();
	}
});
