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

/** Seconds until all publishers have been told 201; who is sent away comes again when told. */
async function putAll(peer: Peer, token: string): Promise<number> {
	rounds += 1;
	const { repository, proxy } = peer;
	const store = githubStore({ repository, auth: { token }, apiUrl: proxy.url, now: () => new Date() });
	const layers = [...generateLayers(publishers)];
	const start = performance.now();
	await Promise.all(
		layers.map(async ({ smallkey, registration }) => {
			const key = `${smallkey}-${rounds}`;
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

async function prepare(latencyMs: number): Promise<Pair> {
	const peer = await startPeer();
	peer.proxy.latencyMs = latencyMs;
	return {
		ours: () => putAll(peer, peer.token),
		reference: () => askAll(peer),
		close: () => peer.close(),
	};
}

function row(latencyMs: number, mostSeconds: number): Row {
	return {
		name: `github-${latencyMs}`,
		ours: `${publishers} PUTs at once to GitHub, ${latencyMs} ms a request, until all are accepted`,
		reference: `${publishers} requests one after the other`,
		unit: "s",
		reach: { of: "ours", most: mostSeconds },
		prepare: () => prepare(latencyMs),
	};
}

/** Writes to a GitHub of the bench's own, behind a proxy that takes its time. */
export const githubRows: Row[] = [row(400, 20), row(100, 6)];
