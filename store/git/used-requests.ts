import { appendFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import pLimit from "p-limit";
import { maxClockSkewMs, parseTimestamp } from "../../registry/sender.ts";
import { readTextIfThere, replaceFile } from "../files/files.ts";
import {
	declinedFolder,
	requestMemoryMs,
	reviewFolders,
	serviceIdentity,
	type UsedRequest,
} from "../store.ts";
import { listCommits, personText, readCommits, trailersOf } from "./commands/commits.ts";
import type { StoreBase } from "./writer.ts";

const minuteMs = 60_000;
const maxRanges = 64;

export type UsedRequests = Awaited<ReturnType<typeof openUsedRequests>>;

/**
 * Signed requests that have a final answer. Those that changed nothing are in a log, which is begun anew each minute, all others
 * in the trailers of commits. The times of forgotten requests are kept, so that none can be repeated if the clock is set back.
 */
export async function openUsedRequests({ repository, now }: StoreBase, tip: string) {
	const path = join(dirname(repository), "requests", "requests.log");
	const uses = new Map<string, UsedRequest>();
	const forgotten: [fromMs: number, toMs: number][] = [];
	/** The commit up to which all requests are noted. */
	let head = "";
	let begunMs = Number.NEGATIVE_INFINITY;
	const inOrder = pLimit(1);
	const isOld = () => Math.abs(now() - begunMs) > minuteMs;

	function note(added: readonly UsedRequest[]): void {
		for (const use of added) if (!uses.has(use.request)) uses.set(use.request, use);
	}

	function forget(ms: number): void {
		const near = forgotten.findIndex(([from, to]) => from - minuteMs <= ms && ms <= to + minuteMs);
		const [[from, to] = [ms, ms]] = near < 0 ? [] : forgotten.splice(near, 1);
		forgotten.push([Math.min(from, ms), Math.max(to, ms)]);
		forgotten.sort(([a], [b]) => a - b);
		if (forgotten.length <= maxRanges) return;
		// The earliest: a later one may be ahead of the clock, which once was wrong.
		const earliest = forgotten.splice(0, 2).flat();
		forgotten.unshift([Math.min(...earliest), Math.max(...earliest)]);
	}

	function begin(): string[] {
		begunMs = now();
		for (const { request, time } of uses.values()) {
			if (time + maxClockSkewMs > begunMs) continue;
			uses.delete(request);
			forget(Math.floor(time));
		}
		const ranges = forgotten.map((range) => `forgotten ${range.join(" ")}`);
		return [`head ${head}`, ...ranges, ...[...uses.values()].map(lineOf)];
	}

	const write = (added: readonly UsedRequest[]) =>
		inOrder(async () => {
			const lines = added.map(lineOf);
			try {
				if (isOld()) await replaceFile(path, [...begin(), ...lines, ""].join("\n"));
				else await appendFile(path, [...lines, ""].join("\n"), { flush: true });
			} catch (error) {
				// The last line may be incomplete.
				begunMs = Number.NEGATIVE_INFINITY;
				throw error;
			}
			note(added);
		});

	function noteCommitted(added: readonly UsedRequest[], to = head): void {
		note(added);
		head = to;
		// A full disk stops no change: the next write tries again.
		if (isOld()) write([]).catch(() => undefined);
	}

	/** Other processes may have brought commits, or an interrupted group may have made some. */
	async function readCommitted(to = head): Promise<void> {
		noteCommitted(await readRequests(repository, head, now()), to);
	}

	async function keep(added: readonly UsedRequest[]): Promise<void> {
		const first = added.filter(({ request }) => !uses.has(request));
		if (first.length > 0) await write(first);
	}

	await mkdir(dirname(path), { recursive: true });
	// A power cut may have cut the last line off.
	for (const line of ((await readTextIfThere(path)) ?? "").split("\n").slice(0, -1)) {
		const [word = "", first = "", second = "", time] = line.split(" ");
		const method = first === "?" ? "" : first;
		const outcome = second.length === 3 ? Number(second) : second;
		if (word === "head") head = first;
		else if (word === "forgotten") forgotten.push([Number(first), Number(second)]);
		else if (time) note([{ request: word, method, outcome, time: Number(time) }]);
	}
	await readCommitted(tip);
	const close = () => inOrder(() => undefined);
	await close();
	return {
		find: (request: string | null) => uses.get(request ?? ""),
		isForgotten: (ms: number) => forgotten.some(([from, to]) => from <= ms && ms < to + 1),
		noteCommitted,
		readCommitted,
		keep,
		close,
	};
}

/** `?` (earlier versions: nothing) is an unknown method. */
function lineOf({ request, method, outcome, time }: UsedRequest): string {
	return `${request} ${method || "?"} ${outcome} ${Math.floor(time)}`;
}

/** The hook refuses pushed commits that name the service as the committer. @param since empty: recent commits are read */
async function readRequests(repository: string, since: string, nowMs: number): Promise<UsedRequest[]> {
	const reviews = [...reviewFolders, declinedFolder].map((folder) => `--glob=refs/heads/${folder}`);
	const range = since ? `^${since}` : `--since=${Math.floor((nowMs - requestMemoryMs) / 1_000)}`;
	const ids = await listCommits(repository, ["--ignore-missing", ...reviews, "refs/heads/main", range]);
	const used: UsedRequest[] = [];
	for await (const { id, author, committer, message } of readCommits(repository, ids)) {
		if (personText(committer) !== serviceIdentity) continue;
		const time = parseTimestamp(trailersOf(message, "TimeStamp")[0] ?? "") ?? author.timeMs;
		for (const request of trailersOf(message, "Request"))
			used.push({ request, method: "", time, outcome: id });
	}
	return used;
}
