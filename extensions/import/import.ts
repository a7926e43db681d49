import { sendersPath } from "../../api/service/senders-file.ts";
import type { Configuration } from "../../api/service/settings.ts";
import { progress } from "../../publish/progress.ts";
import { firstOf } from "../../registry/plain.ts";
import { isSenderId } from "../../registry/sender-id.ts";
import { WrongError } from "../../registry/wrong-error.ts";
import { readTextIfThere } from "../../store/files/if-there.ts";
import { row } from "./compare/compare.ts";
import { type Json, objectOf, textOf } from "./compare/json.ts";
import { shortened } from "./document.ts";
import { DumpError, type NotMoved, readDump, readDumpFile } from "./dump.ts";
import { collectMoves, type Moves } from "./moves.ts";
import type { Stored } from "./store-layers.ts";

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

/**
 * Reads the senders of a dump (`{_id, key}`). A sender that this service has keeps its secret here. A reason never contains
 * a secret.
 * @returns `added`: id → secret of each new sender; `same`: number of senders that this service has with the same secret
 * @throws {WrongError} if the dump cannot be read
 */
export async function readSendersDump(path: string, dataDir: string) {
	const text = (await readTextIfThere(sendersPath(dataDir))) ?? "{}";
	/** Secret → the sender that has it. */
	const owners = new Map<string, string>();
	for (const [id, entry] of Object.entries(JSON.parse(text)))
		owners.set(textOf(objectOf(entry).key ?? entry), id);
	const senders = new Set(owners.values());
	const moved = { added: new Map<string, string>(), same: 0, notMoved: [] as NotMoved[] };
	const add = ({ _id, key }: Json, offset: number) => {
		const [id, secret] = [textOf(_id), textOf(key)];
		const owner = owners.get(secret);
		const refuse = (reason: string) => moved.notMoved.push({ key: shortened(id), reason, offset });
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
	return naming(path, async () => {
		for (const record of readDump(await readDumpFile(path, maxSendersBytes))) {
			if ("document" in record) add(record.document, record.offset);
			else moved.notMoved.push(record);
		}
		return moved;
	});
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
	const { commit } = stored;
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
		...(commit?.changed ? ["", `commit ${commit.commit}`] : []),
		...(commit?.changed && commit.pullRequest ? [`pull request ${commit.pullRequest}`] : []),
	];
}

function countsOf(types: ReadonlyMap<string, number>): string {
	const parts = [...types].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, count]) => `${count} ${type}`);
	return parts.join(", ") || "none";
}
