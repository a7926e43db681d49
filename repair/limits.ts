import type { Answer, Ask } from "../harvest/net/ask.ts";

/** The clients of one run. */
export interface Clients {
	ask: Ask;
	/** The guarded fetch. */
	fetch: typeof fetch;
}

/** Most requests of one run to one host. The running service makes one run a day. */
const maxRequests = 200;

/** Most answers that are kept for the other layers of the same services. */
const maxKept = 50;

/**
 * Limits the requests of one run to each host. The same address is asked once for the layers of one service.
 */
export function limitRequests({ ask, fetch }: Clients, maxPerHost = maxRequests): Clients {
	const asked = new Map<string, number>();
	const kept = new Map<string, Promise<Answer>>();

	function take(address: string): boolean {
		const { host } = new URL(address);
		const before = asked.get(host) ?? 0;
		asked.set(host, before + 1);
		return before < maxPerHost;
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
	text: "was asked often enough for one run",
	tooLarge: false,
	status: null,
} as const;
