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
/** For a clock that is set back by some hours. */
const maxMinutes = 500;

const minuteOf = (ms: number) => Math.floor(ms / minuteMs);

export type UsedRequests = Awaited<ReturnType<typeof openUsedRequests>>;

/**
 * Signed requests that have a final answer. A log has those that changed nothing, and is rewritten each minute; the
 * trailers of commits have all others.
 */
export async function openUsedRequests({ repository, now }: StoreBase) {
	const path = join(dirname(repository), "requests", "requests.log");
	const uses = new Map<string, UsedRequest>();
	/** The minutes of forgotten requests: if the clock is set back, others of these minutes may have been used, too. */
	const forgotten = new Set<number>();
	let begunMs = Number.NEGATIVE_INFINITY;
	let lastMinute = Number.NaN;
	const inOrder = pLimit(1);

	function note(added: readonly UsedRequest[]): void {
		for (const use of added) if (!uses.has(use.request)) uses.set(use.request, use);
		if (minuteOf(now()) === lastMinute) return;
		lastMinute = minuteOf(now());
		for (const { request, time } of uses.values()) {
			if (time + maxClockSkewMs + minuteMs > now()) continue;
			uses.delete(request);
			forgotten.add(minuteOf(time));
		}
		for (const minute of forgotten) if (forgotten.size > maxMinutes) forgotten.delete(minute);
	}

	const write = (added: readonly UsedRequest[]) =>
		inOrder(async () => {
			const begun = begunMs;
			const isOld = Math.abs(now() - begun) > minuteMs;
			const old = isOld ? [...[...forgotten].map(forgottenLine), ...[...uses.values()].map(lineOf)] : [];
			const text = [...old, ...added.map(lineOf), ""].join("\n");
			// A write that fails may leave an incomplete line.
			begunMs = Number.NEGATIVE_INFINITY;
			if (isOld) await replaceFile(path, text);
			else await appendFile(path, text, { flush: true });
			begunMs = isOld ? now() : begun;
			note(added);
		});

	/** An interrupted group may have made commits. */
	async function readCommitted(): Promise<void> {
		note(await readRequests(repository, now()));
	}

	async function keep(added: readonly UsedRequest[]): Promise<void> {
		const first = added.filter(({ request }) => !uses.has(request));
		if (first.length > 0) await write(first);
	}

	await mkdir(dirname(path), { recursive: true });
	// A power cut may have cut the last line off.
	for (const line of ((await readTextIfThere(path)) ?? "").split("\n").slice(0, -1)) {
		const [request = "", method = "", outcome = "", time] = line.split(" ");
		const used = { request, method: method === "?" ? "" : method, time: Number(time) };
		if (request === "forgotten") forgotten.add(minuteOf(Number(method)));
		// Earlier versions have also written lines of two words.
		else if (time) note([{ ...used, outcome: outcome.length === 3 ? Number(outcome) : outcome }]);
	}
	await readCommitted();
	return {
		find: (request: string | null) => uses.get(request ?? ""),
		isForgotten: (ms: number) => forgotten.has(minuteOf(ms)),
		note,
		readCommitted,
		keep,
		close: () => inOrder(() => undefined),
	};
}

function forgottenLine(minute: number): string {
	return `forgotten ${minute * minuteMs} ${(minute + 1) * minuteMs - 1}`;
}

/** `?` (earlier versions: nothing) is an unknown method. */
function lineOf({ request, method, outcome, time }: UsedRequest): string {
	return `${request} ${method || "?"} ${outcome} ${Math.floor(time)}`;
}

const maxCommits = 100_000;

/** Of recent commits. The hook refuses pushed ones that name the service as the committer. */
async function readRequests(repository: string, nowMs: number): Promise<UsedRequest[]> {
	const reviews = [...reviewFolders, declinedFolder].map((folder) => `--glob=refs/heads/${folder}`);
	const words = [
		"--timestamp",
		`--max-count=${maxCommits}`,
		"--ignore-missing",
		...reviews,
		"refs/heads/main",
	];
	// `--since` would end at a pushed commit with an old date.
	const ids = (await listCommits(repository, words)).flatMap((line) => {
		const [seconds, id = ""] = line.split(" ");
		return Number(seconds) * 1_000 < nowMs - requestMemoryMs ? [] : [id];
	});
	const used: UsedRequest[] = [];
	for await (const { id, author, committer, message } of readCommits(repository, ids)) {
		if (personText(committer) !== serviceIdentity) continue;
		const time = parseTimestamp(trailersOf(message, "TimeStamp")[0] ?? "") ?? author.timeMs;
		for (const request of trailersOf(message, "Request"))
			used.push({ request, method: "", time, outcome: id });
	}
	return used;
}
