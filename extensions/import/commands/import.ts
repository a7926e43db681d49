// npx fragment-publisher import and compare: import the layers of an older service, and compare the two
import { existsSync } from "node:fs";
import { repositoryPath } from "../../../api/service/data-dir.ts";
import { servedRef } from "../../../api/service/repository.ts";
import { changeSenders, sendersPath } from "../../../api/service/senders-file.ts";
import { readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { progress } from "../../../publish/progress.ts";
import { counted, plain } from "../../../registry/plain.ts";
import { textsOf } from "../../../registry/problems.ts";
import { parseLayerPath } from "../../../registry/smallkey.ts";
import { WrongError } from "../../../registry/wrong-error.ts";
import { checkSender, createRun, exitCodes, parseUrl } from "../../../scripts/terminal/command-line.ts";
import { listTree } from "../../../store/git/commands/tree.ts";
import { isRefusal } from "../../../store/store.ts";
import { comparedTargets, compareServices, reportLines } from "../compare/compare.ts";
import type { NotMoved } from "../dump.ts";
import { readLayersDump, readSendersDump, summaryLines } from "../import.ts";
import { readKeysOrDump } from "../keys.ts";
import { storeLayers } from "../store-layers.ts";

const importHelp = `
A dump is {"docs":[…]}, or the answer of _all_docs?include_docs=true.
Writes to GITHUB_REPOSITORY where that is set, else to the repository in DATA_DIR, on which no service may run.
What cannot be moved is listed with its reason and place, keeps nothing else back, and ends the import with 1. Importing again changes nothing.`;

const importDump = createRun("import", async ({ read, environment, io }) => {
	const [{ senders: sendersDump, sender, dryRun, partial }, dump] = await read((line) =>
		line
			.argument("<dump>", "its layers")
			.option("--senders <file>", "its senders, in the same form: added to the senders file of DATA_DIR")
			.option("--dry-run", "only say what would be done", false)
			.option("--partial", "end with 0 although some documents cannot be moved", false)
			.option("--sender <id>", "who the commit names as its author", "import")
			.addHelpText("after", importHelp),
	);
	checkSender(sender);
	const configuration = readConfiguration(environment);
	const { dataDir } = configuration;
	// Both files are read completely before anything is written.
	const senders = sendersDump === undefined ? null : await readSendersDump(sendersDump, dataDir);
	const moves = await readLayersDump(dump, configuration);
	const author = dryRun ? null : { sender, time: io.now().getTime() };
	const stored = await storeLayers(moves.layers, configuration, author);
	if (isRefusal(stored)) {
		for (const error of textsOf(stored.errors)) io.warn(plain(error));
		return exitCodes.wrong;
	}
	if (senders && !dryRun) {
		// The senders file may have changed since it was read. Its senders stay first and as they are.
		const added = Object.fromEntries(senders.added);
		await changeSenders(dataDir, (entries) => ({ ...entries, ...added, ...entries }));
	}

	function printNotMoved(what: string, { key, reason, offset }: NotMoved, file: string | undefined): void {
		io.warn(`not moved: ${what}${plain(key)}: ${plain(reason)} (at byte ${offset} of ${file})`);
	}
	const notMoved = [...moves.notMoved, ...stored.notMoved];
	for (const one of notMoved) printNotMoved("", { ...one, key: one.key || '""' }, dump);
	for (const text of summaryLines(moves, stored, dryRun)) io.print(text);
	if (senders) {
		for (const one of senders.notMoved) printNotMoved("sender ", one, sendersDump);
		const verb = dryRun ? "would be added" : "added";
		const there = `${senders.same} there already, ${senders.notMoved.length} not moved`;
		io.print(`\n${counted(senders.added.size, "sender")} ${verb} to ${sendersPath(dataDir)}, ${there}`);
	}
	const left = notMoved.length + (senders?.notMoved.length ?? 0);
	if (left > 0 && !partial)
		throw new WrongError(`${counted(left, "document")} could not be moved; --partial says that this is fine`);
});

const compareHelp = `
An address is the part before /v1/docs/… or /v2/docs/…; nothing is written to either service.
Without --keys the layers of the repository in DATA_DIR are read.
Ends with 1 where a viewer would draw or ask a layer otherwise.`;

/** Reads the smallkeys of the repository in a data folder. @throws {Error} if there is no repository */
async function readStored(dataDir: string): Promise<string[]> {
	const repository = repositoryPath(dataDir);
	if (!existsSync(repository)) throw new Error(`--keys: is needed: there is no repository at ${repository}`);
	const names = (await listTree(repository, servedRef, "layers")).map(({ path }) => parseLayerPath(path));
	return names.flatMap((name) => (name?.kind === "registration" ? [name.smallkey] : []));
}

const compare = createRun("compare", async ({ read, environment, io }) => {
	const [{ keys: path, all }, old, now] = await read((line) =>
		line
			.argument("<old>", "the older service, such as http://rcs.example", parseUrl)
			.argument("<new>", "this one, with its base path", parseUrl)
			.option("--keys <file>", "a file of smallkeys with spaces, commas or lines between them, or the dump")
			.option("--all", "name all smallkeys of each kind, not three of them", false)
			.addHelpText("after", compareHelp),
	);
	const { dataDir } = readConfiguration(withoutStore(environment));
	const smallkeys = path === undefined ? await readStored(dataDir) : await readKeysOrDump(path);
	if (smallkeys.length === 0) throw new Error(`${path ?? dataDir}: holds no smallkeys to compare`);
	io.warn(`Comparing ${counted(smallkeys.length, "layer")} of ${old} with ${now}`);
	const bar = progress(smallkeys.length * comparedTargets.length * 2, "comparing");
	const comparing = compareServices(old, now, smallkeys, bar.tick);
	const comparison = await comparing.finally(() => bar.stop());
	for (const text of reportLines(comparison, smallkeys, all)) io.print(plain(text));
	const isRelevant = comparison.findings.some((finding) => finding.class === "relevant");
	return isRelevant ? exitCodes.wrong : exitCodes.done;
});

export const runs = { import: importDump, compare };
