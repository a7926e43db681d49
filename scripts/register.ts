// npx fragment-publisher register: sends a folder of registrations to a service, or stores it in one commit
import { openStore } from "../api/service/open-store.ts";
import { readConfiguration } from "../api/service/settings.ts";
import { counted, plain } from "../registry/plain.ts";
import { WrongError } from "../registry/wrong-error.ts";
import { isRefusal } from "../store/store.ts";
import { readBatch, storeBatch } from "./send/batch.ts";
import { registerMany } from "./send/many.ts";
import { checkSender, createRun, parseUrl } from "./terminal/command-line.ts";

const registerHelp = `
With --url each layer is a signed PUT to that service, with a commit of its own; the secret is found as for put. Without it
all are one commit in GITHUB_REPOSITORY where that is set, else in the repository in DATA_DIR, on which no service may run.
All files are checked first. With --url a request that is not served is sent again for half a minute.
What is stored already is skipped: after an interruption, run the same again. --remove-others removes from the service, once all
files are accepted, the layers of --owned that the folder does not have. It lists them, and asks.`;

export const run = createRun("register", async ({ read, environment, io }) => {
	const [options, folder] = await read((line) =>
		line
			.argument("<dir>", "a folder of <smallkey>.json, or of <ab>/<smallkey>.json as in layers/")
			.option("--review", "leave them on a branch for a reviewer; on GitHub with a pull request", false)
			.option("--url <url>", "send them, signed, to the service with its base path", parseUrl)
			.option("--sender <id>", "who signs, or who the commit names as its author (operator)")
			.option("--remove-others", "with --url: then remove the layers that the folder does not have", false)
			.option("--owned <glob...>", "the smallkeys that --remove-others may remove, such as 'nrcan-*'")
			.option("--yes", "with --remove-others: do not ask", false)
			.option("--json", "with --url: print the result as JSON", false)
			.addHelpText("after", registerHelp),
	);
	const { sender = "operator", review, url, removeOthers, owned = [], yes, json } = options;
	if (review && url) throw new Error("--review: with --url the service decides who needs a reviewer");
	if (!url && (removeOthers || json)) throw new Error("--remove-others, --json: are for --url");
	if (removeOthers !== owned.length > 0)
		throw new Error("--remove-others: needs --owned with globs of your smallkeys, and --owned needs it");
	checkSender(sender);
	const { registrations, problems } = await readBatch(folder);
	const refuse = (texts: readonly string[]) => {
		for (const text of texts) io.warn(plain(text));
		throw new WrongError(`${counted(texts.length, "problem")}; nothing was written`);
	};
	if (problems.length > 0) refuse(problems);
	const others = removeOthers ? { owned, yes } : null;
	if (url) return registerMany(registrations, { ...options, url }, others, environment, io);
	const { store, place, close } = await openStore(readConfiguration(environment));
	try {
		const outcome = await storeBatch(store, registrations, { sender, time: io.now().getTime(), review });
		if (isRefusal(outcome)) return refuse(outcome.errors);
		const { changed, commit } = outcome;
		io.print(`${changed} registered, ${registrations.size - changed} stored already, in ${place}`);
		if (commit.changed) io.print(`commit ${commit.commit}`);
		if (commit.branch) io.print(`branch ${commit.branch}`);
		if (commit.pullRequest) io.print(`pull request ${commit.pullRequest}`);
	} finally {
		await close();
	}
});
