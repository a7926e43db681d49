// npx fragment-publisher import: imports the layers and senders of an older service
import { existsSync } from "node:fs";
import { WrongError } from "../../../api/configuration.ts";
import { putEdits } from "../../../api/register.ts";
import { openStore, repositoryPath } from "../../../api/service/data-dir.ts";
import { changeSenders, sendersPath } from "../../../api/service/senders-file.ts";
import { type Configuration, readConfiguration } from "../../../api/service/settings.ts";
import { mapWithProgress } from "../../../publish/build.ts";
import { type Description, descriptionText, parseDescription } from "../../../registry/description.ts";
import { canonicalText } from "../../../registry/registration.ts";
import { isSenderId } from "../../../registry/sender.ts";
import { descriptionPath, langs } from "../../../registry/smallkey.ts";
import type { FragmentSettings } from "../../../registry/targets/facts.ts";
import { textsOf } from "../../../registry/texts.ts";
import { counted, plain } from "../../../registry/untrusted-text.ts";
import { batchMeta, maxConcurrent } from "../../../scripts/register.ts";
import { checkSender, createRun, exitCodes } from "../../../scripts/terminal/command-line.ts";
import { readTextIfThere } from "../../../store/files/files.ts";
import { type Commit, type Edit, isRefusal, type Reader, type Refusal } from "../../../store/store.ts";
import { row } from "../compare/compare.ts";
import { type Json, objectOf, textOf } from "../compare/differences.ts";
import {
	DumpError,
	type DumpRecord,
	type Moved,
	moveDocument,
	type NotMoved,
	readDump,
	readDumpFile,
	shortened,
} from "../document.ts";

type Move = Moved & { place: number };

/** @returns `layers`: in the order of the dump */
function collectMoves(records: readonly DumpRecord[], settings: FragmentSettings) {
	const layers: Move[] = [];
	const notMoved: NotMoved[] = [];
	/** By smallkey in lower case. */
	const alike = new Map<string, Move[]>();
	for (const { document, place } of records) {
		const moved = moveDocument(document, settings);
		if ("reason" in moved) notMoved.push({ ...moved, place });
		else {
			const key = moved.smallkey.toLowerCase();
			alike.set(key, [...(alike.get(key) ?? []), { ...moved, place }]);
		}
	}
	for (const moves of alike.values()) {
		const [{ smallkey: first }] = moves as [Move];
		const same = moves.filter(({ smallkey }) => smallkey === first);
		// It is not known which of several documents was served, so none is imported.
		if (same.length === 1) layers.push(...same);
		for (const { smallkey: key, place } of moves)
			if (key !== first) notMoved.push({ key, reason: `differs only in case from ${first}`, place });
			else if (same.length > 1) notMoved.push({ key, reason: "has more than one document", place });
	}
	return { layers, notMoved };
}

/** `notMoved`: layers that the store refuses, such as a smallkey that differs only in case from a stored one. */
const nothing = { added: 0, changed: 0, same: 0, notMoved: [] as NotMoved[], commit: null as Commit | null };

type Stored = typeof nothing;

const emptyReader: Reader = { read: async () => null, ids: async () => null, keys: async () => [] };

/**
 * Stores the layers of a dump in the configured store, in one commit. Unchanged layers and harvested descriptions stay as
 * they are.
 * @param author of the commit, and its time in milliseconds since 1970; null for a dry run, which stores nothing
 */
async function storeLayers(
	layers: readonly Move[],
	configuration: Configuration,
	author: { sender: string; time: number } | null,
): Promise<Stored | Refusal> {
	let stored: Stored = { ...nothing, notMoved: [] };
	const decide = async (now: Reader): Promise<Edit[]> => {
		stored = { ...nothing, notMoved: [] };
		const edits = await mapWithProgress(layers, "comparing", maxConcurrent, (move) =>
			editsOf(now, move, stored),
		);
		return edits.flat();
	};
	// A dry run creates no repository.
	const isNew = !configuration.github && !existsSync(repositoryPath(configuration.dataDir));
	const open = author || !isNew ? await openStore(configuration) : null;
	try {
		if (!author || !open) {
			await decide(open?.store ?? emptyReader);
			return stored;
		}
		const meta = batchMeta(`import ${counted(layers.length, "layer")}`, author.sender, author.time);
		const commit = await open.store.change(decide, meta);
		return isRefusal(commit) ? commit : { ...stored, commit };
	} finally {
		await open?.close();
	}
}

async function editsOf(
	now: Reader,
	{ smallkey, registration, description, place }: Move,
	stored: Stored,
): Promise<Edit[]> {
	const layer = await now.read(smallkey);
	const isSame = layer?.registration === canonicalText(registration);
	const edits = isSame ? [] : await putEdits(now, smallkey, registration);
	if (isRefusal(edits)) {
		const texts = textsOf(edits.errors).join("; ");
		stored.notMoved.push({ key: smallkey, reason: texts.replace(/^smallkey: \S+ /, ""), place });
		return [];
	}
	const text = mergeImported(layer?.description ?? null, description && descriptionText(description));
	if (text !== null && text !== layer?.description) edits.push({ path: descriptionPath(smallkey), text });
	if (!layer) stored.added += 1;
	else if (edits.length > 0) stored.changed += 1;
	else stored.same += 1;
	return edits;
}

/** A language that was harvested from the same service stays. */
function mergeImported(stored: string | null, imported: string | null): string | null {
	if (stored === null || imported === null || stored === imported) return imported ?? stored;
	const before = parseDescription(stored) ?? {};
	const now = parseDescription(imported) ?? {};
	const merged: Description = {};
	for (const lang of langs) {
		const [old, fresh] = [before[lang], now[lang]];
		const isHarvested = old !== undefined && old.from === undefined;
		const keeps = isHarvested && (!fresh || old.service_url === fresh.service_url);
		const best = keeps ? old : (fresh ?? old);
		if (best) merged[lang] = best;
	}
	return descriptionText(merged);
}

async function readRecords(path: string, maxBytes?: number) {
	try {
		return readDump(await readDumpFile(path, maxBytes));
	} catch (error) {
		if (error instanceof DumpError) throw new WrongError(`${path}: ${error.message}; nothing was written`);
		throw error;
	}
}

const maxSendersBytes = 10_000_000;

/**
 * Reads the senders of a dump (`{_id, key}`). A sender that this service has keeps its secret here. A reason never contains
 * a secret.
 * @returns `added`: id → secret of each new sender; `same`: number of senders that this service has with the same secret
 */
async function readSendersDump(path: string, dataDir: string) {
	const text = (await readTextIfThere(sendersPath(dataDir))) ?? "{}";
	const owners = new Map<string, string>();
	for (const [id, entry] of Object.entries(JSON.parse(text)))
		owners.set(textOf(objectOf(entry).key ?? entry), id);
	const senders = new Set(owners.values());
	const moved = { added: new Map<string, string>(), same: 0, notMoved: [] as NotMoved[] };
	const add = ({ _id, key }: Json, place: number) => {
		const [id, secret] = [textOf(_id), textOf(key)];
		const owner = owners.get(secret);
		const refuse = (reason: string) => moved.notMoved.push({ key: shortened(id), reason, place });
		if (!isSenderId(id)) refuse("a sender's id must be 1 to 64 of A-Z a-z 0-9 . _ -");
		else if (secret === "") refuse("has no key");
		else if (owner === id) moved.same += 1;
		else if (senders.has(id)) refuse("is a sender here, with another secret: left as it is");
		else if (owner !== undefined) refuse(`has the same secret as ${owner}`);
		else {
			senders.add(id);
			owners.set(secret, id);
			moved.added.set(id, secret);
		}
	};
	for (const { document, place } of await readRecords(path, maxSendersBytes)) add(document, place);
	return moved;
}

function summaryLines(layers: readonly Move[], { commit, ...stored }: Stored, isTrial: boolean): string[] {
	const described = layers.filter(({ description }) => description !== null).length;
	const typeOf = ({ registration }: Move) =>
		"payload_type" in registration ? registration.payload_type : "of version 2.0";
	const types = ["feature", "of version 2.0", "wms"].flatMap((type) => {
		const count = layers.filter((layer) => typeOf(layer) === type).length;
		return count > 0 ? `${count} ${type}` : [];
	});
	return [
		row(stored.added + stored.changed + stored.same, `layers: ${types.join(", ") || "none"}`),
		row(described, "of them with what the older service knew of their services"),
		row(stored.notMoved.length, "not moved"),
		"",
		row(stored.added, isTrial ? "would be registered" : "registered"),
		row(stored.changed, isTrial ? "would be changed" : "changed"),
		row(stored.same, "stored already"),
		...(commit?.changed ? ["", `commit ${commit.commit}`] : []),
		...(commit?.changed && commit.pullRequest ? [`pull request ${commit.pullRequest}`] : []),
	];
}

const importHelp = `
A dump is {"docs":[…]}, or the answer of _all_docs?include_docs=true.
Writes to GITHUB_REPOSITORY where that is set, else to the repository in DATA_DIR, on which no service may run.
What cannot be moved is listed with its reason and place, keeps nothing else back, and ends the import with 1. Importing again changes nothing.`;

export const run = createRun("import", async ({ read, environment, io }) => {
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
	const records = await readRecords(dump);
	const { layers, notMoved } = collectMoves(records, configuration);
	const author = dryRun ? null : { sender, time: io.now().getTime() };
	const stored = await storeLayers(layers, configuration, author);
	if (isRefusal(stored)) {
		for (const error of textsOf(stored.errors)) io.warn(plain(error));
		return exitCodes.wrong;
	}
	if (senders && !dryRun) {
		// The senders file may have changed since it was read. Its senders stay first and as they are.
		const added = Object.fromEntries(senders.added);
		await changeSenders(dataDir, (entries) => ({ ...entries, ...added, ...entries }));
	}
	const printNotMoved = (what: string, { key, reason, place }: NotMoved, file?: string) =>
		io.warn(`not moved: ${what}${plain(key)}: ${plain(reason)} (document ${place} of ${file})`);
	// Arguments of a call have a bound; a dump has none.
	stored.notMoved = [...notMoved, ...stored.notMoved];
	for (const layer of stored.notMoved) printNotMoved("", { ...layer, key: layer.key || '""' }, dump);
	io.print(row(records.length, "documents read"));
	for (const text of summaryLines(layers, stored, dryRun)) io.print(text);
	if (senders) {
		for (const account of senders.notMoved) printNotMoved("sender ", account, sendersDump);
		const verb = dryRun ? "would be added" : "added";
		const counts = `${senders.same} there already, ${senders.notMoved.length} not moved`;
		io.print(`\n${counted(senders.added.size, "sender")} ${verb} to ${sendersPath(dataDir)}, ${counts}`);
	}
	const left = stored.notMoved.length + (senders?.notMoved.length ?? 0);
	if (left > 0 && !partial)
		throw new WrongError(`${counted(left, "document")} could not be moved; --partial says that this is fine`);
});
