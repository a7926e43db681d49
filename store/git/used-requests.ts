import { appendFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
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

/** `<request> <method> <outcome> <time>`, where `?` (earlier versions: nothing) is an unknown method; `forgotten <fromMs> <toMs>`; or `head <commit>`. */
const linePattern = /^(?:(\w{64}) (\S*) (\w+) (\d+)|forgotten (-?\d+) (-?\d+)|head (\w{40,64}))$/;

export type UsedRequests = Awaited<ReturnType<typeof openUsedRequests>>;

/**
 * Signed requests that have a final answer. Those that changed nothing are in a log, which is begun anew each minute, all others
 * in the trailers of commits. The times of forgotten requests are kept, so that none can be repeated if the clock is set back.
 */
export async function openUsedRequests(
	{ repository, now }: Pick<StoreBase, "repository" | "now">,
	tip: string,
) {
	const path = join(dirname(repository), "requests", "requests.log");
	const uses = new Map<string, UsedRequest>();
	const forgotten: [fromMs: number, toMs: number][] = [];
	/** The commit up to which all requests are noted. */
	let head: string | null = null;
	let begunMs = Number.NEGATIVE_INFINITY;
	let written: Promise<void> = Promise.resolve();
	const isOld = () => Math.abs(now() - begunMs) > minuteMs;

	function note(added: readonly UsedRequest[]): void {
		for (const use of added) if (!uses.has(use.request)) uses.set(use.request, use);
	}

	function forget(ms: number): void {
		const near = forgotten.findIndex(([from, to]) => from - minuteMs <= ms && ms <= to + minuteMs);
		const [[from, to] = [ms, ms]] = near < 0 ? [] : forgotten.splice(near, 1);
		forgotten.push([Math.min(from, ms), Math.max(to, ms)]);
		if (forgotten.length <= maxRanges) return;
		const oldest = forgotten.splice(0, 2).flat();
		forgotten.unshift([Math.min(...oldest), Math.max(...oldest)]);
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

	function write(added: readonly UsedRequest[]): Promise<void> {
		const writing = written.then(async () => {
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
		written = writing.catch(() => undefined);
		return writing;
	}

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

	const find = (request: string | null) => uses.get(request ?? "");

	const isForgotten = (ms: number) =>
		forgotten.some(([from, to]) => from <= Math.floor(ms) && Math.floor(ms) <= to);

	async function keep(added: readonly UsedRequest[]): Promise<void> {
		const first = added.filter(({ request }) => !uses.has(request));
		if (first.length > 0) await write(first);
	}

	await mkdir(dirname(path), { recursive: true });
	// A power cut may have cut the last line off.
	for (const line of ((await readTextIfThere(path)) ?? "").split("\n").slice(0, -1)) {
		const [, request, name = "", text = "", time, from, to, commit] = linePattern.exec(line) ?? [];
		const method = name === "?" ? "" : name;
		const outcome = text.length === 3 ? Number(text) : text;
		if (request) note([{ request, method, outcome, time: Number(time) }]);
		if (from) forgotten.push([Number(from), Number(to)]);
		head = commit ?? head;
	}
	await readCommitted(tip);
	await written;
	return { find, isForgotten, noteCommitted, readCommitted, keep, close: () => written };
}

function lineOf({ request, method, outcome, time }: UsedRequest): string {
	return `${request} ${method || "?"} ${outcome} ${Math.floor(time)}`;
}

/** The hook refuses pushed commits that name the service as the committer. @param since null: recent commits are read */
async function readRequests(repository: string, since: string | null, nowMs: number): Promise<UsedRequest[]> {
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
