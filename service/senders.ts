import { readFile } from "node:fs/promises";
import { parseSenders, type Sender } from "../api/senders.ts";
import { WrongError } from "../terminal/command-line.ts";
import { changeSenders, randomSecret, type SenderEntry, sendersPath } from "./senders-file.ts";

/** Changes of a sender; undefined members are kept. */
export interface SenderChange {
	/** Globs, or all layers. */
	smallkeys?: string[] | "all" | undefined;
	review?: boolean | undefined;
	contact?: string | undefined;
	name?: string | undefined;
}

type Fields = Record<string, unknown>;

/** The shortest form of an entry: only the secret if nothing else is set. */
function entryOf(fields: Fields): SenderEntry {
	const { key, ...rest } = fields;
	return Object.keys(rest).length === 0 && typeof key === "string" ? key : fields;
}

function applyChange(fields: Fields, { smallkeys, review, contact, name }: SenderChange): Fields {
	const after = { ...fields };
	if (smallkeys === "all") delete after.smallkeys;
	else if (smallkeys) after.smallkeys = smallkeys;
	if (review === true) after.review = true;
	if (review === false) delete after.review;
	if (contact !== undefined) after.contact = contact;
	if (name !== undefined) after.name = name;
	return after;
}

/** Adds a sender with a random secret. @throws {WrongError} if the id exists */
export async function addSender(dataDir: string, id: string, change: SenderChange): Promise<void> {
	await changeSenders(dataDir, (entries) => {
		if (Object.hasOwn(entries, id)) throw knownSender(dataDir, id);
		return { ...entries, [id]: entryOf(applyChange({ key: randomSecret() }, change)) };
	});
}

/** Changes an entry of the file; null removes it. @throws {WrongError} if there is no such sender */
async function changeEntry(
	dataDir: string,
	id: string,
	change: (fields: Fields) => Fields | null,
): Promise<void> {
	await changeSenders(dataDir, (entries) => {
		const { [id]: entry, ...others } = entries;
		if (!Object.hasOwn(entries, id) || entry === undefined) throw unknownSender(dataDir, id);
		const after = change(typeof entry === "string" ? { key: entry } : entry);
		return after ? { ...entries, [id]: entryOf(after) } : others;
	});
}

/** Changes a sender's rights or data. @throws {WrongError} if there is no such sender */
export async function changeSender(dataDir: string, id: string, change: SenderChange): Promise<void> {
	await changeEntry(dataDir, id, (fields) => applyChange(fields, change));
}

/**
 * Gives a sender a new random secret.
 * @param until when the previous secret expires; null: immediately
 * @throws {WrongError} if there is no such sender
 */
export async function rotateSender(dataDir: string, id: string, until: Date | null): Promise<void> {
	await changeEntry(dataDir, id, ({ key, previous_key: _key, previous_key_until: _until, ...rest }) => {
		const previous = until === null ? {} : { previous_key: key, previous_key_until: until.toISOString() };
		return { key: randomSecret(), ...previous, ...rest };
	});
}

/** Removes a sender. @throws {WrongError} if there is no such sender */
export async function removeSender(dataDir: string, id: string): Promise<void> {
	await changeEntry(dataDir, id, () => null);
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
