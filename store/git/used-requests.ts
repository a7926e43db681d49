import { appendFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { maxClockSkewMs, parseTimestamp } from "../../registry/timestamp.ts";
import { readTextIfThere } from "../files/if-there.ts";
import { replaceFile } from "../files/replace-file.ts";
import { declinedFolder, reviewFolders, serviceIdentity, type UsedRequest } from "../store.ts";
import { branchName, type StoreBase } from "./base.ts";
import { personText, readCommits, trailersOf } from "./commands/commits.ts";
import { gitText } from "./commands/run.ts";

type TimeRange = [fromMs: number, toMs: number];

/** The log is begun anew after so many milliseconds. */
const periodMs = 60_000;
const maxRanges = 64;

/** `<request> <method> <outcome> <time>`, where `?` is an unknown method; `forgotten <fromMs> <toMs>`; `head <commit>`. */
const linePattern =
	/^(?:([0-9a-f]{64}) (\S+) (\d{3}|[0-9a-f]{40,64}) (\d{13,})|forgotten (-?\d+) (-?\d+)|head ([0-9a-f]{40,64}))$/;

/**
 * Signed requests that have a final answer, so that nobody can repeat one. A request is forgotten once its timestamp is
 * too old to be accepted. The ranges of forgotten times are kept: if the clock is set back, no request becomes usable.
 */
export type UsedRequests = Awaited<ReturnType<typeof openUsedRequests>>;

/**
 * Reads the requests of earlier processes: from a log beside the repository those that changed nothing, and all others
 * from the trailers of commits.
 * @param tip the last commit of the branch
 * @throws {Error} if the log or the commits cannot be read
 */
export async function openUsedRequests(
	{ repository, now }: Pick<StoreBase, "repository" | "now">,
	tip: string,
) {
	const path = join(dirname(repository), "requests", "requests.log");
	const uses = new Map<string, UsedRequest>();
	let forgotten: TimeRange[] = [];
	/** The commit up to which all requests are remembered. */
	let head: string | null = null;
	let begunMs = Number.NEGATIVE_INFINITY;
	let unwritten: UsedRequest[] = [];
	let next: Promise<void> | null = null;
	let written: Promise<void> = Promise.resolve();
	const isOld = () => Math.abs(now() - begunMs) > periodMs;

	function note(added: readonly UsedRequest[]): void {
		for (const use of added)
			if (!uses.has(use.request)) uses.set(use.request, { ...use, time: Math.floor(use.time) });
	}

	/** Remembers requests whose commits are on a branch. @param to see `head` */
	function noteCommitted(added: readonly UsedRequest[], to = head): void {
		note(added);
		head = to;
		if (isOld()) write([]).catch(() => undefined);
	}

	/** Writes requests that changed nothing to the disk, and then remembers them. @throws {Error} if that fails */
	async function keep(added: readonly UsedRequest[]): Promise<void> {
		const first = added.filter(({ request }) => !uses.has(request));
		if (first.length > 0) await write(first);
	}

	/** Calls during a write share the next one. */
	function write(added: readonly UsedRequest[]): Promise<void> {
		unwritten.push(...added);
		next ??= written.then(() => {
			const batch = unwritten;
			[unwritten, next] = [[], null];
			return writeNow(batch);
		});
		written = next.catch(() => undefined);
		return next;
	}

	async function writeNow(added: readonly UsedRequest[]): Promise<void> {
		const lines = added.map((use) => `${lineOf(use)}\n`);
		try {
			if (isOld()) await replaceFile(path, [...state(), ...lines].join(""));
			else await appendFile(path, lines.join(""), { flush: true });
		} catch (error) {
			// The last line may be incomplete.
			begunMs = Number.NEGATIVE_INFINITY;
			throw error;
		}
		note(added);
	}

	/** Forgets the requests that are too old. @returns the lines of a new log */
	function state(): string[] {
		begunMs = now();
		const old = [...uses.values()].filter(({ time }) => time + maxClockSkewMs <= begunMs);
		for (const { request } of old) uses.delete(request);
		const times = old.map(({ time }): TimeRange => [time, time]);
		forgotten = joinRanges([...forgotten, ...joinRanges(times, periodMs)], 1);
		const ranges = forgotten.map(([from, to]) => `forgotten ${from} ${to}`);
		return [...ranges, `head ${head}`, ...[...uses.values()].map(lineOf)].map((line) => `${line}\n`);
	}

	await mkdir(dirname(path), { recursive: true });
	for (const line of ((await readTextIfThere(path)) ?? "").split("\n")) {
		const [, request, word = "", text = "", time, from, to, commit] = linePattern.exec(line) ?? [];
		const method = word === "?" ? "" : word;
		const outcome = text.length === 3 ? Number(text) : text;
		if (request) note([{ request, method, outcome, time: Number(time) }]);
		if (from) forgotten.push([Number(from), Number(to)]);
		head = commit ?? head;
	}
	note(await readRequests(repository, head, now()));
	head = tip;
	// The service also starts on a full disk; the next write retries.
	await write([]).catch(() => undefined);
	return {
		find: (request: string) => uses.get(request) ?? null,
		/** Whether requests that were signed at this time are forgotten: they may have been used. */
		isForgotten: (ms: number) =>
			forgotten.some(([from, to]) => from <= Math.floor(ms) && Math.floor(ms) <= to),
		...{ noteCommitted, keep },
		/** Remembers the requests of commits that other processes have brought. */
		readCommitted: async (to = head) => noteCommitted(await readRequests(repository, head, now()), to),
		/** Waits for the last write. */
		close: () => written,
	};
}

function lineOf({ request, method, outcome, time }: UsedRequest): string {
	return `${request} ${method || "?"} ${outcome} ${Math.floor(time)}`;
}

/** Joins ranges with at most `gapMs` between them; with a larger gap if there are too many. */
function joinRanges(ranges: readonly TimeRange[], gapMs: number): TimeRange[] {
	const joined: TimeRange[] = [];
	for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
		const last = joined.at(-1);
		if (last && from <= last[1] + gapMs) last[1] = Math.max(last[1], to);
		else joined.push([from, to]);
	}
	return joined.length > maxRanges ? joinRanges(joined, 2 * gapMs) : joined;
}

/** Without a log, the commits of so many milliseconds are read: longer than a signature is valid. */
const recentMs = 600_000;

/**
 * Reads the signed requests of the service's own commits, on the branch and on those of reviews. A pusher can write the
 * same trailer, but cannot name the service as the committer: the hook refuses that.
 * @param since only commits outside the history of this commit are read; null: the recent ones
 */
async function readRequests(repository: string, since: string | null, nowMs: number): Promise<UsedRequest[]> {
	const refs = [...reviewFolders, declinedFolder].map((folder) => `--glob=refs/heads/${folder}`);
	const range = [...refs, `refs/heads/${branchName}`, ...(since ? [`^${since}`] : [])];
	const output = await gitText(repository, ["rev-list", "--timestamp", "--ignore-missing", ...range]);
	const lines = output.split("\n").map((line) => line.split(" "));
	const recent = lines.filter(([seconds]) => since || Number(seconds) * 1_000 > nowMs - recentMs);
	const used: UsedRequest[] = [];
	for await (const { id, author, committer, message } of readCommits(
		repository,
		recent.flatMap(([, id]) => id ?? []),
	)) {
		if (personText(committer) !== serviceIdentity) continue;
		const time = parseTimestamp(trailersOf(message, "TimeStamp")[0] ?? "") ?? author.timeMs;
		for (const request of trailersOf(message, "Request"))
			used.push({ request, method: "", time, outcome: id });
	}
	return used;
}
