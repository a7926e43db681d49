import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runGit } from "../git/run.ts";
import { Trouble } from "../harvest/finding.ts";
import type { Answer } from "../harvest/net/ask.ts";
import type { SearchOptions } from "./candidates.ts";

/** The clients of one run. */
export type Clients = Pick<SearchOptions, "ask" | "fetch">;

/** Host → number of requests today (UTC). */
export type RequestCounts = Map<string, number>;

/** Requests to one host in a day. */
const maxPerDay = 200;

/** Answers that are cached for other layers of the same services. */
const maxCached = 50;

/** Adds a limit of requests to each host to the clients, and a cache of answers, which the layers of a service share. */
export function limitRequests({ ask, fetch }: Clients, counts: RequestCounts = new Map()): Clients {
	const cached = new Map<string, Promise<Answer>>();

	function take(address: string): boolean {
		const { host } = new URL(address);
		const before = counts.get(host) ?? 0;
		if (before >= maxPerDay) return false;
		counts.set(host, before + 1);
		return true;
	}

	return {
		ask(address, signal) {
			const known = cached.get(address);
			if (known) return known;
			const answer = take(address) ? ask(address, signal) : Promise.resolve(refusal);
			cached.set(address, answer);
			const [oldest] = cached.keys();
			if (cached.size > maxCached && oldest !== undefined) cached.delete(oldest);
			return answer;
		},
		async fetch(input, init) {
			if (!take(String(input))) throw new Error(refusal.message);
			return fetch(input, init);
		},
	};
}

const refusal = new Trouble("down", "was asked often enough for one day");

/**
 * Reads the day's numbers of requests from a file in git's folder, so that all runs of a day (UTC) share one limit.
 * @returns the numbers, which the clients update, and `save`, which writes them
 */
export async function openRequestCounts(
	repository: string,
	now: Date,
): Promise<{ counts: RequestCounts; save: () => void }> {
	const folder = (await runGit(repository, ["rev-parse", "--absolute-git-dir"])).toString("utf8").trim();
	const file = join(folder, "repair-requests.json");
	const day = now.toISOString().slice(0, 10);
	const counts: RequestCounts = new Map(Object.entries(readDay(file, day)));
	const save = () => writeFileSync(file, JSON.stringify({ day, hosts: Object.fromEntries(counts) }));
	return { counts, save };
}

function readDay(file: string, day: string): Record<string, number> {
	try {
		const stored = JSON.parse(readFileSync(file, "utf8")) as { day: string; hosts: Record<string, number> };
		return stored.day === day ? stored.hosts : {};
	} catch {
		return {};
	}
}
