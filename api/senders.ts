import { matchesGlob } from "../registry/globs.ts";

/** A publisher that may write. */
export interface Sender {
	/** 1 to 64 of A-Z a-z 0-9 . _ -: it goes into commits. */
	id: string;
	/** Shared with the publisher; never logged. */
	secret: string;
	/** Globs of the smallkeys that it may change; null: all. */
	smallkeys: string[] | null;
	/** Whether its changes wait for a reviewer. */
	review: boolean;
}

/** Every sender by its id. */
export type Senders = ReadonlyMap<string, Sender>;

const senderPattern = /^[A-Za-z0-9._-]{1,64}$/;

/** Whether `id` may be a sender's id. */
export function isSenderId(id: string): boolean {
	return senderPattern.test(id);
}

/**
 * Reads the senders from the configuration's JSON: id → secret, or id → `{"key", "smallkeys", "review"}`.
 * @param place where the text stands, for the errors: `SENDERS` or the file's path
 * @throws {Error} that names the place and the rule, and never a secret
 */
export function parseSenders(text: string, place: string): Senders {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		throw new Error(`${place}: must be JSON`);
	}
	if (typeof value !== "object" || value === null || Array.isArray(value)) {
		throw new Error(`${place}: must be an object of sender id → secret`);
	}
	const senders = new Map(Object.entries(value).map(([id, entry]) => [id, parseSender(id, entry, place)]));
	const ids = new Map<string, string>();
	for (const { id, secret } of senders.values()) {
		const other = ids.get(secret);
		if (other !== undefined) throw new Error(`${place}: senders ${other} and ${id} must not share a secret`);
		ids.set(secret, id);
	}
	return senders;
}

function parseSender(id: string, entry: unknown, place: string): Sender {
	const where = `${place}: sender ${JSON.stringify(id)}`;
	if (!isSenderId(id)) throw new Error(`${where}: an id must be 1 to 64 of A-Z a-z 0-9 . _ -`);
	const fields = typeof entry === "string" ? { key: entry } : entry;
	if (typeof fields !== "object" || fields === null)
		throw new Error(`${where}: must be a secret or an object`);
	const { key, smallkeys = null, review = false, ...unknown } = fields as Record<string, unknown>;
	for (const name of Object.keys(unknown)) throw new Error(`${where}: ${name} is not a known member`);
	if (typeof key !== "string" || key === "") throw new Error(`${where}: the secret must not be empty`);
	if (typeof review !== "boolean") throw new Error(`${where}: review must be true or false`);
	return { id, secret: key, smallkeys: parseGlobs(smallkeys, where), review };
}

function parseGlobs(smallkeys: unknown, where: string): string[] | null {
	if (smallkeys === null) return null;
	const isList = Array.isArray(smallkeys) && smallkeys.every((glob) => typeof glob === "string");
	if (!isList) throw new Error(`${where}: smallkeys must be a list of globs`);
	return smallkeys as string[];
}

/** Whether a sender may change a smallkey. */
export function mayChange(sender: Sender, smallkey: string): boolean {
	return sender.smallkeys?.some((glob) => matchesGlob(glob, smallkey)) ?? true;
}
