import { existsSync } from "node:fs";
import { readTextIfThere } from "../../files/if-there.ts";
import { openStore, repositoryPath } from "../../service/open-store.ts";
import { changeSenders, sendersPath } from "../../service/senders-file.ts";
import type { Configuration } from "../../service/settings.ts";
import { type Commit, isRefusal, type Reader, type Refusal } from "../../store/store.ts";
import { WrongError } from "../../terminal/command-line.ts";
import { type Io, printError, printLine } from "../../terminal/io.ts";
import { counted, firstOf, plain } from "../../terminal/plain.ts";
import { progress } from "../../terminal/progress.ts";
import { row } from "../compare/report.ts";
import type { NotMoved } from "./document.ts";
import { DumpError, readDump, readDumpFile } from "./dump.ts";
import { collectMoves, type Moves } from "./moves.ts";
import { type MovedSenders, moveSenders } from "./senders.ts";
import { type Stored, storeMoves, tryMoves } from "./store.ts";

/** The options of an import. */
export interface Import {
	/** Path of the dump of layers. */
	dump: string;
	/** Path of the dump of senders, or null. */
	senders: string | null;
	/** The commit's author. */
	sender: string;
	/** Whether nothing is written. */
	isTrial: boolean;
	/** Whether it is well that some documents cannot be moved. */
	isPartial: boolean;
	/** Milliseconds since 1970. */
	time: number;
}

/**
 * Moves the layers of an older service's dump, and its senders, to this one. Both files are read to their end before
 * anything is written.
 * @returns whether it was done, with every document or as a partial import; otherwise the reason was printed
 */
export async function importDump(task: Import, configuration: Configuration, io: Io): Promise<boolean> {
	const senders = task.senders === null ? null : await readSendersDump(task.senders, configuration);
	const moves = await readLayersDump(task.dump, configuration);
	const stored = await storeAll(moves, task, configuration);
	if (isRefusal(stored)) {
		for (const error of stored.errors) printError(io, plain(error));
		return false;
	}
	if (senders && !task.isTrial) {
		// The senders file may have changed since it was read.
		await changeSenders(configuration.dataDir, (entries) => ({ ...JSON.parse(senders.text), ...entries }));
	}
	printOutcome(task, configuration, { moves, stored, senders }, io);
	const left = moves.notMoved.length + stored.notMoved.length + (senders?.notMoved.length ?? 0);
	if (left === 0 || task.isPartial) return true;
	printError(io, `${counted(left, "document")} could not be moved; --partial says that this is fine`);
	return false;
}

async function storeAll(
	{ layers }: Moves,
	task: Import,
	configuration: Configuration,
): Promise<Stored | Refusal> {
	// A dry run creates no repository.
	const isNew = !configuration.github && !existsSync(repositoryPath(configuration.dataDir));
	if (task.isTrial && isNew) return tryMoves(emptyReader, layers);
	const open = await openStore(configuration);
	try {
		return await (task.isTrial ? tryMoves(open.store, layers) : storeMoves(open.store, layers, task));
	} finally {
		await open.close();
	}
}

const emptyReader: Reader = { read: async () => null, ids: async () => null, keys: async () => [] };

async function readLayersDump(path: string, configuration: Configuration): Promise<Moves> {
	return naming(path, async () => {
		const bytes = await readDumpFile(path);
		const bar = progress(bytes.length, "reading");
		const entries = function* () {
			let last = 0;
			for (const entry of readDump(bytes)) {
				yield entry;
				bar.tick(entry.offset - last);
				last = entry.offset;
			}
		};
		return collectMoves(entries(), configuration).finally(bar.stop);
	});
}

/** Largest dump of senders in bytes: about ten thousand senders. */
const maxSendersBytes = 10_000_000;

async function readSendersDump(path: string, { dataDir }: Configuration): Promise<MovedSenders> {
	const text = await readTextIfThere(sendersPath(dataDir));
	return naming(path, async () => moveSenders(readDump(await readDumpFile(path, maxSendersBytes)), text));
}

/** Runs a task and prefixes its errors with the file's name. */
async function naming<T>(path: string, read: () => Promise<T>): Promise<T> {
	try {
		return await read();
	} catch (error) {
		if (error instanceof DumpError) throw new WrongError(`${path}: ${error.message}; nothing was written`);
		throw error;
	}
}

interface Outcome {
	moves: Moves;
	stored: Stored;
	senders: MovedSenders | null;
}

/** Where a document is in its file. */
function placeOf(offset: number | undefined, file: string | null): string {
	return offset === undefined ? "" : ` (at byte ${offset} of ${file})`;
}

function printOutcome(task: Import, configuration: Configuration, outcome: Outcome, io: Io): void {
	const { moves, stored, senders } = outcome;
	const notMoved: NotMoved[] = [...moves.notMoved, ...stored.notMoved];
	for (const { key, reason, offset } of notMoved) {
		printError(io, `not moved: ${plain(key || '""')}: ${plain(reason)}${placeOf(offset, task.dump)}`);
	}
	for (const line of summaryLines(moves, stored, task.isTrial)) printLine(io, line);
	if (!senders) return;
	for (const { key, reason, offset } of senders.notMoved)
		printError(io, `not moved: sender ${plain(key)}: ${plain(reason)}${placeOf(offset, task.senders)}`);
	const place = sendersPath(configuration.dataDir);
	const verb = task.isTrial ? "would be added" : "added";
	printLine(io, "");
	printLine(
		io,
		`${counted(senders.added, "sender")} ${verb} to ${place}, ${senders.same} there already, ${senders.notMoved.length} not moved`,
	);
}

/** Layers that are named of one kind. */
const maxNamed = 5;

/** The result of an import, as lines of a table. */
function summaryLines(moves: Moves, stored: Stored, isTrial: boolean): string[] {
	const types = new Map<string, number>();
	for (const { registration } of moves.layers.values()) {
		const type = "payload_type" in registration ? registration.payload_type : "of version 2.0";
		types.set(type, (types.get(type) ?? 0) + 1);
	}
	const described = [...moves.layers.values()].filter(({ description }) => description !== null).length;
	const notes = [...moves.notes].sort(
		([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1),
	);
	return [
		row(moves.documents, "documents read"),
		row(moves.layers.size - stored.notMoved.length, `layers: ${countsOf(types)}`),
		row(described, "of them with what the older service knew of their services"),
		row(moves.notMoved.length + stored.notMoved.length, "not moved"),
		"",
		row(stored.added, isTrial ? "would be registered" : "registered"),
		row(stored.changed, isTrial ? "would be changed" : "changed"),
		row(stored.same, "stored already"),
		...(notes.length > 0 ? ["", "Layers that are served otherwise than before, by kind:"] : []),
		...notes.map(([kind, smallkeys]) => row(smallkeys.length, `${kind} (${firstOf(smallkeys, maxNamed)})`)),
		...commitLines(stored.commit),
	];
}

function countsOf(types: ReadonlyMap<string, number>): string {
	const parts = [...types].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, count]) => `${count} ${type}`);
	return parts.join(", ") || "none";
}

function commitLines(commit: Commit | null): string[] {
	if (!commit?.changed) return [];
	return [
		"",
		`commit ${commit.commit}`,
		...(commit.pullRequest ? [`pull request ${commit.pullRequest}`] : []),
	];
}
