import { fork } from "node:child_process";
import pLimit from "p-limit";
import { type Cause, causeOf } from "../../../registry/causes.ts";
import type { Description } from "../../../registry/description.ts";
import type { Registration } from "../../../registry/registration.ts";
import { langs } from "../../../registry/smallkey.ts";
import { lowerPriority } from "../../../store/git/commands/run.ts";
import { findingOf, type Harvested, quote, type Watched } from "../finding.ts";

/** The limits of the process; a valid answer of 5 MB is far below them. */
export const processLimits = {
	maxHeapMb: 256,
	/** Longest time for one layer, in milliseconds: a little more than the process gives its own requests (`maxLayerMs`). */
	timeoutMs: 310_000,
	/** After this idle time it is ended, to free its memory, in milliseconds. */
	idleMs: 10_000,
};

/** Longest time for all requests of one layer, in milliseconds. */
export const maxLayerMs = 300_000;

/** Its priority is lower than that of the process that answers readers and publishers. */
const niceness = 10;

export interface Order {
	id: number;
	task: "harvest" | "watch";
	registration: Registration;
	known: Description | null;
}

/** The answer to an order. `error`: a fault of this program. */
export type Report = { id: number } & ({ result: Harvested & Watched } | { error: string });

/** Why an order has no result, and the number of orders without one. */
interface Failure {
	reason: Cause;
	orders: number;
}

interface ProcessOptions {
	module: URL;
	/** The environment of the process, without secrets, since it parses untrusted answers. */
	environment: NodeJS.ProcessEnv;
	limits?: Partial<typeof processLimits>;
}

function startProcess({ module, environment, limits }: ProcessOptions) {
	const { maxHeapMb, timeoutMs } = { ...processLimits, ...limits };
	const child = fork(module, {
		// Small spaces are collected often: 64 MB of capabilities take 40 MB, and otherwise 110.
		execArgv: [
			...["--max-semi-space-size=2", `--max-old-space-size=${maxHeapMb}`],
			...["--import", import.meta.resolve("tsx")],
		],
		serialization: "advanced",
		stdio: ["ignore", "ignore", "ignore", "ipc"],
		env: environment,
	});
	if (child.pid !== undefined) lowerPriority(child.pid, niceness);
	const waiting = new Map<number, (result: (Harvested & Watched) | Failure) => void>();
	let lastId = 0;
	let isLate = false;

	function end(signal?: NodeJS.Signals | null): void {
		// V8 aborts without memory.
		const cause = signal === "SIGABRT" ? causeOf("memory", maxHeapMb) : causeOf("process-ended");
		const reason = isLate ? causeOf("read-slow", timeoutMs / 1000) : cause;
		for (const resolve of [...waiting.values()]) resolve({ reason, orders: waiting.size });
	}

	child.on("message", (report: Report) => {
		const failure = "error" in report && { reason: causeOf("unread", quote(report.error)), orders: 1 };
		waiting.get(report.id)?.(failure || (report as { result: Harvested & Watched }).result);
	});
	child.on("error", () => end());
	child.on("exit", (_code, signal) => end(signal));

	async function run(order: Omit<Order, "id">): Promise<(Harvested & Watched) | Failure> {
		lastId += 1;
		const id = lastId;
		const timer = setTimeout(() => {
			isLate = true;
			child.kill("SIGKILL");
		}, timeoutMs);
		const result = await new Promise<(Harvested & Watched) | Failure>((resolve) => {
			waiting.set(id, resolve);
			// If the process has just ended, its `exit` follows.
			child.send({ id, ...order } satisfies Order, () => undefined);
		});
		clearTimeout(timer);
		waiting.delete(id);
		return result;
	}
	return { child, waiting, run };
}

/**
 * Harvests in a process of its own, which exists only while there is work. If it ends or hangs, each of its layers is
 * harvested again, alone: a layer that ends the process then, too, gets the finding.
 */
export function createHarvestProcess(options: ProcessOptions) {
	const { idleMs } = { ...processLimits, ...options.limits };
	const oneByOne = pLimit(1);
	type Process = ReturnType<typeof startProcess>;
	let shared: Process | null = null;
	let single: Process | null = null;
	let idle: NodeJS.Timeout | undefined;

	async function runShared(order: Omit<Order, "id">) {
		clearTimeout(idle);
		if (!shared?.child.connected) shared = startProcess(options);
		const { run, child, waiting } = shared;
		const result = await run(order);
		clearTimeout(idle);
		if (waiting.size === 0) idle = setTimeout(() => child.kill("SIGKILL"), idleMs);
		return result;
	}

	async function runAlone(order: Omit<Order, "id">, signal: AbortSignal | undefined) {
		signal?.throwIfAborted();
		single = startProcess(options);
		const { run, child } = single;
		return run(order).finally(() => child.kill("SIGKILL"));
	}

	/** Carries out a task for a layer. Rejects only if its signal aborts. */
	const taskOf =
		(task: Order["task"]) =>
		async (registration: Registration, signal?: AbortSignal, known: Description | null = null) => {
			const order = { task, registration, known };
			signal?.throwIfAborted();
			let result = await runShared(order);
			signal?.throwIfAborted();
			if ("reason" in result && result.orders > 1) result = await oneByOne(() => runAlone(order, signal));
			signal?.throwIfAborted();
			if (!("reason" in result)) return result;
			// A finding for each language, since it is not known whose answer ended the process.
			const trouble = { state: "down", what: result.reason } as const;
			const findings = langs.map((lang) => findingOf(registration, lang, trouble));
			return { found: {}, partial: new Set(), state: "down", findings } satisfies Harvested & Watched;
		};

	return {
		harvest: taskOf("harvest"),
		watch: taskOf("watch"),
		/** Ends all processes. To be called once the signals of all harvests and checks have aborted. */
		close(): void {
			for (const started of [shared, single]) started?.child.kill("SIGKILL");
		},
	};
}
