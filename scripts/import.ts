// npx fragments import: imports the layers and senders of an older service from a dump of its database
import { isSenderId } from "../api/senders.ts";
import type { NotMoved } from "../migrate/import/document.ts";
import { readLayersDump, readSendersDump, summaryLines } from "../migrate/import/import.ts";
import { storeLayers } from "../migrate/import/store.ts";
import { changeSenders, sendersPath } from "../service/senders-file.ts";
import { readConfiguration } from "../service/settings.ts";
import { isRefusal } from "../store/store.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { counted, plain } from "../terminal/plain.ts";

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
	const { senders: sendersDump, sender, dryRun, partial } = line.opts();
	if (!isSenderId(sender)) throw new Error(`--sender: must be 1 to 64 of A-Z a-z 0-9 . _ -, not ${sender}`);
	const configuration = readConfiguration(environment);
	const { dataDir } = configuration;
	// Both files are read completely before anything is written.
	const senders = sendersDump === undefined ? null : await readSendersDump(sendersDump, dataDir);
	const moves = await readLayersDump(dump, configuration);
	const author = dryRun ? null : { sender, time: io.now().getTime() };
	const stored = await storeLayers(moves.layers, configuration, author);
	if (isRefusal(stored)) {
		for (const error of stored.errors) printError(io, plain(error));
		return exitCodes.wrong;
	}
	if (senders && !dryRun) {
		// The senders file may have changed since it was read.
		await changeSenders(dataDir, (entries) => ({ ...JSON.parse(senders.text), ...entries }));
	}

	function printNotMoved(what: string, { key, reason, offset }: NotMoved, file: string | undefined): void {
		const place = offset === undefined ? "" : ` (at byte ${offset} of ${file})`;
		printError(io, `not moved: ${what}${plain(key)}: ${plain(reason)}${place}`);
	}
	const notMoved = [...moves.notMoved, ...stored.notMoved];
	for (const one of notMoved) printNotMoved("", { ...one, key: one.key || '""' }, dump);
	for (const text of summaryLines(moves, stored, dryRun)) printLine(io, text);
	if (senders) {
		for (const one of senders.notMoved) printNotMoved("sender ", one, sendersDump);
		const verb = dryRun ? "would be added" : "added";
		const there = `${senders.same} there already, ${senders.notMoved.length} not moved`;
		printLine(io, `\n${counted(senders.added, "sender")} ${verb} to ${sendersPath(dataDir)}, ${there}`);
	}
	const left = notMoved.length + (senders?.notMoved.length ?? 0);
	if (left === 0 || partial) return exitCodes.done;
	printError(io, `${counted(left, "document")} could not be moved; --partial says that this is fine`);
	return exitCodes.wrong;
});
