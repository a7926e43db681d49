// npx fragments import: imports the layers and senders of an older service from a dump of its database
import { isSenderId } from "../api/senders.ts";
import { importDump } from "../migrate/import/import.ts";
import { readConfiguration } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";

const help = `
A dump is {"docs":[…]}, or the answer of _all_docs?include_docs=true.
Writes to GITHUB_REPOSITORY where that is set, else to the repository in DATA_DIR, on which no service may run.
What cannot be moved is listed with its reason and place, keeps nothing else back, and ends the import with 1. Importing again changes nothing.`;

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("import", io)
		.argument("<dump>", "its layers")
		.option("--senders <file>", "its senders, in the same form: added to the senders file of DATA_DIR")
		.option("--dry-run", "only say what would be done", false)
		.option("--partial", "end with 0 although some documents cannot be moved", false)
		.option("--sender <id>", "who the commit names as its author", "import")
		.addHelpText("after", help)
		.parse(argv, { from: "user" });
	const [dump] = line.processedArgs;
	const { senders = null, sender, dryRun: isTrial, partial: isPartial } = line.opts();
	if (!isSenderId(sender)) throw new Error(`--sender: must be 1 to 64 of A-Z a-z 0-9 . _ -, not ${sender}`);
	const task = { dump, senders, sender, isTrial, isPartial, time: io.now().getTime() };
	const done = await importDump(task, readConfiguration(environment), io);
	return done ? exitCodes.done : exitCodes.wrong;
});
