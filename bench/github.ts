import { setTimeout as sleep } from "node:timers/promises";
import { putEdits } from "../api/register.ts";
import { githubStore } from "../store/github/store.ts";
import { isRefusal, StoreBusy } from "../store/store.ts";
import { metaOf } from "../tests/store/contract.ts";
import { type Peer, startPeer } from "../tests/store/github-peer.ts";
import { generateLayers } from "./layers.ts";
import type { Pair, Row } from "./measure/row.ts";

/** Publishers who send a new layer each at the same moment. */
const publishers = 30;

let rounds = 0;

/** The smallkey of a publisher's layer: of a folder of its own, or all of one folder as a publisher's batch has them. */
type KeyOf = (smallkey: string, index: number) => string;

/** Seconds until every publisher has a 201; one that gets a 503 tries again after its Retry-After. */
async function putAll(peer: Peer, token: string, keyOf: KeyOf): Promise<number> {
	rounds += 1;
	const { repository, proxy } = peer;
	const now = () => new Date();
	const store = githubStore({ repository, auth: { token }, apiUrl: proxy.url, now });
	const layers = [...generateLayers(publishers)];
	const start = performance.now();
	await Promise.all(
		layers.map(async ({ smallkey, registration }, index) => {
			const key = `${keyOf(smallkey, index)}-${rounds}`;
			const meta = metaOf(key);
			for (;;) {
				try {
					const outcome = await store.change((now) => putEdits(now, key, registration), meta);
					if (isRefusal(outcome)) throw new Error(outcome.errors.join());
					return;
				} catch (error) {
					if (!(error instanceof StoreBusy)) throw error;
					await sleep(error.retryAfter * 1000);
				}
			}
		}),
	);
	return (performance.now() - start) / 1000;
}

/** Seconds of as many requests one after the other: commits can only be made so, each on top of the one before. */
async function askAll({ proxy, repository }: Peer): Promise<number> {
	const start = performance.now();
	for (let count = 0; count < publishers; count += 1) {
		await (await fetch(`${proxy.url}/repos/${repository}`)).text();
	}
	return (performance.now() - start) / 1000;
}

async function prepare(latencyMs: number, keyOf: KeyOf): Promise<Pair> {
	const peer = await startPeer();
	peer.proxy.latencyMs = latencyMs;
	return {
		ours: () => putAll(peer, peer.token, keyOf),
		reference: () => askAll(peer),
		close: () => peer.close(),
	};
}

function row(latencyMs: number, maxSeconds: number, folders: "many folders" | "one folder"): Row {
	const isOne = folders === "one folder";
	const keyOf: KeyOf = (smallkey, index) => (isOne ? `b400x${index}` : smallkey);
	return {
		name: `github-${latencyMs}${isOne ? "-folder" : ""}`,
		ours: `${publishers} PUTs at once to GitHub, keys of ${folders}, ${latencyMs} ms a request, until all are accepted`,
		reference: `${publishers} requests one after the other`,
		unit: "s",
		reach: { of: "ours", most: maxSeconds },
		prepare: () => prepare(latencyMs, keyOf),
	};
}

/** Writes to a GitHub of the bench's own, behind a proxy that takes its time. */
export const githubRows: Row[] = [
	row(400, 20, "many folders"),
	row(400, 20, "one folder"),
	row(100, 6, "many folders"),
];
