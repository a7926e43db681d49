import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GitFailure } from "../git/run.ts";
import { problemLine } from "../registry/judge.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import type { Branch, CommitRange, Published } from "../store/git/branch.ts";
import type { Log } from "../store/log.ts";
import { findEarlier, maxWrong } from "./commit-layers.ts";
import { renderEntry } from "./entry.ts";
import { FolderSink, type FolderTimes } from "./folder-sink.ts";
import { rendererStamp } from "./manifest.ts";
import { isLarge, type RenderedRange, renderRange } from "./range.ts";
import { eachInSlices } from "./slices.ts";
import { fragmentSettings, slotsOf } from "./slots.ts";
import { loadSnapshot, saveSnapshot } from "./snapshot.ts";
import { Table } from "./table.ts";

export interface PublicationOptions {
	dataDir: string;
	repository: string;
	settings: FragmentSettings;
	log: Log;
	/** Called with the registrations that were written, once they are served. */
	registered: (smallkeys: readonly string[]) => void;
	filesTimes?: Partial<FolderTimes> | undefined;
}

const unreadable = Symbol("unreadable");

/** The warning about a repository that does not have what was served last. */
function otherHistory(repository: string, commit: string): string {
	return `${repository} does not have commit ${commit}, which was served last: it is new, or an older copy, and served as it is`;
}

/** The value of a task; `unreadable` where git cannot read what it needs. */
async function unlessUnreadable<T>(task: Promise<T>): Promise<T | typeof unreadable> {
	return task.catch((error) => {
		if (error instanceof GitFailure) return unreadable;
		throw error;
	});
}

/** What is served: the table, which follows the branch, and the rendered files, which follow the table. */
export class Publication {
	readonly #options: PublicationOptions;
	readonly #renderer: string;
	readonly table: Table;
	readonly files: FolderSink;
	#commit: string | null = null;
	#saved: string | null = null;
	/** The end of the last change of the table: changes are made one after the other. */
	#lastChange: Promise<unknown> = Promise.resolve();
	#background: Promise<void> = Promise.resolve();
	#closed = false;

	constructor(options: PublicationOptions) {
		const settings = fragmentSettings(options.settings);
		this.#options = { ...options, settings };
		this.#renderer = rendererStamp(settings);
		const { dataDir, log, filesTimes: times } = options;
		const slots = slotsOf(settings);
		this.table = new Table(slots);
		this.files = new FolderSink({ out: join(dataDir, "dist"), slots, table: this.table, log, times });
	}

	/**
	 * Begins with the snapshot of an earlier process where its commit is in the repository's history, and else with all
	 * layers. Readers may be let in once this has ended; the files follow.
	 * @returns the commit that is served: that of the snapshot where the range from it cannot be read
	 * @throws {GitFailure} where the layers cannot be read, and there is no snapshot
	 */
	async begin(branch: Pick<Branch, "rangeSince" | "firstRange">): Promise<string> {
		const { log, repository } = this.#options;
		const wasCurrent = existsSync(this.#endedPath);
		await rm(this.#endedPath, { force: true }).catch(log.error);
		const snapshot = loadSnapshot(this.#snapshotPath, this.#renderer, log);
		const range = snapshot && (await unlessUnreadable(branch.rangeSince(snapshot.commit)));
		if (!snapshot || range === null) {
			if (snapshot) log.warn(otherHistory(repository, snapshot.commit));
			await this.#take(await branch.firstRange());
			this.files.compareAll(existsSync(this.#snapshotPath));
			void this.#save();
			return this.#commit as string;
		}
		await this.table.change(snapshot.changes);
		this.#saved = snapshot.commit;
		this.#commit = snapshot.commit;
		const changed = range === unreadable ? unreadable : await unlessUnreadable(this.#take(range));
		const mayBeCurrent = wasCurrent && changed !== unreadable && !this.files.isSmall;
		if (mayBeCurrent && (await this.files.isComplete())) void this.files.changed(changed);
		else this.files.compareAll(true);
		return this.#commit;
	}

	/** Makes a range readable in memory. Its warnings come once the files are written, or have failed. */
	async publish(range: CommitRange): Promise<Published> {
		const changed = await this.#exclusive(() => this.#take(range));
		return { warnings: this.files.changed(changed) };
	}

	async close(): Promise<void> {
		this.#closed = true;
		await this.#background;
		const areCurrent = await this.files.close();
		await this.#save();
		if (areCurrent && this.#saved === this.#commit) {
			await writeFile(this.#endedPath, "").catch(this.#options.log.error);
		}
	}

	get #snapshotPath(): string {
		return join(this.#options.dataDir, "fragments");
	}

	/** The mark of an end at which the rendered files were current. */
	get #endedPath(): string {
		return `${this.#snapshotPath}.ended`;
	}

	#exclusive<T>(task: () => Promise<T>): Promise<T> {
		const result = this.#lastChange.then(task);
		this.#lastChange = result.catch(() => undefined);
		return result;
	}

	/** Renders a range and puts it in the table; the smallkeys whose fragments changed. */
	async #take(range: CommitRange): Promise<string[]> {
		const { repository, settings } = this.#options;
		const rendered = await renderRange(range, repository, settings);
		if (range.from === null) await this.#dropOthers(rendered);
		for (const problem of rendered.problems) this.#options.log.warn(problemLine(problem));
		const changed = await this.table.change(rendered.changes);
		this.#commit = range.to;
		this.#options.registered(rendered.registered);
		const unserved = rendered.wrong.filter((smallkey) => !this.table.entries.has(smallkey));
		if (unserved.length > 0) this.#inBackground(() => this.#serveEarlier(unserved, range.to));
		if (isLarge(range)) this.#inBackground(() => this.#save());
		return changed;
	}

	/** What a range from nothing does not bring is not there. */
	async #dropOthers({ changes, wrong }: RenderedRange): Promise<void> {
		const stays = new Set(wrong);
		await eachInSlices(this.table.smallkeys(), (smallkey) => {
			if (!changes.has(smallkey) && !stays.has(smallkey)) changes.set(smallkey, null);
		});
	}

	#inBackground(task: () => Promise<unknown>): void {
		this.#background = this.#background.then(async () => {
			if (!this.#closed) await task().catch(this.#options.log.error);
		});
	}

	/** Serves the last good text of layers whose files are wrong, each looked for once. */
	async #serveEarlier(smallkeys: readonly string[], commit: string): Promise<void> {
		const { repository, settings } = this.#options;
		for (const smallkey of smallkeys.slice(0, maxWrong)) {
			if (this.#closed) return;
			const layer = await findEarlier(repository, commit, smallkey);
			if (!layer) continue;
			await this.#exclusive(async () => {
				// It may have been corrected, or removed, meanwhile.
				if (this.#commit !== commit || this.table.entries.has(smallkey)) return;
				await this.table.change(new Map([[smallkey, renderEntry(layer, settings)]]));
			});
			await this.files.changed([smallkey]);
		}
	}

	async #save(): Promise<void> {
		const commit = this.#commit;
		if (commit === null || commit === this.#saved) return;
		try {
			await saveSnapshot(this.#snapshotPath, this.table, { commit, renderer: this.#renderer });
			this.#saved = commit;
		} catch (error) {
			this.#options.log.error(error);
		}
	}
}
