import { appendFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import pLimit from "p-limit";
import { parseTimestamp } from "../../registry/timestamp.ts";
import { readTextIfThere, replaceFile } from "../files/files.ts";
import { declinedFolder, reviewFolders, servedBranch, serviceIdentity } from "../naming.ts";
import type { UsedRequest } from "../store.ts";
import { requestMemoryMs, UsedRequests } from "../used-requests.ts";
import type { StoreBase } from "./base.ts";
import { listCommits, personText, readCommits, trailersOf } from "./commands/commits.ts";

/** Lines before the log is rewritten. */
const maxAdded = 10_000;

export type RequestLog = Awaited<ReturnType<typeof openRequestLog>>;

/** The log has the used requests that changed nothing; trailers of commits have the others. */
export async function openRequestLog({ repository, now }: StoreBase) {
	const path = join(dirname(repository), "requests", "requests.log");
	const used = new UsedRequests(now);
	const inOrder = pLimit(1);
	let linesLeft = 0;

	async function write(added: readonly UsedRequest[]): Promise<void> {
		const left = linesLeft - added.length;
		// A failed write may leave an incomplete line: the next one rewrites the log.
		linesLeft = 0;
		if (left >= 0) await appendFile(path, linesOf(added), { flush: true });
		else await replaceFile(path, linesOf([...used.all(), ...added]));
		linesLeft = left >= 0 ? left : maxAdded;
		for (const use of added) used.note(use);
	}

	async function keep(answered: readonly UsedRequest[]): Promise<void> {
		const added = answered.filter(({ request }) => !used.find(request));
		if (added.length > 0) await inOrder(() => write(added));
	}

	async function readCommitted(): Promise<void> {
		for (const use of await readRequests(repository, now())) used.note(use);
	}

	await mkdir(dirname(path), { recursive: true });
	// A power cut may have cut the last line off.
	for (const line of ((await readTextIfThere(path)) ?? "").split("\n").slice(0, -1)) {
		const [request = "", method = "", text = "", time] = line.split(" ");
		const outcome = text.length === 3 ? Number(text) : text;
		used.note({ request, method, outcome, time: Number(time ?? now()) });
	}
	await readCommitted();
	return { used, readCommitted, keep, close: () => inOrder(() => undefined) };
}

function linesOf(uses: readonly UsedRequest[]): string {
	return uses.map((use) => `${use.request} ${use.method} ${use.outcome} ${use.time}\n`).join("");
}

const maxCommits = 100_000;

/** From recent commits. The hook refuses pushed ones with the service as committer. */
async function readRequests(repository: string, nowMs: number): Promise<UsedRequest[]> {
	const reviews = [...reviewFolders, declinedFolder].map((folder) => `--glob=refs/heads/${folder}`);
	const refs = ["--ignore-missing", ...reviews, `refs/heads/${servedBranch}`];
	const lines = await listCommits(repository, ["--timestamp", `--max-count=${maxCommits}`, ...refs]);
	// `--since` would end at a pushed commit with an old date.
	const ids = lines.flatMap((line) => {
		const [seconds, id = ""] = line.split(" ");
		return Number(seconds) * 1_000 < nowMs - requestMemoryMs ? [] : [id];
	});
	const uses: UsedRequest[] = [];
	for await (const { id, author, committer, message } of readCommits(repository, ids)) {
		if (personText(committer) !== serviceIdentity) continue;
		const time = parseTimestamp(trailersOf(message, "TimeStamp")[0] ?? "") ?? author.timeMs;
		for (const request of trailersOf(message, "Request"))
			uses.push({ request, method: "?", time, outcome: id });
	}
	return uses;
}
