import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Fragments } from "../api/read.ts";
import { GitFailure } from "../git/run.ts";
import { problemLine } from "../registry/catalogue.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import type { Published, CommitRange as Step } from "../store/git/store.ts";
import { findEarlier } from "./earlier.ts";
import { entryOf } from "./entry.ts";
import { Files, type FilesTimes } from "./files.ts";
import { loadTable, saveTable } from "./kept.ts";
import { renderLargeStep } from "./large-change.ts";
import { rendererStamp } from "./manifest.ts";
import { Slices } from "./slices.ts";
import { fragmentSettings, renderSlots, type Slot, slotsOf } from "./slots.ts";
import { type RenderedStep, renderStep } from "./small-change.ts";
import { Table } from "./table.ts";

/** What a publication needs from outside. */
export interface PublicationOptions {
	/** Folder of the rendered files, and of what is kept for the next process. */
	dataDir: string;
	repository: string;
	settings: FragmentSettings;
	/** Told why a file is not served, and of the rendered files. */
	warn: (text: string) => void;
	/** Told of what went wrong where nobody waits for an answer. */
	report: (error: unknown) => void;
	/** Told which registrations were written, once they are served. */
	registered: (smallkeys: readonly string[]) => void;
	filesTimes?: Partial<FilesTimes> | undefined;
}

/** Longest that a large step may take, in milliseconds. */
const largeStepMs = 15 * 60_000;
/** Wrong files for which an earlier text is looked for. */
const mostWrong = 1_000;

/** Stands for what git cannot read. */
const unreadable = Symbol("unreadable");

/** What is said of a repository that does not have what was served last. */
function otherHistory(repository: string, commit: string): string {
	return `${repository} does not have commit ${commit}, which was served last: it is new, or an older copy, and served as it is`;
}

/** What a task gives, or that git cannot read what it needs. */
async function unlessUnreadable<T>(task: Promise<T>): Promise<T | typeof unreadable> {
	return task.catch((error) => {
		if (error instanceof GitFailure) return unreadable;
		throw error;
	});
}

/** What is served: the table, in step with the branch, and the rendered files, in step with the table. */
export class Publication {
	readonly #options: PublicationOptions;
	readonly #slots: readonly Slot[];
	readonly #renderer: string;
	readonly #table: Table;
	readonly files: Files;
	/** The commit that the table is of. */
	#commit: string | null = null;
	/** The commit that is kept for the next process. */
	#kept: string | null = null;
	/** The end of what changes the table now: one after the other. */
	#turn: Promise<unknown> = Promise.resolve();
	#background: Promise<void> = Promise.resolve();
	#closed = false;

	constructor(options: PublicationOptions) {
		const settings = fragmentSettings(options.settings);
		this.#options = { ...options, settings };
		this.#slots = slotsOf(settings);
		this.#renderer = rendererStamp(settings);
		this.#table = new Table(this.#slots);
		this.fragments = this.#table.find;
		this.version = this.#table.version;
		this.files = new Files({
			out: join(options.dataDir, "dist"),
			slots: this.#slots,
			table: this.#table,
			warn: options.warn,
			times: options.filesTimes,
		});
	}

	/** Where the reads look. */
	readonly fragments: Fragments;

	/** Another number after each change of any fragment. */
	readonly version: () => number;

	/** Number of layers that are served. */
	get size(): number {
		return this.#table.size;
	}

	/** Whether a layer is served. */
	has(smallkey: string): boolean {
		return this.#table.has(smallkey);
	}

	/** The smallkeys that are served, in no order. */
	smallkeys(): Iterable<string> {
		return this.#table.smallkeys();
	}

	/**
	 * Begins with what an earlier process kept, where it was of a commit that the repository still goes on from, and
	 * else with all layers. Whoever reads may be let in once this has ended; the files follow.
	 * @param since the step from a commit, or null where the history does not have it
	 * @param first the step from nothing
	 * @returns the commit that is served: the one that was kept, where the step from it cannot be read
	 * @throws {GitFailure} where the layers cannot be read, and none were kept
	 */
	async begin(since: (commit: string) => Promise<Step | null>, first: () => Promise<Step>): Promise<string> {
		const endedInStep = existsSync(this.#endedPath);
		await rm(this.#endedPath, { force: true }).catch(this.#options.report);
		const kept = loadTable(this.#keptPath, this.#renderer, this.#options.warn);
		const step = kept && (await unlessUnreadable(since(kept.commit)));
		if (kept && step === null) this.#options.warn(otherHistory(this.#options.repository, kept.commit));
		if (kept && step) {
			await this.#table.change(kept.changes);
			this.#kept = kept.commit;
			this.#commit = kept.commit;
		}
		const changed = step === unreadable ? unreadable : await this.#takeFirst(step, first);
		const isInStep = step !== null && endedInStep && (await this.files.countAll());
		if (isInStep && changed !== unreadable && !this.files.areFew) void this.files.changed(changed);
		else this.files.compareAll(existsSync(this.#keptPath));
		if (!step) void this.#save();
		return this.#commit as string;
	}

	/** Reads are let in with what was kept, where the step since then cannot be read. */
	async #takeFirst(step: Step | null, first: () => Promise<Step>): Promise<string[] | typeof unreadable> {
		return step ? unlessUnreadable(this.#take(step)) : this.#take(await first());
	}

	/** Makes a step readable in memory; its warnings come once the files are in step, or are known not to be. */
	async publish(step: Step): Promise<Published> {
		const changed = await this.#alone(() => this.#take(step));
		return { warnings: this.files.changed(changed) };
	}

	/** Ends, and keeps everything for the next process. */
	async close(): Promise<void> {
		this.#closed = true;
		await this.#background;
		const inStep = await this.files.close();
		await this.#save();
		if (inStep && this.#kept === this.#commit) {
			await writeFile(this.#endedPath, "").catch(this.#options.report);
		}
	}

	get #keptPath(): string {
		return join(this.#options.dataDir, "fragments");
	}

	/** The mark that says: the rendered files were in step at the end. */
	get #endedPath(): string {
		return `${this.#keptPath}.ended`;
	}

	#alone<T>(task: () => Promise<T>): Promise<T> {
		const result = this.#turn.then(task);
		this.#turn = result.catch(() => undefined);
		return result;
	}

	/** Renders a step and puts it in the table; the smallkeys whose fragments are others now. */
	async #take(step: Step): Promise<string[]> {
		const rendered = await this.#render(step);
		if (step.from === null) await this.#dropOthers(rendered);
		for (const problem of rendered.problems) this.#options.warn(problemLine(problem));
		const changed = await this.#table.change(rendered.changes);
		this.#commit = step.to;
		this.#options.registered(rendered.registered);
		const unserved = rendered.wrong.filter((smallkey) => !this.#table.has(smallkey));
		if (unserved.length > 0) this.#inBackground(() => this.#serveEarlier(unserved, step.to));
		if (step.changes === null) this.#inBackground(() => this.#save());
		return changed;
	}

	#render(step: Step): Promise<RenderedStep> {
		const { repository, settings } = this.#options;
		const { changes } = step;
		if (changes) return renderStep({ ...step, changes }, settings);
		return renderLargeStep(step, { repository, settings, timeoutMs: largeStepMs });
	}

	/** What a step from nothing does not bring is not there. */
	async #dropOthers({ changes, wrong }: RenderedStep): Promise<void> {
		const slices = new Slices();
		const stays = new Set(wrong);
		for (const smallkey of this.#table.smallkeys()) {
			if (!changes.has(smallkey) && !stays.has(smallkey)) changes.set(smallkey, null);
			await slices.pause();
		}
	}

	#inBackground(task: () => Promise<unknown>): void {
		this.#background = this.#background.then(async () => {
			if (!this.#closed) await task().catch(this.#options.report);
		});
	}

	/** Serves the last good text of layers whose files are wrong, each looked for once. */
	async #serveEarlier(smallkeys: readonly string[], commit: string): Promise<void> {
		const { repository, settings } = this.#options;
		for (const smallkey of smallkeys.slice(0, mostWrong)) {
			if (this.#closed) return;
			const registration = await findEarlier(repository, commit, smallkey);
			if (!registration) continue;
			await this.#alone(async () => {
				// It may have been mended, or removed, meanwhile.
				if (this.#commit !== commit || this.#table.has(smallkey)) return;
				const layer = { smallkey, registration, description: null };
				await this.#table.change(new Map([[smallkey, entryOf(renderSlots(layer, settings))]]));
			});
			await this.files.changed([smallkey]);
		}
	}

	/** Keeps the table for the next process. */
	async #save(): Promise<void> {
		const commit = this.#commit;
		if (commit === null || commit === this.#kept) return;
		try {
			await saveTable(this.#keptPath, this.#table, { commit, renderer: this.#renderer });
			this.#kept = commit;
		} catch (error) {
			this.#options.report(error);
		}
	}
}
