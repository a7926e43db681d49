import { WrongError } from "../../../api/configuration.ts";
import { changeSenders, sendersPath } from "../../../api/service/senders-file.ts";
import { type Configuration, readConfiguration } from "../../../api/service/settings.ts";
import { groupBy } from "../../../registry/json.ts";
import { counted, firstOf, plain, shortened } from "../../../registry/untrusted-text.ts";
import { createRun } from "../../../scripts/terminal/command-line.ts";
import { readTextIfThere } from "../../../store/files/files.ts";
import { moveDocument } from "../document.ts";
import { type Dump, keyOf, readDump } from "../dump.ts";
import { addSenders, type SenderEntries } from "../senders.ts";
import { type Move, type Refuse, storedKeys, storeLayers } from "../store-layers.ts";

/** @returns the layers in the order of the dump */
function collectMoves(documents: Dump, settings: Configuration, refuse: Refuse): Move[] {
	const all: Move[] = [];
	for (const [place, document] of documents) {
		const moved = moveDocument(document, settings);
		if (typeof moved === "string") refuse(keyOf(document), moved, place);
		else all.push({ ...moved, place });
	}
	const alike = groupBy(all, ({ smallkey }) => smallkey.toLowerCase());
	return [...alike.values()].flatMap((moves) => {
		const [{ smallkey: first }] = moves as [Move];
		const same = moves.filter(({ smallkey }) => smallkey === first);
		for (const { smallkey, place } of moves)
			if (smallkey !== first) refuse(smallkey, `differs only in case from ${first}`, place);
			else if (same.length > 1) refuse(smallkey, "has more than one document", place);
		// It is not known which of several documents was served, so none is imported.
		return same.length === 1 ? same : [];
	});
}

const maxKeyLength = 100;
const maxListedKeys = 20;

const importHelp = `
A dump is {"docs":[…]}, or the answer of _all_docs?include_docs=true.
Writes to GITHUB_REPOSITORY where that is set, else to the repository in DATA_DIR, on which no service may run.
What cannot be moved is listed with its reason and place, keeps nothing else back, and ends the import with 1.
A second import adds and changes layers, and removes none: in DATA_DIR, it lists those that the dump does not have.`;

export const run = createRun(async ({ read, environment, io }) => {
	const [{ senders: sendersDump = "", dryRun }, dump] = await read((line) =>
		line
			.argument("<dump>", "its layers")
			.option("--senders <file>", "its senders, in the same form: added to the senders file of DATA_DIR")
			.option("--dry-run", "only read both, and list what cannot be moved", false)
			.addHelpText("after", importHelp),
	);
	const configuration = readConfiguration(environment);
	let refused = 0;
	const refuseOf = (file: string, what = ""): Refuse => {
		return (key, reason, place) => {
			refused += 1;
			const name = plain(shortened(key, maxKeyLength) || '""');
			io.warn(`not moved: ${what}${name}: ${plain(reason)} (document ${place} of ${file})`);
		};
	};
	// Both files are read completely before anything is written.
	const senders = sendersDump && (await readDump(sendersDump));
	const documents = await readDump(dump);
	const refuse = refuseOf(dump);
	const moves = collectMoves(documents, configuration, refuse);
	await storeLayers(moves, configuration, dryRun, io, refuse);
	const keys = new Set(Array.from(documents.values(), keyOf));
	const others = (await storedKeys(configuration)).filter((smallkey) => !keys.has(smallkey));
	if (others.length > 0) io.print(`here, but not in the dump: ${firstOf(others, maxListedKeys)}`);
	if (senders) {
		const path = sendersPath(configuration.dataDir);
		let count = 0;
		const addTo = (entries: SenderEntries) => {
			const all = addSenders(senders, entries, refuseOf(sendersDump, "sender "));
			count = Object.keys(all).length - Object.keys(entries).length;
			return all;
		};
		if (dryRun) addTo(JSON.parse((await readTextIfThere(path)) ?? "{}"));
		else await changeSenders(configuration.dataDir, addTo);
		io.print(`${counted(count, "sender")} ${dryRun ? "could be added" : "added"} to ${path}`);
	}
	if (refused > 0) throw new WrongError(`${counted(refused, "document")} could not be moved`);
});
