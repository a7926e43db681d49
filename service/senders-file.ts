import { randomBytes } from "node:crypto";
import { readFileSync, unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseSenders, type Sender, type Senders } from "../api/senders.ts";
import { senderNamesOf } from "../catalogue/options.ts";
import { readTextIfThere } from "../files/if-there.ts";
import { replaceFile } from "../files/replace-file.ts";
import type { Log } from "../store/log.ts";
import { lockFolder, makeDataDir } from "./data-dir.ts";
import type { Environment } from "./settings.ts";

/** The senders, and where they were read from. */
export interface ConfiguredSenders {
	senders: Senders;
	/** `SENDERS`, or the file's path. */
	place: string;
	/** Id of the sender that was just created, or null. */
	created: string | null;
}

/** A sender in the file: its secret, or an object (`parseSenders`). */
export type SenderEntry = string | Record<string, unknown>;

/** Path of the senders file in a data folder. */
export function sendersPath(dataDir: string): string {
	return join(dataDir, "senders.json");
}

const firstSender = "publisher";

/**
 * Reads the senders from `SENDERS`, otherwise from the senders file. If there is no file, it is created with one sender
 * and a random secret.
 * @throws {Error} that names the place and the rule, and never a secret
 */
export async function readSenders(env: Environment, dataDir: string): Promise<ConfiguredSenders> {
	if (env.SENDERS) return { senders: parseVariable(env.SENDERS), place: "SENDERS", created: null };
	const place = sendersPath(dataDir);
	const known = await readFileOf(dataDir);
	if (known) return { senders: known, place, created: null };
	await changeSenders(dataDir, (entries) => ({ [firstSender]: randomSecret(), ...entries }));
	return { senders: (await readFileOf(dataDir)) ?? new Map(), place, created: firstSender };
}

/** Reads the public names: sender id → name; empty if there is neither the setting nor the file. */
export async function readPublicNames(env: Environment, dataDir: string) {
	const senders = env.SENDERS ? parseVariable(env.SENDERS) : await readFileOf(dataDir);
	return senderNamesOf(senders ?? new Map());
}

/** Reads the senders of the file; null if it does not exist. */
async function readFileOf(dataDir: string): Promise<Senders | null> {
	const text = await readTextIfThere(sendersPath(dataDir));
	return text === null ? null : parseSenders(text, sendersPath(dataDir));
}

function parseVariable(text: string): Senders {
	if (!text.trimStart().startsWith("{") && /[/\\]|\.json$/.test(text)) {
		throw new Error(
			"SENDERS: must be the JSON itself, and looks like the path of a file. Leave it unset, and DATA_DIR/senders.json is read",
		);
	}
	return parseSenders(text, "SENDERS");
}

/** A secret of 32 random bytes: 43 characters. */
export function randomSecret(): string {
	return randomBytes(32).toString("base64url");
}

/**
 * Changes the senders file atomically, one change at a time.
 * @param change returns the new entries, or throws to refuse
 * @throws {Error} if the file is invalid, or would become so; the file is unchanged then
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

/** How often the file is checked, in milliseconds: a change takes effect within a second. */
const checkEveryMs = 500;

/**
 * Watches the senders file, and applies its changes.
 * @param senders the current senders, which are replaced in place, all at once
 * @param log gets each change, and a warning for an invalid file, which changes nothing
 * @returns `state`: why the file cannot be applied, in one line without its path; null if it is applied
 */
export function followSenders(path: string, senders: Map<string, Sender>, log: Log) {
	let problem: string | null = null;
	const check = () => {
		try {
			apply(parseSenders(readFileSync(path, "utf8"), path), senders, log);
			problem = null;
		} catch (error) {
			problem = problemOf(error);
			const warning = `${(error as Error).message}; the senders stay as they were`;
			log.info({ senders: senders.size, warning });
		}
	};
	watchFile(path, { interval: checkEveryMs, persistent: false }, check);
	// For a change after the senders were read, and before the file was watched.
	const first = setTimeout(check, checkEveryMs).unref();
	const end = () => {
		clearTimeout(first);
		unwatchFile(path, check);
	};
	return { state: () => problem, end };
}

/** The text for `/readyz`, which is public. Only the log has the path and the details. */
function problemOf(error: unknown): string {
	const { code } = error as NodeJS.ErrnoException;
	const what = code === undefined ? "is not in order" : `cannot be read: ${code}`;
	return `the senders file ${what}; the senders stay as they were`;
}

function apply(after: Senders, senders: Map<string, Sender>, log: Log): void {
	const added = [...after.keys()].filter((id) => !senders.has(id));
	const removed = [...senders.keys()].filter((id) => !after.has(id));
	const changed = [...after.values()].filter(({ id }) => {
		return senders.has(id) && !isDeepStrictEqual(senders.get(id), after.get(id));
	});
	if (added.length + removed.length + changed.length === 0) return;
	senders.clear();
	for (const [id, sender] of after) senders.set(id, sender);
	log.info({ senders: senders.size, added, removed, changed: changed.map(({ id }) => id) });
}
