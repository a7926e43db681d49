// npm run register -- DIR [--review] [--sender ID]: many registrations in one commit
import { parseArgs } from "node:util";
import { isSenderId } from "../api/senders.ts";
import { isRefusal } from "../api/store.ts";
import { readBatch, storeBatch } from "./register/batch.ts";
import { openStore } from "./service/open-store.ts";
import { readConfiguration } from "./service/settings.ts";
import { runCommand } from "./terminal/command-line.ts";
import { plain } from "./terminal/plain.ts";

const usage = `npm run register -- DIR [--review] [--sender ID]

  DIR           a folder of <smallkey>.json, or of <ab>/<smallkey>.json as in layers/
  --review      leaves them on a branch for a reviewer; on GitHub with a pull request
  --sender ID   who the commit names as its author (operator)

Writes to GITHUB_REPOSITORY where that is set, else to the repository in DATA_DIR, on which no service may run.
All files are checked first. What is stored already is skipped: after a cut, run the same again.`;

const options = {
	review: { type: "boolean", default: false },
	sender: { type: "string", default: "operator" },
	help: { type: "boolean", short: "h" },
} as const;

await runCommand(async () => {
	const { values, positionals } = parseArgs({ options, allowPositionals: true });
	if (values.help) {
		console.log(usage);
		return 0;
	}
	const [folder, ...rest] = positionals;
	const { sender, review } = values;
	if (folder === undefined || rest.length > 0) throw new Error(`usage: ${usage}`);
	if (!isSenderId(sender)) throw new Error(`--sender: must be 1 to 64 of A-Z a-z 0-9 . _ -, not ${sender}`);
	const { registrations, problems } = await readBatch(folder);
	for (const problem of problems) console.error(plain(problem));
	if (problems.length > 0) {
		console.error(`${problems.length} problems; nothing was written`);
		return 1;
	}
	const open = await openStore(readConfiguration(process.env));
	try {
		const outcome = await storeBatch(open.store, registrations, { sender, time: Date.now(), review });
		if (isRefusal(outcome)) {
			for (const error of outcome.errors) console.error(plain(error));
			console.error(`${outcome.errors.length} problems; nothing was written`);
			return 1;
		}
		const { changed, commit } = outcome;
		console.log(`${changed} registered, ${registrations.size - changed} stored already`);
		if (commit.changed) console.log(`commit ${commit.commit}`);
		if (commit.branch) console.log(`branch ${commit.branch}`);
		if (commit.pullRequest) console.log(`pull request ${commit.pullRequest}`);
		return 0;
	} finally {
		await open.close();
	}
});
