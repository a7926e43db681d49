import { type ChildProcess, fork } from "node:child_process";
import pLimit from "p-limit";
import type { Configuration } from "../../../api/service/settings.ts";
import type { Description } from "../../../registry/description.ts";
import type { Registration } from "../../../registry/registration.ts";
import { langs } from "../../../registry/smallkey.ts";
import { type Cause, causeOf } from "../../../site/data/health.ts";
import { lowerPriority } from "../../../store/git/commands/run.ts";
import type { Harvest } from "../description.ts";
import { type Finding, findingOf } from "../finding.ts";
import { serviceOf } from "../service.ts";

/** Bounds the requests of a harvest, and those of a check. */
export const maxTaskMs = 300_000;

const processLimits = {
	/** A valid answer of 5 MB is far below. */
	maxHeapMb: 256,
	startMs: 300_000,
	/** Longer than the process gives the requests of one layer. */
	timeoutMs: 2 * maxTaskMs + 60_000,
	/** Then an idle process ends, which frees its memory. */
	idleMs: 10_000,
};

/** Readers and publishers come first. */
const niceness = 10;

export interface Order {
	id: number;
	registration: Registration;
	before: Description | null;
}

export interface Look {
	harvested: Harvest;
	/** What a viewer would find. */
	checked: Finding[];
}

/** `orders`: how many were in the process when it ended. */
type Result = Look | { reason: Cause; orders: number };

export interface Report {
	id: number;
	result: Result;
}

/** No secrets: the process parses untrusted answers. */
export function childEnvironment(configuration: Configuration): NodeJS.ProcessEnv {
	const { dataDir, mapWkid, publicUrl } = configuration;
	const { allowPrivate, httpsProxy, noProxy } = configuration.network;
	const { PATH, NODE_EXTRA_CA_CERTS } = process.env;
	return {
		PATH,
		DATA_DIR: dataDir,
		MAP_WKID: String(mapWkid),
		PUBLIC_URL: publicUrl,
		HARVEST_ALLOW_PRIVATE: allowPrivate ? "on" : "off",
		...(httpsProxy && { HTTPS_PROXY: httpsProxy }),
		...(noProxy && { NO_PROXY: noProxy }),
		...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }),
	};
}

function forkChild(module: URL, env: NodeJS.ProcessEnv, maxHeapMb: number, signal: AbortSignal) {
	const child = fork(module, {
		execArgv: [
			// Small spaces are collected often: 64 MB of capabilities take 40 MB, and otherwise 110.
			"--max-semi-space-size=2",
			`--max-old-space-size=${maxHeapMb}`,
			"--import",
			import.meta.resolve("tsx"),
		],
		serialization: "advanced",
		stdio: ["ignore", "ignore", "ignore", "ipc"],
		env,
		signal,
		killSignal: "SIGKILL",
	});
	if (child.pid !== undefined) lowerPriority(child.pid, niceness);
	return child;
}

/** `run` gives the process an order, and ends it if that takes too long. */
function createRunner(child: ChildProcess, { startMs, timeoutMs }: typeof processLimits) {
	const waiting = new Map<number, (result: Result) => void>();
	let lastId = 0;

	function end() {
		const reason = causeOf("unread", "too much time or memory");
		for (const resolve of waiting.values()) resolve({ reason, orders: waiting.size });
		child.kill("SIGKILL");
	}

	const started = new Promise<void>((resolve, reject) => {
		const fail = (reason: string) => {
			reject(new Error(`the harvest's process does not start: ${reason}`));
			end();
		};
		const timer = setTimeout(() => fail("time-out"), startMs).unref();
		child.once("message", () => {
			clearTimeout(timer);
			resolve();
		});
		child.on("error", ({ message }) => fail(message));
		child.on("exit", (code, signal) => fail(`${signal ?? code}`));
	});
	child.on("message", (message: Report | "ready") => {
		if (message !== "ready") waiting.get(message.id)?.(message.result);
	});

	/** Rejects if the process does not start. */
	async function run(order: Omit<Order, "id">): Promise<Result> {
		await started;
		lastId += 1;
		const id = lastId;
		const timer = setTimeout(end, timeoutMs).unref();
		return new Promise<Result>((resolve) => {
			waiting.set(id, resolve);
			// If the process has just ended, its `exit` follows.
			child.send({ id, ...order } satisfies Order, () => undefined);
		}).finally(() => {
			clearTimeout(timer);
			waiting.delete(id);
		});
	}
	return { child, run };
}

/** Rejects if its signal aborts, or no process starts. */
export type LookAt = (
	registration: Registration,
	before: Description | null,
	signal?: AbortSignal,
) => Promise<Look>;

/**
 * Harvests and checks layers in a process, which exists only while there is work. If it ends or hangs, each of its layers is
 * tried once more, alone; one that ends the process again gets the finding.
 */
export function createHarvestProcess(
	module: URL,
	env: NodeJS.ProcessEnv,
	changedLimits: Partial<typeof processLimits> = {},
) {
	const limits = { ...processLimits, ...changedLimits };
	const ending = new AbortController();
	const start = () => createRunner(forkChild(module, env, limits.maxHeapMb, ending.signal), limits);
	const oneByOne = pLimit(1);
	let shared: ReturnType<typeof start> | null = null;
	let idle: NodeJS.Timeout | undefined;
	let running = 0;

	async function runShared(order: Omit<Order, "id">) {
		clearTimeout(idle);
		// A process that was ended stays connected until its `exit`.
		if (!shared?.child.connected || shared.child.killed) shared = start();
		const { run, child } = shared;
		running += 1;
		try {
			return await run(order);
		} finally {
			running -= 1;
			if (running === 0) idle = setTimeout(() => child.kill("SIGKILL"), limits.idleMs).unref();
		}
	}

	function runAlone(order: Omit<Order, "id">, signal: AbortSignal | undefined) {
		signal?.throwIfAborted();
		const { run, child } = start();
		return run(order).finally(() => child.kill("SIGKILL"));
	}

	const lookAt: LookAt = async (registration, before, signal) => {
		const order = { registration, before };
		signal?.throwIfAborted();
		let result = await runShared(order);
		if ("reason" in result && result.orders > 1) result = await oneByOne(() => runAlone(order, signal));
		signal?.throwIfAborted();
		if (!("reason" in result)) return result;
		// Either language's answer may have ended the process.
		const trouble = { state: "down", what: result.reason } as const;
		const findings = langs.map((lang) => findingOf(serviceOf(registration, lang), trouble));
		return { harvested: { description: {}, findings }, checked: findings };
	};

	/** Call `close` after the signals of all tasks have aborted. */
	return { lookAt, close: () => ending.abort() };
}
