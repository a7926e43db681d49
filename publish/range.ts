import { type ChildProcess, fork } from "node:child_process";
import { setPriority } from "node:os";
import { GitFailure } from "../git/run.ts";
import type { PathChange } from "../git/tree.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import type { CommitRange } from "../store/git/branch.ts";
import { changesOf, emptyNotes, type RangeNotes, storeLayers } from "./changes.ts";
import { type Entry, entriesIn, renderEntry } from "./entry.ts";
import type { RangeOrder, RangeReport } from "./range-worker.ts";
import { eachInSlices, nextTurn } from "./table.ts";

/** What a commit range changes for readers. */
export interface RenderedRange extends Omit<RangeNotes, "gone"> {
	/** The new entry of each layer that may have changed; null if the layer is removed. */
	changes: Map<string, Entry | null>;
}

/** A range of at most so many paths is rendered on the event loop. Also the number of paths in one message. */
const maxSmall = 1_000;
/** The process that renders has a lower priority than the one that answers readers. */
const niceness = 5;
/** The longest time that a large range may take: a process that hangs must not block the branch for ever. */
const timeoutMs = 15 * 60_000;

/** Whether a range is rendered in a process of its own. */
export function isLarge({ changes }: CommitRange): boolean {
	return changes.length > maxSmall;
}

/**
 * Reads, checks and renders the layers that a commit range changes: a small range in slices on the event loop, a large
 * one in a process of its own, which streams the fragments.
 * @throws {Error} if layers cannot be read, or the process fails or takes too long
 */
export async function renderRange(
	range: CommitRange,
	repository: string,
	settings: FragmentSettings,
): Promise<RenderedRange> {
	if (!isLarge(range)) return renderHere(range, settings);
	const worker = startProcess(new URL("./range-worker.ts", import.meta.url), niceness);
	const timer = setTimeout(() => worker.kill("SIGKILL"), timeoutMs);
	try {
		const rendered = takeReports(worker);
		const { from, to, changes } = range;
		await Promise.race([rendered, sendAll(worker, changes)]);
		worker.send({ repository, isFirst: from === null, to, settings } satisfies RangeOrder);
		return await rendered;
	} finally {
		clearTimeout(timer);
		worker.kill("SIGKILL");
	}
}

async function renderHere(
	{ changes: changed, at }: CommitRange,
	settings: FragmentSettings,
): Promise<RenderedRange> {
	const notes = emptyNotes();
	const changes: RenderedRange["changes"] = new Map();
	for await (const layers of changesOf(changed, storeLayers(at), notes)) {
		await eachInSlices(layers, (layer) => changes.set(layer.smallkey, renderEntry(layer, settings)));
	}
	return renderedRange(changes, notes);
}

function renderedRange(changes: RenderedRange["changes"], { gone, ...notes }: RangeNotes): RenderedRange {
	for (const smallkey of gone) changes.set(smallkey, null);
	return { changes, ...notes };
}

/** Starts a module in a process of its own. @param niceness from 0 to 19; higher means a lower priority (nice(1)) */
export function startProcess(module: URL, niceness: number): ChildProcess {
	const child = fork(module, {
		// A quarter less memory for the same time: row `push-memory` of `npx fragments bench`.
		execArgv: ["--optimize-for-size", "--import", import.meta.resolve("tsx")],
		serialization: "advanced",
		// This process's environment is not inherited: it holds secrets.
		env: { PATH: process.env.PATH },
	});
	if (child.pid !== undefined) setPriority(child.pid, niceness);
	return child;
}

/** Sends paths in portions: a hundred thousand in one message would block the event loop. */
async function sendAll(worker: ChildProcess, changes: readonly PathChange[]): Promise<void> {
	for (let start = 0; start < changes.length; start += maxSmall) {
		worker.send(changes.slice(start, start + maxSmall));
		await nextTurn();
	}
}

function takeReports(worker: ChildProcess): Promise<RenderedRange> {
	const changes: RenderedRange["changes"] = new Map();
	return new Promise((resolve, reject) => {
		worker.once("error", reject);
		worker.once("exit", (code, signal) => {
			reject(new Error(`the process that renders layers ended with ${signal ?? code}`));
		});
		worker.on("message", (report: RangeReport) => {
			if ("notes" in report) return resolve(renderedRange(changes, report.notes));
			if ("failure" in report) return reject(errorOf(report));
			for (const [smallkey, entry] of entriesIn(report.bytes, report.layers, true))
				changes.set(smallkey, entry);
		});
	});
}

function errorOf({ failure, isGit }: { failure: string; isGit: boolean }): Error {
	return isGit ? new GitFailure(failure) : new Error(`the process that renders layers failed: ${failure}`);
}
