import { readFile } from "node:fs/promises";
import { parseSenders, type Sender } from "../api/senders.ts";
import { WrongError } from "../system/terminal/command-line.ts";
import { changeSenders, randomSecret, type SenderEntry, sendersPath } from "./senders-file.ts";

/** Members of a sender, in the order that the file has them. The file does not get a member that is undefined. */
export type SenderFields = Record<string, unknown>;

/** The shortest form of an entry: only the secret if nothing else is set. */
function entryOf(fields: SenderFields): SenderEntry {
	const { key, ...rest } = fields;
	const isAlone = Object.values(rest).every((value) => value === undefined);
	return isAlone && typeof key === "string" ? key : fields;
}

/** Adds a sender with a random secret. @throws {WrongError} if the id exists */
export async function addSender(dataDir: string, id: string, fields: SenderFields): Promise<void> {
	await changeSenders(dataDir, (entries) => {
		if (Object.hasOwn(entries, id)) throw knownSender(dataDir, id);
		return { ...entries, [id]: entryOf({ key: randomSecret(), ...fields }) };
	});
}

/**
 * Changes or removes a sender.
 * @param change gets its members, and returns the new ones; null removes the sender
 * @throws {WrongError} if there is no such sender
 */
export async function changeSender(
	dataDir: string,
	id: string,
	change: (fields: SenderFields) => SenderFields | null,
): Promise<void> {
	await changeSenders(dataDir, (entries) => {
		const { [id]: entry, ...others } = entries;
		if (!Object.hasOwn(entries, id) || entry === undefined) throw unknownSender(dataDir, id);
		const after = change(typeof entry === "string" ? { key: entry } : entry);
		return after ? { ...entries, [id]: entryOf(after) } : others;
	});
}

export function knownSender(dataDir: string, id: string): WrongError {
	return new WrongError(
		`${sendersPath(dataDir)}: already has a sender ${id}; npx fragments sender change ${id} changes it`,
	);
}

function unknownSender(dataDir: string, id: string): WrongError {
	return new WrongError(`${sendersPath(dataDir)}: has no sender ${id}; npx fragments sender list names them`);
}

/** Reads the senders of the file. @throws {Error} if it cannot be read */
export async function allSenders(dataDir: string): Promise<ReadonlyMap<string, Sender>> {
	const place = sendersPath(dataDir);
	const text = await readFile(place, "utf8").catch((error: Error) => {
		throw new Error(`${place}: cannot be read; npm start or npx fragments sender add creates it`, {
			cause: error,
		});
	});
	return parseSenders(text, place);
}

/** Reads one sender of the file. @throws {WrongError} if there is no such sender */
export async function oneSender(dataDir: string, id: string): Promise<Sender> {
	const sender = (await allSenders(dataDir)).get(id);
	if (!sender) throw unknownSender(dataDir, id);
	return sender;
}

function layersOf({ smallkeys }: Sender): string {
	return smallkeys === null ? "all layers" : smallkeys.join(" ") || "no layer";
}

/** A line for each sender, without its secret. */
export function listLines(senders: readonly Sender[]): string[] {
	const width = Math.max(0, ...senders.map(({ id }) => id.length)) + 2;
	return senders.map((sender) => {
		const { id, review, previous, contact } = sender;
		const parts = [layersOf(sender), review && "with review", previous && "two secrets", contact];
		return `${id.padEnd(width)}${parts.filter(Boolean).join(", ")}`;
	});
}

/** The data of a sender in lines, without its secret. @param place where the secret is */
export function senderLines(sender: Sender, place: string): string[] {
	const { id, review, previous, name, contact } = sender;
	const until = previous?.until?.toISOString() ?? "it is removed from the file";
	return [
		`id         ${id}`,
		`layers     ${layersOf(sender)}`,
		`review     ${review ? "its changes wait for a reviewer" : "no"}`,
		`secret     in ${place}${previous ? `; the previous one is valid until ${until}` : ""}`,
		...(name ? [`name       ${typeof name === "string" ? name : `${name.en} · ${name.fr}`}`] : []),
		...(contact ? [`contact    ${contact}`] : []),
	];
}
