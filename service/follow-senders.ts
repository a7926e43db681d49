import { readFileSync, unwatchFile, watchFile } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { parseSenders, type Sender, type Senders } from "../api/senders.ts";
import type { Log } from "../store/log.ts";

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
