import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { sign } from "../api/signature.ts";
import { spawnNginx } from "../tests/conformance/nginx-engine.ts";
import { environment, root, startProgram } from "./measure/process.ts";
import { pssMegabytes } from "./measure/processes.ts";
import type { Pair, Row } from "./measure/row.ts";
import { type Served, sender, type World } from "./measure/world.ts";

/** A flood: what it does, and on how many connections. */
interface Flood {
	kind: "bad-puts" | "dribble" | "absent";
	connections: number;
	words: string;
}

const floods: readonly Flood[] = [
	{ kind: "bad-puts", connections: 100, words: "100 connections send badly signed PUTs of 64 KiB" },
	{ kind: "dribble", connections: 1_000, words: "1,000 connections dribble" },
	{ kind: "absent", connections: 100, words: "100 connections ask for what is not there" },
];

/** New readers that come during one flood, one after the other. */
const newReaders = 200;
/** Requests whose times are compared. */
const timedRequests = 1_000;

/** Does a task while an address is flooded. */
async function whileFlooded<T>(
	url: string,
	{ kind, connections }: Flood,
	task: () => Promise<T>,
): Promise<T> {
	const args = ["--import", "tsx", "bench/measure/flood.ts", url, kind, String(connections)];
	const child = spawn(process.execPath, args, {
		cwd: root,
		env: environment(),
		stdio: ["pipe", "pipe", "inherit"],
	});
	const closed = once(child, "close");
	child.stdin.on("error", () => undefined);
	await Promise.race([once(child.stdout, "data"), closed]);
	try {
		return await task();
	} finally {
		child.stdin.end();
		await closed;
	}
}

/** Milliseconds that a reader waits for an answer, its connection included. */
function waitAnew(url: string): Promise<number> {
	const start = performance.now();
	return new Promise((resolve, reject) => {
		const sent = request(url, { agent: false }, (response) => {
			response.resume();
			response.on("end", () => resolve(performance.now() - start));
		});
		sent.on("error", reject);
		sent.end();
	});
}

/** The wait of new readers: the median, or that of another share of them. */
async function waitOfNew(url: string, share = 0.5): Promise<number> {
	const waits: number[] = [];
	for (let reader = 0; reader < newReaders; reader += 1) waits.push(await waitAnew(url));
	return waits.sort((a, b) => a - b)[Math.floor(newReaders * share)] as number;
}

async function prepareFlood(world: World, flood: Flood): Promise<Pair> {
	const name = `flood-${flood.kind}`;
	const service = await world.serve(world.fewLayers, name);
	const target = `/v0.9/doc/en/${world.smallkeys(1)[0]}`;
	const bare = await startProgram(
		"bench/measure/bare-server.ts",
		[service.url + target],
		{},
		/^(http:\S+)$/m,
	);
	const wait = (origin: string) => whileFlooded(origin, flood, () => waitOfNew(origin + target));
	return {
		ours: () => wait(service.url),
		reference: () => wait(bare.found),
		close: async () => {
			await bare.stop();
			await service.stop();
			await world.remove(name);
		},
	};
}

function floodRow(flood: Flood): Row {
	return {
		name: `flood-${flood.kind}`,
		ours: `a new reader of doc, while ${flood.words}`,
		reference: "the same at a bare node:http server",
		unit: "ms",
		reach: { of: "ratio", most: 1.2 },
		prepare: (world) => prepareFlood(world, flood),
	};
}

/** nginx with deploy/nginx.conf in front of the service: a fragment, and a file of nginx's own. */
async function prepareNginx(world: World, flood: Flood): Promise<Pair> {
	const name = `flood-nginx-${flood.kind}`;
	const service = await world.serve(world.fewLayers, name);
	const dist = join(service.dataDir, "dist");
	const fragment = `/v0.9/doc/en/${world.smallkeys(1)[0]}`;
	const ownFile = `location = /own { alias ${dist}${fragment}; }`;
	const front = await spawnNginx(new URL(service.url).host, dist, "", (text) =>
		text.replace("location = /error {", `${ownFile}\n\tlocation = /error {`),
	);
	const wait = (path: string) =>
		whileFlooded(front.origin, flood, () => waitOfNew(front.origin + path, 0.99));
	return {
		ours: () => wait(fragment),
		reference: () => wait("/own"),
		close: async () => {
			await front.stop();
			await service.stop();
			await world.remove(name);
		},
	};
}

function nginxRow(flood: Flood): Row {
	return {
		name: `flood-nginx-${flood.kind}`,
		ours: `99th percentile of doc from nginx, while ${flood.words}`,
		reference: "a file of nginx's own",
		unit: "ms",
		reach: { of: "ratio", most: 2 },
		prepare: (world) => prepareNginx(world, flood),
	};
}

/** Megabytes by which the service grows in all floods, one after the other; it is warm before. */
async function prepareMemory(world: World): Promise<Pair> {
	const service = await world.serve(world.fewLayers, "flood-memory");
	const target = `/v0.9/doc/en/${world.smallkeys(1)[0]}`;
	await waitOfNew(service.url + target);
	return {
		ours: async () => {
			const before = pssMegabytes(service.pid);
			let most = before;
			for (const flood of floods) {
				await whileFlooded(service.url, flood, async () => {
					await waitOfNew(service.url + target);
					most = Math.max(most, pssMegabytes(service.pid));
				});
			}
			return most - before;
		},
		reference: async () => 0,
		close: async () => {
			await service.stop();
			await world.remove("flood-memory");
		},
	};
}

/** How a request is signed whose time is taken. */
type Signed = "right" | "wrong secret" | "unknown sender";

/** The median of microseconds until a PUT is refused: one that is signed rightly has a payload that is wrong. */
async function refusalTime({ url, secret }: Served, signed: Signed): Promise<number> {
	const path = "/register/timing";
	const body = new TextEncoder().encode("{}");
	const name = signed === "unknown sender" ? "hcneb" : sender;
	const times: number[] = [];
	for (let index = 0; index < timedRequests; index += 1) {
		// Another request each time: what was signed before is answered from memory.
		const timestamp = new Date(Date.now() - index).toISOString();
		const key = signed === "right" ? secret : `${secret}x`;
		const Authorization = await sign(key, { path, sender: name, timestamp, body });
		const start = performance.now();
		const answer = await fetch(url + path, {
			method: "PUT",
			headers: { Authorization, Sender: name, TimeStamp: timestamp },
			body,
		});
		await answer.arrayBuffer();
		times.push((performance.now() - start) * 1_000);
		const expected = signed === "right" ? 400 : 401;
		if (answer.status !== expected)
			throw new Error(`a PUT with ${signed}: ${answer.status}, not ${expected}`);
	}
	return times.sort((a, b) => a - b)[timedRequests >> 1] as number;
}

function timingRow(name: string, ours: Signed, reach: Row["reach"]): Row {
	return {
		name,
		ours: `a PUT with ${ours}, until it is refused`,
		reference: "one with a wrong secret",
		unit: "µs",
		reach,
		prepare: async (world) => {
			const service = await world.serve(world.fewLayers, name);
			await refusalTime(service, "wrong secret");
			return {
				ours: () => refusalTime(service, ours),
				reference: () => refusalTime(service, "wrong secret"),
				close: async () => {
					await service.stop();
					await world.remove(name);
				},
			};
		},
	};
}

/** Rows about the effect of a flood on others, and about what the time of a refusal reveals. */
export const floodRows: Row[] = [
	...floods.map(floodRow),
	...floods.map(nginxRow),
	{
		name: "flood-memory",
		ours: "memory that the service takes more during these floods",
		reference: "",
		unit: "MB",
		reach: { of: "ours", most: 64 },
		prepare: prepareMemory,
	},
	timingRow("timing-sender", "unknown sender", { of: "ratio", least: 0.9, most: 1.1 }),
];
