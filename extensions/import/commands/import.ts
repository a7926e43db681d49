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
import { counted, groupBy, plain, shortened } from "../../../registry/untrusted-text.ts";
import { batchMeta, maxConcurrent } from "../../../scripts/register.ts";
import { createRun, exitCodes } from "../../../scripts/terminal/command-line.ts";
import { readTextIfThere } from "../../../store/files/files.ts";
import { type Edit, isRefusal, type Reader, type Refusal } from "../../../store/store.ts";
import { row } from "../compare/compare.ts";
import { objectOf, textOf } from "../compare/differences.ts";
import { keyOf, type Moved, moveDocument, readDump } from "../document.ts";

type Documents = Awaited<ReturnType<typeof readDump>>;

type Move = Moved & { place: number };

/** Takes what cannot be moved. `place`: which document of the dump it is, from 1. */
type Refuse = (key: string, reason: string, place: number) => void;

/** @returns the layers in the order of the dump */
function collectMoves(documents: Documents, settings: FragmentSettings, refuse: Refuse): Move[] {
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

const emptyReader: Reader = { read: async () => null, ids: async () => null, keys: async () => [] };

/**
 * Stores the layers of a dump in the configured store, in one commit. Unchanged layers and harvested descriptions stay as
 * they are.
 * @param time of the commit, in milliseconds since 1970; null for a dry run, which stores nothing
 * @returns `refused`: layers that the store refuses, such as a smallkey that differs only in case from a stored one
 */
async function storeLayers(layers: readonly Move[], configuration: Configuration, time: number | null) {
	const nothing = () => ({ added: 0, changed: 0, same: 0, refused: [] as Parameters<Refuse>[] });
	let counts = nothing();
	const editsOf = async (now: Reader, { smallkey, registration, description, place }: Move) => {
		const layer = await now.read(smallkey);
		const isSame = layer?.registration === canonicalText(registration);
		const edits = isSame ? [] : await putEdits(now, smallkey, registration);
		if (isRefusal(edits)) {
			const texts = textsOf(edits.errors).join("; ");
			counts.refused.push([smallkey, texts.replace(/^smallkey: \S+ /, ""), place]);
			return [];
		}
		const text = mergeImported(layer?.description ?? null, description);
		if (text !== null && text !== layer?.description) edits.push({ path: descriptionPath(smallkey), text });
		counts[!layer ? "added" : edits.length > 0 ? "changed" : "same"] += 1;
		return edits;
	};
	const decide = async (now: Reader): Promise<Edit[]> => {
		counts = nothing();
		const edits = await mapWithProgress(layers, "comparing", maxConcurrent, (move) => editsOf(now, move));
		return edits.flat();
	};
	// A dry run creates no repository.
	const isNew = !configuration.github && !existsSync(repositoryPath(configuration.dataDir));
	const open = time !== null || !isNew ? await openStore(configuration) : null;
	try {
		if (time === null || !open) {
			await decide(open?.store ?? emptyReader);
			return { ...counts, commit: null };
		}
		const meta = batchMeta(`import ${counted(layers.length, "layer")}`, "import", time);
		const commit = await open.store.change(decide, meta);
		return isRefusal(commit) ? commit : { ...counts, commit };
	} finally {
		await open?.close();
	}
}

/** A language that was harvested from the same service stays. */
function mergeImported(stored: string | null, imported: Description | null): string | null {
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

const maxSendersBytes = 10_000_000;

/**
 * Reads the senders of a dump (`{_id, key}`). A sender that this service has keeps its secret here. A reason never contains
 * a secret.
 * @returns `added`: id → secret of each new sender; `same`: number of senders that this service has with the same secret
 */
async function readSendersDump(path: string, dataDir: string, refuse: Refuse) {
	const text = (await readTextIfThere(sendersPath(dataDir))) ?? "{}";
	/** Secret → id. */
	const owners = new Map<string, string>();
	for (const [id, entry] of Object.entries(JSON.parse(text)))
		owners.set(textOf(objectOf(entry).key ?? entry), id);
	const senders = new Set(owners.values());
	const added: Record<string, string> = {};
	let same = 0;
	for (const [place, { _id, key }] of await readDump(path, maxSendersBytes)) {
		const [id, secret] = [textOf(_id), textOf(key)];
		const owner = owners.get(secret);
		if (!isSenderId(id)) refuse(id, "a sender's id must be 1 to 64 of A-Z a-z 0-9 . _ -", place);
		else if (secret === "") refuse(id, "has no key", place);
		else if (owner === id) same += 1;
		else if (senders.has(id)) refuse(id, "is a sender here, with another secret: left as it is", place);
		else if (owner !== undefined) refuse(id, `has the same secret as ${owner}`, place);
		else {
			senders.add(id);
			owners.set(secret, id);
			added[id] = secret;
		}
	}
	return { added, same };
}

type Stored = Exclude<Awaited<ReturnType<typeof storeLayers>>, Refusal>;

function summaryLines(layers: readonly Move[], stored: Stored, left: number, isTrial: boolean): string[] {
	const { added, changed, same, commit } = stored;
	const described = layers.filter(({ description }) => description !== null).length;
	return [
		row(added + changed + same, "layers"),
		row(described, "of them with what the older service knew of their services"),
		row(left, "not moved"),
		"",
		row(added, isTrial ? "would be registered" : "registered"),
		row(changed, isTrial ? "would be changed" : "changed"),
		row(same, "stored already"),
		...(commit?.changed ? ["", `commit ${commit.commit}`] : []),
		...(commit?.changed && commit.pullRequest ? [`pull request ${commit.pullRequest}`] : []),
	];
}

const maxKeyLength = 100;

const importHelp = `
A dump is {"docs":[…]}, or the answer of _all_docs?include_docs=true.
Writes to GITHUB_REPOSITORY where that is set, else to the repository in DATA_DIR, on which no service may run.
What cannot be moved is listed with its reason and place, keeps nothing else back, and ends the import with 1. Importing again changes nothing.`;

export const run = createRun("import", async ({ read, environment, io }) => {
	const [{ senders: sendersDump, dryRun }, dump] = await read((line) =>
		line
			.argument("<dump>", "its layers")
			.option("--senders <file>", "its senders, in the same form: added to the senders file of DATA_DIR")
			.option("--dry-run", "only say what would be done", false)
			.addHelpText("after", importHelp),
	);
	const configuration = readConfiguration(environment);
	const { dataDir } = configuration;
	const refusals: string[] = [];
	const refuseOf = (file: string, what = ""): Refuse => {
		return (key, reason, place) => {
			const name = plain(shortened(key, maxKeyLength) || '""');
			refusals.push(`not moved: ${what}${name}: ${plain(reason)} (document ${place} of ${file})`);
		};
	};
	// Both files are read completely before anything is written.
	const senders =
		sendersDump === undefined
			? null
			: await readSendersDump(sendersDump, dataDir, refuseOf(sendersDump, "sender "));
	const refusedSenders = refusals.length;
	const documents = await readDump(dump);
	const layers = collectMoves(documents, configuration, refuseOf(dump));
	const stored = await storeLayers(layers, configuration, dryRun ? null : io.now().getTime());
	if (isRefusal(stored)) {
		for (const error of textsOf(stored.errors)) io.warn(plain(error));
		return exitCodes.wrong;
	}
	// The senders file may have changed since it was read. Its senders stay first and as they are.
	if (senders && !dryRun)
		await changeSenders(dataDir, (entries) => ({ ...entries, ...senders.added, ...entries }));
	for (const refused of stored.refused) refuseOf(dump)(...refused);
	for (const line of refusals) io.warn(line);
	io.print(row(documents.size, "documents read"));
	const left = refusals.length - refusedSenders;
	for (const text of summaryLines(layers, stored, left, dryRun)) io.print(text);
	if (senders) {
		const count = counted(Object.keys(senders.added).length, "sender");
		const counts = `${senders.same} there already, ${refusedSenders} not moved`;
		io.print(`\n${count} ${dryRun ? "would be added" : "added"} to ${sendersPath(dataDir)}, ${counts}`);
	}
	if (refusals.length > 0) throw new WrongError(`${counted(refusals.length, "document")} could not be moved`);
});
