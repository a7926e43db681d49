import { type Io, WrongError } from "../../../api/configuration.ts";
import { putEdits } from "../../../api/register.ts";
import { repositoryPath } from "../../../api/service/data-dir.ts";
import {
	changeSenders,
	readEntries,
	type SenderFields,
	sendersPath,
} from "../../../api/service/senders-file.ts";
import { type Configuration, readConfiguration } from "../../../api/service/settings.ts";
import { collectSource } from "../../../publish/collect.ts";
import { type Description, parseDescription } from "../../../registry/description.ts";
import { type LayerFile, registeredIn } from "../../../registry/judge.ts";
import { canonicalText, parseRegistration, type Registration } from "../../../registry/registration.ts";
import { isSenderId } from "../../../registry/sender.ts";
import { descriptionPath, langs } from "../../../registry/smallkey.ts";
import { readPathsOf } from "../../../registry/targets/table.ts";
import { textsOf } from "../../../registry/texts.ts";
import { counted, firstOf, groupBy, plain, shorten } from "../../../registry/untrusted.ts";
import { createRun } from "../../../scripts/terminal/command-line.ts";
import { isRefusal } from "../../../store/decide.ts";
import { readRef } from "../../../store/git/repository.ts";
import { memoryStore } from "../../../store/memory.ts";
import { servedBranch } from "../../../store/naming.ts";
import type { Reader } from "../../../store/store.ts";
import { descriptionText } from "../../harvest/description.ts";
import { type Moved, moveDocument } from "../document.ts";
import { type Dump, keyOf, readDump, textOf } from "../dump.ts";
import { openStore } from "../open-store.ts";
import { printCommit, storeBatch } from "../store-batch.ts";

type Move = Moved & { place: number };

/** `place`: the number of the document in the dump, from 1. */
type Refuse = (key: string, reason: string, place: number | undefined) => void;

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
		// Which of several documents was served is unknown.
		return same.length === 1 ? same : [];
	});
}

/** Stores the layers in one commit; a dry run stores nothing. */
async function storeLayers(
	moves: readonly Move[],
	configuration: Configuration,
	{ dryRun, io, refuse }: { dryRun: boolean; io: Io; refuse: Refuse },
) {
	const byKey = new Map(moves.map((move) => [move.smallkey, move]));
	const editsOf = async (state: Reader, smallkey: string, registration: Registration) => {
		const edits = await putEdits(state, smallkey, registration);
		if (isRefusal(edits)) return edits;
		const stored = (await state.read(smallkey))?.description ?? null;
		const text = mergeImported(stored, byKey.get(smallkey)?.description ?? null);
		return text === stored || text === null ? edits : [...edits, { path: descriptionPath(smallkey), text }];
	};
	const registrations = new Map(moves.map(({ smallkey, registration }) => [smallkey, registration]));
	const options = { sender: "import", time: io.now().getTime(), partial: true, dryRun };
	const { store, close } = await (dryRun ? openCopy : openStore)(configuration);
	const batch = storeBatch(store, registrations, options, editsOf, "import");
	const { outcome, comparison, refused } = await batch.finally(close);
	if (isRefusal(outcome)) throw new WrongError(textsOf(outcome.errors).map(plain).join("\n"));
	for (const [smallkey, problems] of refused) {
		const reason = textsOf(problems).join("; ");
		refuse(smallkey, reason.replace(/^smallkey: \S+ /, ""), byKey.get(smallkey)?.place);
		byKey.delete(smallkey);
	}
	warnOfUnserved(byKey.values(), configuration, io);
	const { added, changed, unchanged } = comparison;
	const verb = dryRun ? "could be registered" : "registered";
	const counts = `${added.length} ${verb}, ${changed.length} changed, ${unchanged.length} stored already`;
	io.print(dryRun ? `${counts}; nothing was written` : counts);
	printCommit(outcome, io);
}

/** Adds the problems that a PUT of the layer would have. */
function warnOfUnserved(moves: Iterable<Move>, settings: Configuration, io: Io) {
	for (const { smallkey, registration, description } of moves) {
		if (readPathsOf(smallkey, registration, settings, description).length > 0) continue;
		const { problems } = parseRegistration(Buffer.from(canonicalText(registration)), "written");
		const name = [smallkey, textsOf(problems).join("; ")].filter(Boolean).join(": ");
		io.warn(`moved, but nothing serves it: ${plain(name)}`);
	}
}

/** The stored layers, in memory: a service may run on the folder. GitHub's branch is read itself. */
async function openCopy(configuration: Configuration) {
	if (configuration.github) return openStore(configuration);
	const files = await storedFiles(configuration);
	const texts = files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]);
	return { store: memoryStore(Object.fromEntries(texts)), close: async () => undefined };
}

/** Empty if the layers are on GitHub. */
async function storedFiles({ dataDir, github }: Configuration): Promise<LayerFile[]> {
	const repository = repositoryPath(dataDir);
	if (github || (await readRef(repository)) === null) return [];
	return collectSource({ repository, ref: servedBranch });
}

/** A language that was harvested from the same service stays. */
function mergeImported(stored: string | null, imported: Description | null) {
	if (!imported) return stored;
	const before = parseDescription(stored ?? "") ?? {};
	const merged = { ...before, ...imported };
	for (const lang of langs) {
		const old = before[lang];
		const isHarvested = old !== undefined && old.from === undefined;
		if (isHarvested && old.service_url === imported[lang]?.service_url) merged[lang] = old;
	}
	return descriptionText(merged);
}

/** A reason never contains a secret. */
function addSenders(dump: Dump, entries: Map<string, SenderFields>, refuse: Refuse) {
	const owners = new Map(Array.from(entries, ([id, { key }]) => [key, id]));
	for (const [place, { _id, key }] of dump) {
		const [id, secret] = [textOf(_id), textOf(key)];
		const owner = owners.get(secret);
		if (!isSenderId(id)) refuse(id, "a sender's id must be 1 to 64 of A-Z a-z 0-9 . _ -", place);
		else if (secret === "") refuse(id, "has no key", place);
		else if (owner === id) continue;
		else if (entries.has(id)) refuse(id, "is a sender here, with another secret: left as it is", place);
		else if (owner !== undefined) refuse(id, `has the same secret as ${owner}`, place);
		else {
			entries.set(id, { key: secret });
			owners.set(secret, id);
		}
	}
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
			const name = plain(shorten(key, maxKeyLength) || '""');
			io.warn(`not moved: ${what}${name}: ${plain(reason)} (document ${place} of ${file})`);
		};
	};
	// Both files are read completely before anything is written.
	const senders = sendersDump && (await readDump(sendersDump));
	const documents = await readDump(dump);
	const refuse = refuseOf(dump);
	const moves = collectMoves(documents, configuration, refuse);
	await storeLayers(moves, configuration, { dryRun, io, refuse });
	const keys = new Set(Array.from(documents.values(), keyOf));
	const stored = (await storedFiles(configuration)).map(({ path }) => path);
	const others = registeredIn(stored).filter((smallkey) => !keys.has(smallkey));
	if (others.length > 0) io.print(`here, but not in the dump: ${firstOf(others, maxListedKeys)}`);
	if (senders) {
		const path = sendersPath(configuration.dataDir);
		let count = 0;
		const addTo = (entries: Map<string, SenderFields>) => {
			const { size } = entries;
			addSenders(senders, entries, refuseOf(sendersDump, "sender "));
			count = entries.size - size;
		};
		if (dryRun) addTo(await readEntries(path));
		else await changeSenders(configuration.dataDir, addTo);
		io.print(`${counted(count, "sender")} ${dryRun ? "could be added" : "added"} to ${path}`);
	}
	if (refused > 0) throw new WrongError(`${counted(refused, "document")} could not be moved`);
});
