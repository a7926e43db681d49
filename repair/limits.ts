import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runGit } from "../git/run.ts";
import type { Answer } from "../harvest/net/ask.ts";
import type { SearchOptions } from "./candidates.ts";

/** The clients of one run. */
export type Clients = Pick<SearchOptions, "ask" | "fetch">;

/** Host → how often it was asked today. */
export type Asked = Map<string, number>;

/** Most requests to one host in a day. */
const maxPerDay = 200;

/** Most answers that are kept for the other layers of the same services. */
const maxKept = 50;

/** The same clients with a limit of requests to each host. The layers of one service share answers. */
export function limitRequests({ ask, fetch }: Clients, asked: Asked = new Map()): Clients {
	const kept = new Map<string, Promise<Answer>>();

	function take(address: string): boolean {
		const { host } = new URL(address);
		const before = asked.get(host) ?? 0;
		if (before >= maxPerDay) return false;
		asked.set(host, before + 1);
		return true;
	}

	return {
		ask(address, signal) {
			const known = kept.get(address);
			if (known) return known;
			const answer = take(address) ? ask(address, signal) : Promise.resolve(refusal);
			kept.set(address, answer);
			const [oldest] = kept.keys();
			if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
			return answer;
		},
		async fetch(input, init) {
			if (!take(String(input))) throw new Error(refusal.text);
			return fetch(input, init);
		},
	};
}

const refusal = {
	ok: false,
	kind: "server",
	text: "was asked often enough for one day",
	tooLarge: false,
	status: null,
} as const;

/**
 * The requests of the day (UTC), kept in a file of the git repository, so that all runs of a day share one limit.
 * @returns the requests so far, and `save`, which writes them
 */
export async function openAsked(repository: string, now: Date): Promise<{ asked: Asked; save: () => void }> {
	const folder = (await runGit(repository, ["rev-parse", "--absolute-git-dir"])).toString("utf8").trim();
	const file = join(folder, "repair-requests.json");
	const day = now.toISOString().slice(0, 10);
	const asked: Asked = new Map(Object.entries(readDay(file, day)));
	const save = () => writeFileSync(file, JSON.stringify({ day, hosts: Object.fromEntries(asked) }));
	return { asked, save };
}

function readDay(file: string, day: string): Record<string, number> {
	try {
		const stored = JSON.parse(readFileSync(file, "utf8")) as { day: string; hosts: Record<string, number> };
		return stored.day === day ? stored.hosts : {};
	} catch {
		return {};
	}
}
