import { randomBytes } from "node:crypto";
import { readFileSync, statSync, unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { readTextIfThere, replaceFile } from "../../store/files/files.ts";
import type { Log } from "../../store/store.ts";
import { type Environment, WrongError } from "../configuration.ts";
import { parseSenders, type Sender, senderNamesOf } from "../senders.ts";
import { makeDataDir } from "./data-dir.ts";
import { lockFolder } from "./lock.ts";

type SenderEntry = string | Record<string, unknown>;

export function sendersPath(dataDir: string): string {
	return join(dataDir, "senders.json");
}

export async function findSenders(env: Environment, dataDir: string) {
	const place = env.SENDERS ? "SENDERS" : sendersPath(dataDir);
	const text = env.SENDERS || (await readTextIfThere(place));
	return text === null ? null : { senders: parseSenders(text, place), place };
}

export const firstSender = "publisher";

/** Without senders, creates the file with one (`created`). @throws {Error} that never names a secret */
export async function readSenders(env: Environment, dataDir: string) {
	const existing = await findSenders(env, dataDir);
	if (existing) return { ...existing, created: null };
	await changeSenders(dataDir, (entries) => ({ [firstSender]: randomSecret(), ...entries }));
	return { senders: await readAllSenders(dataDir), place: sendersPath(dataDir), created: firstSender };
}

export async function readPublicNames(env: Environment, dataDir: string) {
	return senderNamesOf((await findSenders(env, dataDir))?.senders ?? new Map());
}

export function randomSecret(): string {
	return randomBytes(32).toString("base64url");
}

/**
 * One change at a time. `change` may throw.
 * @throws {Error} if the file is, or would become, invalid; it stays as it was
 */
export async function changeSenders(
	dataDir: string,
	change: (entries: Record<string, SenderEntry>) => Record<string, SenderEntry>,
): Promise<void> {
	const path = sendersPath(dataDir);
	await makeDataDir(dataDir);
	const lock = await lockFolder(dataDir, { name: "senders.lock", activity: "changes the senders" });
	try {
		const before = (await readTextIfThere(path)) ?? "{}";
		parseSenders(before, path);
		const after = `${JSON.stringify(change(JSON.parse(before)), null, 2)}\n`;
		parseSenders(after, path);
		await replaceFile(path, after);
	} finally {
		await lock.release();
	}
}

/** Null where other users may not read the file. */
export function warnOfReaders(place: string): string | null {
	const mode = place === "SENDERS" ? 0 : (statSync(place, { throwIfNoEntry: false })?.mode ?? 0);
	if ((mode & 0o077) === 0) return null;
	const shown = (mode & 0o777).toString(8).padStart(4, "0");
	return `${place}: has mode ${shown}, so that other users may read the secrets: chmod 600 ${place}`;
}

const checkEveryMs = 500;

/**
 * Applies each valid change of the file to `senders`.
 * @returns `state`: why it is not applied, in one line without its path
 */
export function followSenders(path: string, senders: Map<string, Sender>, log: Log) {
	let problem: string | null = null;
	const check = () => {
		try {
			const after = parseSenders(readFileSync(path, "utf8"), path);
			problem = null;
			if (isDeepStrictEqual(senders, after)) return;
			senders.clear();
			for (const [id, sender] of after) senders.set(id, sender);
			log.info({ senders: [...senders.keys()] });
		} catch (error) {
			const { code, message } = error as NodeJS.ErrnoException;
			const what = code === undefined ? "is not in order" : `cannot be read: ${code}`;
			const result = "the senders stay as they were";
			// `/readyz` is public, the log has the details.
			problem = `the senders file ${what}; ${result}`;
			log.warn(`${message}; ${result}`);
		}
	};
	watchFile(path, { interval: checkEveryMs, persistent: false }, check);
	// The file may have changed since it was read.
	check();
	return { state: () => problem, end: () => unwatchFile(path, check) };
}

/** Undefined members leave the file. */
export type SenderFields = Record<string, unknown>;

function entryOf(fields: SenderFields): SenderEntry {
	const { key, ...rest } = fields;
	const isAlone = Object.values(rest).every((value) => value === undefined);
	return isAlone && typeof key === "string" ? key : fields;
}

export async function addSender(dataDir: string, id: string, fields: SenderFields): Promise<void> {
	await changeSenders(dataDir, (entries) => {
		const how = `npx fragment-publisher sender change ${id} changes it`;
		if (Object.hasOwn(entries, id))
			throw new WrongError(`${sendersPath(dataDir)}: already has a sender ${id}; ${how}`);
		return { ...entries, [id]: entryOf({ key: randomSecret(), ...fields }) };
	});
}

/** @param change null removes the sender @throws {WrongError} if no sender has this id */
export async function changeSender(
	dataDir: string,
	id: string,
	change: (fields: SenderFields) => SenderFields | null,
): Promise<void> {
	await changeSenders(dataDir, (entries) => {
		const { [id]: entry, ...rest } = entries;
		if (!Object.hasOwn(entries, id) || entry === undefined) throw senderMissing(dataDir, id);
		const after = change(typeof entry === "string" ? { key: entry } : entry);
		return after ? { ...entries, [id]: entryOf(after) } : rest;
	});
}

function senderMissing(dataDir: string, id: string): WrongError {
	const how = "npx fragment-publisher sender list names them";
	return new WrongError(`${sendersPath(dataDir)}: has no sender ${id}; ${how}`);
}

export async function readAllSenders(dataDir: string): Promise<ReadonlyMap<string, Sender>> {
	const source = await findSenders({}, dataDir);
	if (source) return source.senders;
	const place = sendersPath(dataDir);
	throw new Error(`${place}: is missing; npm start or npx fragment-publisher sender add creates it`);
}

export async function readSender(dataDir: string, id: string): Promise<Sender> {
	const sender = (await readAllSenders(dataDir)).get(id);
	if (!sender) throw senderMissing(dataDir, id);
	return sender;
}
