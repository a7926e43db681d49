import { type ChildProcess, fork } from "node:child_process";
import { setPriority } from "node:os";
import { bodyOf } from "./entry.ts";
import type { FilesOrder, FilesReport } from "./files-worker.ts";
import { nextTurn } from "./slices.ts";
import { otherFolders, type Slot, slotPath } from "./slots.ts";
import type { Table } from "./table.ts";

/** What a process that writes files is told. */
export interface FilesTask {
	out: string;
	slots: readonly Slot[];
	table: Table;
	/** Whether the files of all other layers go. */
	removeOthers: boolean;
	/** Smallkeys whose files stay as they are, asked at the end. */
	except: () => string[];
	signal: AbortSignal;
}

/** What became of it: the smallkeys whose files could not be written, and why; `all` where nothing is known. */
export interface FilesOutcome {
	failed: readonly string[] | "all";
	reason: string | null;
	/** How many layers had files that were gone or others. */
	written: number;
}

/** Layers that are handed over at once. */
const layersAtOnce = 200;
/** Readers come first: the process that writes is nicer than the one that answers. */
const niceness = 10;

/**
 * Brings the files of many layers in step, in a process of its own: files that are the same are not written again. It
 * gets the fragments in portions, as the table has them at that moment. Never throws.
 */
export async function writeInProcess(smallkeys: readonly string[], task: FilesTask): Promise<FilesOutcome> {
	if (task.signal.aborted) return { failed: "all", reason: null, written: 0 };
	const worker = fork(new URL("./files-worker.ts", import.meta.url), {
		execArgv: ["--import", import.meta.resolve("tsx")],
		serialization: "advanced",
		env: { PATH: process.env.PATH },
	});
	const ended = new Promise<void>((resolve) => {
		worker.once("exit", () => resolve());
		worker.once("error", () => resolve());
	});
	const end = () => worker.kill("SIGTERM");
	task.signal.addEventListener("abort", end, { once: true });
	try {
		if (worker.pid !== undefined) setPriority(worker.pid, niceness);
		return await handOver(worker, smallkeys, task);
	} catch (error) {
		return { failed: "all", reason: task.signal.aborted ? null : (error as Error).message, written: 0 };
	} finally {
		task.signal.removeEventListener("abort", end);
		worker.kill("SIGTERM");
		// Nothing is written once this has answered.
		await ended;
	}
}

async function handOver(
	worker: ChildProcess,
	smallkeys: readonly string[],
	task: FilesTask,
): Promise<FilesOutcome> {
	const failed: string[] = [];
	let reason: string | null = null;
	let written = 0;
	const ask = async (order: FilesOrder) => {
		const report = await send(worker, order);
		failed.push(...report.failed);
		reason ??= report.reason;
		written += report.written ?? 0;
		// Readers have their turn between the portions.
		await nextTurn();
	};
	const folders = task.slots.map((slot) => slotPath(slot, ""));
	await ask({ kind: "begin", out: task.out, folders, others: otherFolders(task.slots) });
	for (let start = 0; start < smallkeys.length; start += layersAtOnce) {
		const some = smallkeys.slice(start, start + layersAtOnce);
		await ask({ kind: "write", layers: some.map((smallkey) => [smallkey, bodiesOf(smallkey, task)]) });
	}
	if (task.removeOthers) await ask({ kind: "remove-others", except: task.except() });
	return { failed, reason, written };
}

function bodiesOf(smallkey: string, { slots, table }: FilesTask): (Uint8Array | null)[] {
	const entry = table.entry(smallkey);
	return slots.map((_, position) => (entry ? bodyOf(entry, position) : null));
}

function send(worker: ChildProcess, order: FilesOrder): Promise<FilesReport> {
	return new Promise((resolve, reject) => {
		const ended = (code: number | null, signal: string | null) => {
			worker.off("message", take);
			reject(new Error(`the process that writes files ended with ${signal ?? code}`));
		};
		const take = (report: FilesReport) => {
			worker.off("exit", ended);
			worker.off("error", reject);
			resolve(report);
		};
		worker.once("message", take);
		worker.once("exit", ended);
		worker.once("error", reject);
		worker.send(order);
	});
}
