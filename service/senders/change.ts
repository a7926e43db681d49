import { WrongError } from "../../terminal/command-line.ts";
import { changeSenders, randomSecret, type SenderEntry, sendersPath } from "../senders-file.ts";

/** Changes of a sender; undefined members are kept. */
export interface SenderChange {
	/** Globs, or all layers. */
	smallkeys?: string[] | "all" | undefined;
	review?: boolean | undefined;
	contact?: string | undefined;
	name?: string | undefined;
}

type Fields = Record<string, unknown>;

function fieldsOf(entry: SenderEntry): Fields {
	return typeof entry === "string" ? { key: entry } : { ...entry };
}

/** The shortest form of an entry: only the secret, where nothing else is set. */
function entryOf(fields: Fields): SenderEntry {
	const { key, ...rest } = fields;
	return Object.keys(rest).length === 0 && typeof key === "string" ? key : fields;
}

function changed(fields: Fields, { smallkeys, review, contact, name }: SenderChange): Fields {
	const after = { ...fields };
	if (smallkeys === "all") delete after.smallkeys;
	else if (smallkeys) after.smallkeys = smallkeys;
	if (review === true) after.review = true;
	if (review === false) delete after.review;
	if (contact !== undefined) after.contact = contact;
	if (name !== undefined) after.name = name;
	return after;
}

/** Adds a sender with a random secret. @throws {WrongError} where the id exists */
export async function addSender(dataDir: string, id: string, change: SenderChange): Promise<void> {
	await changeSenders(dataDir, (entries) => {
		if (Object.hasOwn(entries, id))
			throw new WrongError(`${sendersPath(dataDir)}: already has a sender ${id}`);
		return { ...entries, [id]: entryOf(changed({ key: randomSecret() }, change)) };
	});
}

/** Changes one entry of the file. @throws {WrongError} where there is no such sender */
async function changeEntry(dataDir: string, id: string, change: (fields: Fields) => Fields): Promise<void> {
	await changeSenders(dataDir, (entries) => {
		const entry = Object.hasOwn(entries, id) ? entries[id] : undefined;
		if (entry === undefined) throw unknownSender(dataDir, id);
		return { ...entries, [id]: entryOf(change(fieldsOf(entry))) };
	});
}

/** Changes a sender's rights or data. @throws {WrongError} where there is no such sender */
export async function changeSender(dataDir: string, id: string, change: SenderChange): Promise<void> {
	await changeEntry(dataDir, id, (fields) => changed(fields, change));
}

/**
 * Gives a sender a new random secret.
 * @param until when the previous secret expires; null: at once
 * @throws {WrongError} where there is no such sender
 */
export async function rotateSender(dataDir: string, id: string, until: Date | null): Promise<void> {
	await changeEntry(dataDir, id, ({ key, previous_key: _key, previous_key_until: _until, ...rest }) => {
		const previous = until === null ? {} : { previous_key: key, previous_key_until: until.toISOString() };
		return { key: randomSecret(), ...previous, ...rest };
	});
}

/** Removes a sender. @throws {WrongError} where there is no such sender */
export async function removeSender(dataDir: string, id: string): Promise<void> {
	await changeSenders(dataDir, (entries) => {
		if (!Object.hasOwn(entries, id)) throw unknownSender(dataDir, id);
		const { [id]: _removed, ...others } = entries;
		return others;
	});
}

/** The error about an unknown id. */
export function unknownSender(dataDir: string, id: string): WrongError {
	return new WrongError(`${sendersPath(dataDir)}: has no sender ${id}; npx fragments sender list names them`);
}
