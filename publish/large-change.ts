import { type ChildProcess, fork } from "node:child_process";
import { availableParallelism, setPriority } from "node:os";
import { GitFailure } from "../git/run.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import type { CommitRange as Step } from "../store/git/store.ts";
import { entriesIn } from "./entry.ts";
import type { RenderFailure, RenderOrder, RenderReport } from "./render-worker.ts";
import type { RenderedStep } from "./small-change.ts";

/** More processes than this wait for the same disk. */
const mostProcesses = 4;
/** Readers come first: the processes that render are nicer than the one that answers. */
const niceness = 5;

/** What rendering in processes needs from outside. */
export interface LargeChangeOptions {
	repository: string;
	settings: FragmentSettings;
	/** Longest that it may take, in milliseconds: a process that hangs must not hold the branch for ever. */
	timeoutMs: number;
}

/**
 * Reads, checks and renders the layers of a step that changes thousands, in processes of their own: they get nothing
 * but the names of the commits, and hand over fragments in long runs of bytes.
 * @throws {Error} where a process fails or takes too long
 */
export async function renderLargeStep(
	{ from, to }: Pick<Step, "from" | "to">,
	{ repository, settings, timeoutMs }: LargeChangeOptions,
): Promise<RenderedStep> {
	const parts = Math.min(availableParallelism(), mostProcesses);
	const rendered: RenderedStep = { changes: new Map(), problems: [], wrong: [], registered: [] };
	const workers = Array.from({ length: parts }, startWorker);
	const timer = setTimeout(() => {
		for (const worker of workers) worker.kill("SIGKILL");
	}, timeoutMs);
	try {
		await Promise.all(
			workers.map((worker, part) =>
				renderPart(worker, { repository, from, to, settings, part, parts }, rendered),
			),
		);
		return rendered;
	} finally {
		clearTimeout(timer);
		for (const worker of workers) worker.kill("SIGKILL");
	}
}

function startWorker(): ChildProcess {
	const worker = fork(new URL("./render-worker.ts", import.meta.url), {
		execArgv: ["--import", "tsx"],
		serialization: "advanced",
		// Nothing of this process's configuration: it holds secrets.
		env: { PATH: process.env.PATH },
	});
	if (worker.pid !== undefined) setPriority(worker.pid, niceness);
	return worker;
}

function renderPart(worker: ChildProcess, order: RenderOrder, rendered: RenderedStep): Promise<void> {
	return new Promise((resolve, reject) => {
		worker.once("error", reject);
		worker.once("exit", (code, signal) => {
			reject(new Error(`a process that renders layers ended with ${signal ?? code}`));
		});
		worker.on("message", (report: RenderReport | RenderFailure) => {
			if ("failure" in report) return reject(errorOf(report));
			takeReport(report, rendered);
			if (report.isLast) resolve();
		});
		worker.send(order);
	});
}

function errorOf({ failure, isGit }: RenderFailure): Error {
	return isGit ? new GitFailure(failure) : new Error(`a process that renders layers failed: ${failure}`);
}

/** Adds a portion of what a process found to what others have found: one may name every layer there is. */
export function takeReport(report: RenderReport, rendered: RenderedStep): void {
	for (const smallkey of report.gone) rendered.changes.set(smallkey, null);
	for (const [smallkey, entry] of entriesIn(report.bytes, report.layers)) {
		rendered.changes.set(smallkey, entry);
	}
	for (const problem of report.problems) rendered.problems.push(problem);
	for (const smallkey of report.wrong) rendered.wrong.push(smallkey);
	for (const smallkey of report.registered) rendered.registered.push(smallkey);
}
