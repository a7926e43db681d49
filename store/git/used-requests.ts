import { type FileHandle, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { maxClockSkewMs, parseTimestamp } from "../../registry/timestamp.ts";
import { readTextIfThere } from "../files/if-there.ts";
import { declinedFolder, reviewFolders, serviceIdentity, type UsedRequest } from "../store.ts";
import { branchName, type StoreBase } from "./base.ts";
import { listCommits, personText, readCommits, trailersOf } from "./commands/commits.ts";
import { GitTimeout } from "./commands/run.ts";

/** First and last moment, in milliseconds since 1970. */
type TimeRange = readonly [fromMs: number, toMs: number];

/** The log is written anew after so many milliseconds. */
const periodMs = 60_000;

/** The highest number of ranges of forgotten times. */
const maxRanges = 64;

/** The name of the log. Earlier versions numbered it: `000001.log`. */
const logName = "requests.log";
/** `<request> <method> <outcome> <time>`; earlier versions wrote one more field. */
const usePattern = /^([0-9a-f]{64}) (\S+) (\d{3}|[0-9a-f]{40,64}) (\d{13,})(?: \d+)?$/;
/** `forgotten <fromMs> <toMs>`: requests that were signed in this range are forgotten. */
const forgottenPattern = /^forgotten (-?\d+) (-?\d+)$/;
/** `head <commit>`: commits after this one carry out requests that the log does not have. */
const headPattern = /^head ([0-9a-f]{40,64})$/;

/**
 * Remembers signed requests that have a final answer, so that an attacker cannot repeat one. A request is forgotten once
 * its timestamp is too old to be accepted. The ranges of forgotten times are kept: if the clock is set back, no request
 * becomes usable again. A log on the disk has the requests that changed nothing; the commits have all others, in their
 * trailer `Request`. At each start, and after a minute, the log is replaced by one with the whole state.
 */
export type UsedRequests = Awaited<ReturnType<typeof openUsedRequests>>;

/**
 * Opens the log of earlier processes, which is in `requests` beside the repository, and reads the later commits.
 * @param tip the last commit of the branch
 * @throws {Error} if the log cannot be read
 */
export async function openUsedRequests(
	{ repository, now, sync }: Pick<StoreBase, "repository" | "now" | "sync">,
	tip: string,
	requestsSince = readRequests,
) {
	const folder = join(dirname(repository), "requests");
	/** In the order of their first use. Fractions of their times are dropped. */
	const uses = new Map<string, UsedRequest>();
	let forgotten: TimeRange[] = [];
	/** The log. Null: its last line may be incomplete, and it has to be replaced. */
	let file: FileHandle | null = null;
	let begunMs = Number.NEGATIVE_INFINITY;
	/** The last commit whose requests are remembered. */
	let head: string | null = null;
	/** The uses for the next write; that write, if it waits; and the last write, which never rejects here. */
	let unwritten: UsedRequest[] = [];
	let next: Promise<void> | null = null;
	let written: Promise<void> = Promise.resolve();

	/** The use of a request; null if it was not used, or is forgotten. */
	const find = (request: string) => uses.get(request) ?? null;

	/** Whether requests that were signed at this time are forgotten: they may have been used. */
	function isForgotten(timeMs: number): boolean {
		const wholeMs = Math.floor(timeMs);
		return forgotten.some(([from, to]) => from <= wholeMs && wholeMs <= to);
	}

	/**
	 * Remembers requests whose commits are on a branch.
	 * @param to a commit of the served branch: all requests of its history are remembered now
	 */
	function noteCommitted(added: readonly UsedRequest[], to = head): void {
		note(added);
		head = to;
		// The log does not need them, but a new one forgets old requests.
		if (file && isLogOld()) write([]).catch(() => undefined);
	}

	/**
	 * Remembers the requests of commits that are not noted yet, such as those of a push.
	 * @param to a commit of the served branch: all requests of its history are remembered now
	 */
	async function readCommitted(to = head): Promise<void> {
		noteCommitted(await requestsSince(repository, head), to);
	}

	/**
	 * Remembers requests that changed nothing: they are on the disk when this resolves. The first use of a request stays.
	 * @throws {Error} if they cannot be written; they are not remembered then
	 */
	async function keep(added: readonly UsedRequest[]): Promise<void> {
		const first = added.filter(({ request }) => !uses.has(request));
		if (first.length > 0) await write(first);
	}

	/** Waits for the last write, and closes the log. */
	async function close(): Promise<void> {
		await written;
		await file?.close();
		file = null;
	}

	function note(added: readonly UsedRequest[]): void {
		for (const { request, method, time, outcome } of added)
			if (!uses.has(request)) uses.set(request, { request, method, time: Math.floor(time), outcome });
	}

	const isLogOld = () => Math.abs(now() - begunMs) > periodMs;

	async function load(names: readonly string[]): Promise<void> {
		for (const name of names) {
			// The text after the last line break is an incomplete line.
			for (const line of ((await readTextIfThere(join(folder, name))) ?? "").split("\n").slice(0, -1)) {
				const [, request, named, text = "", time] = usePattern.exec(line) ?? [];
				const method = named === "?" ? "" : (named ?? "");
				const outcome = text.length === 3 ? Number(text) : text;
				if (request) note([{ request, method, time: Number(time), outcome }]);
				const [, from, to] = forgottenPattern.exec(line) ?? [];
				if (from) forgotten.push([Number(from), Number(to)]);
				head = headPattern.exec(line)?.[1] ?? head;
			}
		}
	}

	/** Forgets the requests whose timestamps are too old to be accepted. */
	function forget(): void {
		const old = [...uses.values()].filter(({ time }) => time + maxClockSkewMs <= now());
		for (const { request } of old) uses.delete(request);
		const times = old.map(({ time }) => [time, time] as const);
		forgotten = joinRanges([...forgotten, ...joinWithin(times, periodMs)]);
	}

	/** Writes uses to the disk, and then remembers them. Calls during a write share the next one. */
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
		try {
			if (!file || isLogOld()) await replaceLog(added);
			else await append(file, added.map(lineOf));
		} catch (error) {
			await file?.close().catch(() => undefined);
			file = null;
			throw error;
		}
		note(added);
	}

	/** Replaces the log by one with all remembered uses and with new ones. */
	async function replaceLog(added: readonly UsedRequest[]): Promise<void> {
		forget();
		begunMs = now();
		const lines = [
			...forgotten.map(([from, to]) => `forgotten ${from} ${to}`),
			...(head === null ? [] : [`head ${head}`]),
			...[...uses.values(), ...added].map(lineOf),
		];
		await file?.close();
		file = await open(join(folder, "new"), "w", 0o600);
		await append(file, lines);
		await rename(join(folder, "new"), join(folder, logName));
		await sync(folder);
		for (const name of earlier.splice(0)) await rm(join(folder, name), { force: true });
	}

	await mkdir(folder, { recursive: true });
	/** Names of the logs of earlier versions. */
	const earlier = (await readdir(folder)).filter((name) => /^\d+\.log$/.test(name)).sort();
	await load([...earlier, logName]);
	await readCommitted(tip);
	// The service also starts on a full disk; the next write retries.
	await write([]).catch(() => undefined);
	return { find, isForgotten, noteCommitted, readCommitted, keep, close };
}

/** In a line, `?` is a method that is not known. */
function lineOf({ request, method, time, outcome }: UsedRequest): string {
	return `${request} ${method || "?"} ${outcome} ${Math.floor(time)}`;
}

async function append(file: FileHandle, lines: readonly string[]): Promise<void> {
	await file.appendFile(lines.map((line) => `${line}\n`).join(""), "latin1");
	await file.datasync();
}

/** Joins ranges that overlap or touch, and sorts them. If there are more than `max`, it joins the nearest ones, too. */
export function joinRanges(ranges: readonly TimeRange[], max = maxRanges): TimeRange[] {
	const joined = joinWithin(ranges, 1);
	const gaps = joined.slice(1).map(([from], at) => from - (joined[at] as TimeRange)[1]);
	const narrow = gaps.sort((a, b) => b - a)[max - 1];
	return narrow === undefined ? joined : joinWithin(joined, narrow);
}

/** @param gap the longest time between two ranges that are joined */
function joinWithin(ranges: readonly TimeRange[], gap: number): TimeRange[] {
	const joined: [number, number][] = [];
	for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
		const last = joined.at(-1);
		if (last && from <= last[1] + gap) last[1] = Math.max(last[1], to);
		else joined.push([from, to]);
	}
	return joined;
}

/** The highest number of commits whose requests are read. */
const maxRequests = 100_000;

/**
 * Reads the signed requests that the service's own commits carry out, each with its commit: on the branch, and on the
 * branches of waiting and declined reviews. A pusher can write the same trailer, but cannot name the service as the
 * committer: the hook refuses that.
 * @param since only commits outside the history of this commit are read; null or a missing commit: the newest commits
 * @throws {GitTimeout} if git does not answer
 */
async function readRequests(repository: string, since: string | null): Promise<UsedRequest[]> {
	const folders = [...reviewFolders, declinedFolder].map((folder) => `--glob=refs/heads/${folder}`);
	const refs = [...folders, `refs/heads/${branchName}`, ...(since === null ? [] : [`^${since}`])];
	const args = ["--ignore-missing", `--max-count=${maxRequests}`, ...refs];
	const ids = await listCommits(repository, args).catch((error) => {
		if (error instanceof GitTimeout) throw error;
		return [];
	});
	const uses: UsedRequest[] = [];
	for await (const { id, author, committer, message } of readCommits(repository, ids)) {
		if (personText(committer) !== serviceIdentity) continue;
		const time = parseTimestamp(trailersOf(message, "TimeStamp")[0] ?? "") ?? author.timeMs;
		for (const request of trailersOf(message, "Request"))
			uses.push({ request, method: "", time, outcome: id });
	}
	return uses;
}
