import { appendFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import pLimit from "p-limit";
import { parseTimestamp } from "../../registry/sender.ts";
import { serviceIdentity } from "../authorship.ts";
import { declinedFolder, reviewFolders, servedBranch } from "../branches.ts";
import { readTextIfThere, replaceFile } from "../files/files.ts";
import type { UsedRequest } from "../store.ts";
import { requestMemoryMs, UsedRequests } from "../used-requests.ts";
import type { StoreBase } from "./base.ts";
import { listCommits, personText, readCommits, trailersOf } from "./commands/commits.ts";

/** Lines that are added to the log before it is rewritten. */
const maxAdded = 10_000;

/** A log has the used requests that changed nothing; the trailers of commits have all others. */
export class RequestLog {
	readonly used: UsedRequests;
	readonly #path: string;
	readonly #inOrder = pLimit(1);
	#linesLeft = 0;

	private constructor(readonly base: StoreBase) {
		this.used = new UsedRequests(base.now);
		this.#path = join(dirname(base.repository), "requests", "requests.log");
	}

	static async open(base: StoreBase): Promise<RequestLog> {
		const requests = new RequestLog(base);
		await requests.#read();
		await requests.readCommitted();
		return requests;
	}

	/** An interrupted group may have made commits. */
	async readCommitted(): Promise<void> {
		const { repository, now } = this.base;
		for (const use of await readRequests(repository, now())) this.used.note(use);
	}

	async keep(answered: readonly UsedRequest[]): Promise<void> {
		const added = answered.filter(({ request }) => !this.used.find(request));
		if (added.length > 0) await this.#inOrder(() => this.#write(added));
	}

	close(): Promise<void> {
		return this.#inOrder(() => undefined);
	}

	async #read(): Promise<void> {
		await mkdir(dirname(this.#path), { recursive: true });
		const text = (await readTextIfThere(this.#path)) ?? "";
		// A power cut may have cut the last line off.
		for (const line of text.split("\n").slice(0, -1)) {
			const [request = "", method = "", outcome = "", time] = line.split(" ");
			const isStatus = outcome.length === 3;
			this.used.note({
				request,
				method,
				time: Number(time ?? this.base.now()),
				outcome: isStatus ? Number(outcome) : outcome,
			});
		}
	}

	async #write(added: readonly UsedRequest[]): Promise<void> {
		const left = this.#linesLeft - added.length;
		// A write that fails may leave an incomplete line: then the next one rewrites the log.
		this.#linesLeft = 0;
		if (left >= 0) await appendFile(this.#path, linesOf(added), { flush: true });
		else await replaceFile(this.#path, linesOf([...this.used.all(), ...added]));
		this.#linesLeft = left >= 0 ? left : maxAdded;
		for (const use of added) this.used.note(use);
	}
}

function linesOf(uses: readonly UsedRequest[]): string {
	return uses.map((use) => `${use.request} ${use.method} ${use.outcome} ${use.time}\n`).join("");
}

const maxCommits = 100_000;

/** Of recent commits. The hook refuses pushed ones that name the service as the committer. */
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
