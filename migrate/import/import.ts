import { readTextIfThere } from "../../files/if-there.ts";
import { sendersPath } from "../../service/senders-file.ts";
import type { Configuration } from "../../service/settings.ts";
import type { Commit } from "../../store/store.ts";
import { WrongError } from "../../terminal/command-line.ts";
import { firstOf } from "../../terminal/plain.ts";
import { progress } from "../../terminal/progress.ts";
import { row } from "../compare/compare.ts";
import { DumpError, readDump, readDumpFile } from "./dump.ts";
import { collectMoves, type Moves } from "./moves.ts";
import { type MovedSenders, moveSenders } from "./senders.ts";
import type { Stored } from "./store.ts";

/** Reads the layers of a dump. @throws {WrongError} if it cannot be read */
export async function readLayersDump(path: string, configuration: Configuration): Promise<Moves> {
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

/** Bytes of a dump of senders: about ten thousand senders. */
const maxSendersBytes = 10_000_000;

/** Reads the senders of a dump, and adds them to those of this service. @throws {WrongError} if it cannot be read */
export async function readSendersDump(path: string, dataDir: string): Promise<MovedSenders> {
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

/** Smallkeys that are listed for each kind of difference. */
const maxNamed = 5;

/** The result of an import, as lines of a table. */
export function summaryLines(moves: Moves, stored: Stored, isTrial: boolean): string[] {
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
