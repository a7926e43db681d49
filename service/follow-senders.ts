import { readFile, stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { parseSenders, type Sender, type Senders } from "../api/senders.ts";
import type { Log } from "../store/log.ts";

/** How often the file is checked, in milliseconds: a change takes effect within a second. */
const lookEveryMs = 500;

export interface FollowedSenders {
	path: string;
	/** The present senders, which are changed in place, all at once. */
	senders: Map<string, Sender>;
	/** Logs each change, and each invalid file, which changes nothing. */
	log: Log;
}

/** Senders that are kept as their file says. */
export interface FollowingSenders {
	/** Why the file is not followed, in one line without its path; null where it is. */
	state(): string | null;
	end(): void;
}

/** Keeps the senders as their file says. */
export function followSenders({ path, senders, log }: FollowedSenders): FollowingSenders {
	let seen = "";
	let looking = false;
	let problem: string | null = null;
	const look = async () => {
		if (looking) return;
		looking = true;
		try {
			const now = await stampOf(path);
			if (now === seen) return;
			seen = now;
			apply(parseSenders(await readFile(path, "utf8"), path), senders, log);
			problem = null;
		} catch (error) {
			problem = problemOf(error);
			log.info({
				senders: senders.size,
				warning: `${(error as Error).message}; the senders stay as they were`,
			});
		} finally {
			looking = false;
		}
	};
	const timer = setInterval(look, lookEveryMs).unref();
	void look();
	return { state: () => problem, end: () => clearInterval(timer) };
}

/** What `/readyz` says to anybody: the log has the path and what is wrong. */
function problemOf(error: unknown): string {
	const { code } = error as NodeJS.ErrnoException;
	const what = code === undefined ? "is not in order" : `cannot be read: ${code}`;
	return `the senders file ${what}; the senders stay as they were`;
}

/** A stamp that differs after each change of a file. */
async function stampOf(path: string): Promise<string> {
	const found = await stat(path, { bigint: true }).catch(() => null);
	return found ? `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}` : "absent";
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
