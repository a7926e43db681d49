import { type ChildProcess, fork } from "node:child_process";
import { setPriority } from "node:os";
import { GitFailure } from "../git/run.ts";
import type { PathChange } from "../git/tree.ts";
import { drawingRank } from "../registry/drawing-order.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { changesOf, type Noted, nothingNoted } from "./changes.ts";
import { type ReadCommit, storeLayers } from "./commit-layers.ts";
import { type Entry, entriesIn, entryOf } from "./entry.ts";
import type { RangeOrder, RangeReport } from "./range-worker.ts";
import { Slices } from "./slices.ts";
import { renderSlots } from "./slots.ts";

/** From one commit of the layers to a later one. */
export interface CommitRange {
	/** Null: from nothing. */
	from: string | null;
	to: string;
	/** The paths under `layers/` that differ, sorted; null where they are many. */
	changes: readonly PathChange[] | null;
	/** What is stored at `to`. */
	at: ReadCommit;
}

/** What a commit range changes for readers. */
export interface RenderedRange extends Omit<Noted, "gone"> {
	/** The new entry of each layer that may be different; null where it goes. */
	changes: Map<string, Entry | null>;
}

/** Readers come first: the process that renders is nicer than the one that answers. */
const niceness = 5;
/** Longest that a large range may take, in milliseconds: a process that hangs must not hold the branch for ever. */
const timeoutMs = 15 * 60_000;

/**
 * Reads, checks and renders the layers that a commit range changes: few in slices on the event loop, many in a process
 * of its own, which gets nothing but the names of the commits and streams the fragments.
 * @throws {Error} where layers cannot be read, or the process fails or takes too long
 */
export async function renderRange(
	{ from, to, changes, at }: CommitRange,
	repository: string,
	settings: FragmentSettings,
): Promise<RenderedRange> {
	if (changes) return renderHere(changes, at, settings);
	const rendered: RenderedRange = { changes: new Map(), problems: [], wrong: [], registered: [] };
	const worker = startWorker();
	const timer = setTimeout(() => worker.kill("SIGKILL"), timeoutMs);
	try {
		await takeReports(worker, { repository, from, to, settings }, rendered);
		return rendered;
	} finally {
		clearTimeout(timer);
		worker.kill("SIGKILL");
	}
}

async function renderHere(
	changed: readonly PathChange[],
	at: ReadCommit,
	settings: FragmentSettings,
): Promise<RenderedRange> {
	const { gone, ...noted } = nothingNoted();
	const changes = new Map<string, Entry | null>();
	const slices = new Slices();
	for await (const layers of changesOf(changed, storeLayers(at), { gone, ...noted })) {
		for (const layer of layers) {
			changes.set(layer.smallkey, entryOf(renderSlots(layer, settings), drawingRank(layer.description)));
			await slices.pause();
		}
	}
	for (const smallkey of gone) changes.set(smallkey, null);
	return { changes, ...noted };
}

function startWorker(): ChildProcess {
	const worker = fork(new URL("./range-worker.ts", import.meta.url), {
		execArgv: ["--import", import.meta.resolve("tsx")],
		serialization: "advanced",
		// Nothing of this process's configuration: it holds secrets.
		env: { PATH: process.env.PATH },
	});
	if (worker.pid !== undefined) setPriority(worker.pid, niceness);
	return worker;
}

function takeReports(worker: ChildProcess, order: RangeOrder, rendered: RenderedRange): Promise<void> {
	return new Promise((resolve, reject) => {
		worker.once("error", reject);
		worker.once("exit", (code, signal) => {
			reject(new Error(`the process that renders layers ended with ${signal ?? code}`));
		});
		worker.on("message", (report: RangeReport) => {
			if ("failure" in report) reject(errorOf(report));
			else if ("isDone" in report) resolve();
			else takeReport(report, rendered);
		});
		worker.send(order);
	});
}

function errorOf({ failure, isGit }: { failure: string; isGit: boolean }): Error {
	return isGit ? new GitFailure(failure) : new Error(`the process that renders layers failed: ${failure}`);
}

/** Adds a portion of what the process found. */
function takeReport(
	report: Exclude<RangeReport, { failure: string } | { isDone: true }>,
	rendered: RenderedRange,
): void {
	if ("problems" in report) rendered.problems.push(...report.problems);
	else if ("layers" in report) {
		for (const [smallkey, entry] of entriesIn(report.bytes, report.layers))
			rendered.changes.set(smallkey, entry);
	} else if (report.names === "gone") {
		for (const smallkey of report.smallkeys) rendered.changes.set(smallkey, null);
	} else rendered[report.names].push(...report.smallkeys);
}
