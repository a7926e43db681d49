import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { problemLine } from "../registry/judge.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import type { Branch, CommitRange, Published } from "../store/git/branch.ts";
import { GitFailure } from "../store/git/commands/run.ts";
import type { Log } from "../store/log.ts";
import { commitLayers, findEarlier, maxWrong, readRange, storeLayers } from "./changes.ts";
import { type FolderTimes, openFolderSink } from "./folder-sink.ts";
import { fragmentSettings, rendererStamp, renderFragments, slotsOf } from "./rendered.ts";
import { loadSnapshot, saveSnapshot, Table } from "./table.ts";

/** The layers of a range of at most so many paths are read through the store; a larger range is saved at once. */
const maxSmall = 1_000;

/** The value of a task; undefined if git cannot read the objects that it needs. */
async function unlessUnreadable<T>(task: Promise<T>): Promise<T | undefined> {
	return task.catch((error) => {
		if (error instanceof GitFailure) return undefined;
		throw error;
	});
}

export type Publication = ReturnType<typeof openPublication>;

/** Opens what readers are served: the table, which follows the branch, and the rendered files, which follow the table. */
export function openPublication(options: {
	dataDir: string;
	repository: string;
	settings: FragmentSettings;
	log: Log;
	/** Called with the registrations that were written, once they are served. */
	registered: (smallkeys: readonly string[]) => void;
	filesTimes?: Partial<FolderTimes> | undefined;
}) {
	const { dataDir, repository, log, registered, filesTimes: times } = options;
	const settings = fragmentSettings(options.settings);
	const renderer = rendererStamp(settings);
	const slots = slotsOf(settings);
	const table = new Table(slots);
	const files = openFolderSink({ out: join(dataDir, "dist"), slots, table, log, times });
	const snapshotPath = join(dataDir, "fragments");
	/** This file exists if the last process closed normally and the rendered files were current. */
	const endedPath = `${snapshotPath}.ended`;
	let served: string | null = null;
	let saved: string | null = null;
	/** Settles when the last change of the table ends: changes are made one after the other. */
	let lastChange: Promise<unknown> = Promise.resolve();
	let background: Promise<void> = Promise.resolve();
	let isClosed = false;

	/**
	 * Fills the table: from the snapshot of an earlier process if its commit is in the repository's history, otherwise from
	 * all layers. The service may answer readers once this resolves; the files follow later.
	 * @returns the commit that is served: the snapshot's own if the range since then cannot be read
	 * @throws {GitFailure} if the layers cannot be read and there is no snapshot
	 */
	async function begin(branch: Pick<Branch, "rangeSince" | "firstRange">): Promise<string> {
		const wasCurrent = existsSync(endedPath);
		await rm(endedPath, { force: true }).catch(log.error);
		const snapshot = loadSnapshot(snapshotPath, renderer, log);
		const range = snapshot && (await unlessUnreadable(branch.rangeSince(snapshot.commit)));
		if (!snapshot || range === null) {
			if (snapshot)
				log.warn(
					`${repository} does not have commit ${snapshot.commit}, which was served last: it is new, or an older copy, and served as it is`,
				);
			const first = await branch.firstRange();
			await applyRange(first);
			files.checkAll(false, existsSync(snapshotPath));
			void save();
			return first.to;
		}
		await table.change(snapshot.changes);
		saved = snapshot.commit;
		served = snapshot.commit;
		const changed = range && (await unlessUnreadable(applyRange(range)));
		files.checkAll(wasCurrent && changed !== undefined, true);
		// Otherwise every file is compared.
		if (wasCurrent && changed) void files.changed(changed);
		return served;
	}

	/** Publishes a range in the table. The promise of warnings resolves once the files are written, or have failed. */
	async function publish(range: CommitRange): Promise<Published> {
		const changed = await exclusive(() => applyRange(range));
		return { warnings: files.changed(changed) };
	}

	/** Stops the background work and the files' thread, and writes the snapshot for the next process. */
	async function close(): Promise<void> {
		isClosed = true;
		await background;
		const areCurrent = await files.close();
		await save();
		if (areCurrent && saved === served) await writeFile(endedPath, "").catch(log.error);
	}

	function exclusive<T>(task: () => Promise<T>): Promise<T> {
		const result = lastChange.then(task);
		lastChange = result.catch(() => undefined);
		return result;
	}

	/**
	 * Reads, checks and renders the layers that a range changes, in slices, and puts them in the table.
	 * @returns the smallkeys whose fragments changed
	 */
	async function applyRange({ from, to, changes: paths, at }: CommitRange): Promise<string[]> {
		const isLarge = paths.length > maxSmall;
		const read = isLarge ? commitLayers(repository, to, from === null ? paths : null) : storeLayers(at);
		const range = await readRange(paths, read, (layer) => renderFragments(layer, settings));
		for (const problem of range.problems) log.warn(problemLine(problem));
		const changed = await table.change(range.layers);
		served = to;
		registered(range.registered);
		const unserved = range.wrong.filter((smallkey) => !table.entries.has(smallkey));
		if (unserved.length > 0) inBackground(() => serveEarlier(unserved, to));
		if (isLarge) inBackground(save);
		return changed;
	}

	function inBackground(task: () => Promise<unknown>): void {
		background = background.then(async () => {
			if (!isClosed) await task().catch(log.error);
		});
	}

	/** Serves the last valid form of layers whose files are wrong. Each layer is looked for once. */
	async function serveEarlier(smallkeys: readonly string[], commit: string): Promise<void> {
		for (const smallkey of smallkeys.slice(0, maxWrong)) {
			if (isClosed) return;
			const layer = await findEarlier(repository, commit, smallkey);
			if (!layer) continue;
			await exclusive(async () => {
				// A later commit may have corrected or removed the layer meanwhile.
				if (served !== commit || table.entries.has(smallkey)) return;
				await table.change(new Map([[smallkey, renderFragments(layer, settings)]]));
			});
			await files.changed([smallkey]);
		}
	}

	async function save(): Promise<void> {
		const commit = served;
		if (commit === null || commit === saved) return;
		try {
			await saveSnapshot(snapshotPath, table, { commit, renderer });
			saved = commit;
		} catch (error) {
			log.error(error);
		}
	}

	return { table, files, begin, publish, close };
}
