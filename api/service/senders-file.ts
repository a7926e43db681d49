import { randomBytes } from "node:crypto";
import { readFileSync, statSync, unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { readTextIfThere, replaceFile } from "../../store/files/files.ts";
import type { Log } from "../../store/store.ts";
import type { Environment } from "../configuration.ts";
import { parseSenders, type Sender, type Senders } from "../senders.ts";
import { makeDataDir } from "./data-dir.ts";
import { lockFolder } from "./lock.ts";

/** With `key`. Undefined members leave the file. */
export type SenderFields = Record<string, unknown>;

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
	const senders = await changeSender(dataDir, firstSender, (fields) => fields ?? { key: randomSecret() });
	return { senders, place: sendersPath(dataDir), created: firstSender };
}

export function randomSecret(): string {
	return randomBytes(32).toString("base64url");
}

/** The file may have secrets in place of fields. */
export async function readEntries(path: string): Promise<Map<string, SenderFields>> {
	const text = (await readTextIfThere(path)) ?? "{}";
	parseSenders(text, path);
	const entries = Object.entries<SenderFields | string>(JSON.parse(text));
	return new Map(entries.map(([id, entry]) => [id, typeof entry === "string" ? { key: entry } : entry]));
}

/**
 * One change at a time. `change` may throw.
 * @returns all senders, as changed
 * @throws {Error} if the file is, or would become, invalid; it stays as it was
 */
export async function changeSenders(
	dataDir: string,
	change: (entries: Map<string, SenderFields>) => void,
): Promise<Senders> {
	const path = sendersPath(dataDir);
	await makeDataDir(dataDir);
	const lock = await lockFolder(dataDir, { name: "senders.lock", activity: "changes the senders" });
	try {
		const entries = await readEntries(path);
		change(entries);
		const after = `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
		const senders = parseSenders(after, path);
		await replaceFile(path, after);
		return senders;
	} finally {
		await lock.release();
	}
}

/** @param change gets null if no sender has this id; null removes it */
export function changeSender(
	dataDir: string,
	id: string,
	change: (fields: SenderFields | null) => SenderFields | null,
): Promise<Senders> {
	return changeSenders(dataDir, (entries) => {
		const after = change(entries.get(id) ?? null);
		if (after) entries.set(id, after);
		else entries.delete(id);
	});
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
