import { appendFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { maxClockSkewMs, parseTimestamp } from "../../registry/timestamp.ts";
import { readTextIfThere, replaceFile } from "../files/files.ts";
import { declinedFolder, reviewFolders, serviceIdentity, type UsedRequest } from "../store.ts";
import type { StoreBase } from "./base.ts";
import { personText, readCommits, trailersOf } from "./commands/commits.ts";
import { gitText } from "./commands/run.ts";

const minuteMs = 60_000;
const maxRanges = 64;

/** `<request> <method> <outcome> <time>`, `forgotten <fromMs> <toMs>`, or `head <commit>`. */
const linePattern =
	/^(?:([0-9a-f]{64}) (\S+) (\w+) (\d{13,})|forgotten (-?\d+) (-?\d+)|head ([0-9a-f]{40,64}))$/;

/** Signed requests that have a final answer, so that nobody can repeat one. */
export type UsedRequests = Awaited<ReturnType<typeof openUsedRequests>>;

/**
 * Reads the requests of earlier processes: those that changed nothing from a log beside the repository, which is begun anew
 * each minute; all others from the trailers of commits. A request is forgotten once its timestamp is too old. The times
 * of forgotten requests are kept, so that none becomes usable if the clock is set back.
 * @param tip the last commit of the branch
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

	/** Notes the time of a forgotten request in a range of at most a minute's gaps. Of too many ranges, the oldest are joined. */
	function forget(from: number, to = from): void {
		const near = forgotten.findIndex((range) => range[0] - minuteMs <= to && from <= range[1] + minuteMs);
		const [range = [from, to]] = near < 0 ? [] : forgotten.splice(near, 1);
		forgotten.push([Math.min(range[0], from), Math.max(range[1], to)]);
		const [first, second] = forgotten;
		if (forgotten.length <= maxRanges || !first || !second) return;
		forgotten.splice(0, 2, [Math.min(first[0], second[0]), Math.max(first[1], second[1])]);
	}

	function state(): string[] {
		begunMs = now();
		for (const { request, time } of uses.values()) {
			if (time + maxClockSkewMs > begunMs) continue;
			uses.delete(request);
			forget(Math.floor(time));
		}
		return [
			`head ${head}`,
			...forgotten.map((range) => `forgotten ${range.join(" ")}`),
			...linesOf(uses.values()),
		];
	}

	/** Writes requests to the disk, and then notes them. @throws {Error} if that fails */
	function write(added: readonly UsedRequest[]): Promise<void> {
		const next = written.then(async () => {
			try {
				if (isOld()) await replaceFile(path, `${[...state(), ...linesOf(added), ""].join("\n")}`);
				else await appendFile(path, [...linesOf(added), ""].join("\n"), { flush: true });
			} catch (error) {
				// The last line may be incomplete.
				begunMs = Number.NEGATIVE_INFINITY;
				throw error;
			}
			note(added);
		});
		written = next.catch(() => undefined);
		return next;
	}

	/** Notes requests whose commits are on a branch. @param to see `head` */
	function noteCommitted(added: readonly UsedRequest[], to = head): void {
		note(added);
		head = to;
		// A full disk stops no change: the next write tries again.
		if (isOld()) write([]).catch(() => undefined);
	}

	await mkdir(dirname(path), { recursive: true });
	for (const line of ((await readTextIfThere(path)) ?? "").split("\n")) {
		const [, request, method = "", text = "", time, from, to, commit] = linePattern.exec(line) ?? [];
		const outcome = text.length === 3 ? Number(text) : text;
		if (request) note([{ request, method: method === "?" ? "" : method, outcome, time: Number(time) }]);
		if (from) forgotten.push([Number(from), Number(to)]);
		head = commit ?? head;
	}
	noteCommitted(await readRequests(repository, head, now()), tip);
	await written;
	return {
		find: (request: string) => uses.get(request) ?? null,
		/** Whether requests that were signed at this time are forgotten: they may have been used. */
		isForgotten: (ms: number) =>
			forgotten.some(([from, to]) => from <= Math.floor(ms) && Math.floor(ms) <= to),
		noteCommitted,
		/** Keeps requests that changed nothing. @throws {Error} if they cannot be written */
		async keep(added: readonly UsedRequest[]): Promise<void> {
			const first = added.filter(({ request }) => !uses.has(request));
			if (first.length > 0) await write(first);
		},
		/** Notes the requests of commits that other processes have brought, or that an interrupted group has made. */
		readCommitted: async (to = head) => noteCommitted(await readRequests(repository, head, now()), to),
		close: () => written,
	};
}

function linesOf(uses: Iterable<UsedRequest>): string[] {
	return Array.from(
		uses,
		({ request, method, outcome, time }) => `${request} ${method || "?"} ${outcome} ${Math.floor(time)}`,
	);
}

/** Without a log, the commits of so many milliseconds are read: longer than a signature is valid. */
const recentMs = 300_000;

/**
 * Reads the signed requests of the service's own commits on the branch and on those of reviews. A pusher can write the same
 * trailer, but the hook refuses commits that name the service as the committer.
 * @param since only commits outside the history of this commit are read; null: the recent ones
 */
async function readRequests(repository: string, since: string | null, nowMs: number): Promise<UsedRequest[]> {
	const reviews = [...reviewFolders, declinedFolder].map((folder) => `--glob=refs/heads/${folder}`);
	const range = since ? `^${since}` : `--since=${Math.floor((nowMs - recentMs) / 1_000)}`;
	const words = ["rev-list", "--ignore-missing", ...reviews, "refs/heads/main", range];
	const ids = (await gitText(repository, words)).split("\n").filter(Boolean);
	const used: UsedRequest[] = [];
	for await (const { id, author, committer, message } of readCommits(repository, ids)) {
		if (personText(committer) !== serviceIdentity) continue;
		const time = parseTimestamp(trailersOf(message, "TimeStamp")[0] ?? "") ?? author.timeMs;
		for (const request of trailersOf(message, "Request"))
			used.push({ request, method: "", time, outcome: id });
	}
	return used;
}
