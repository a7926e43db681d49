import { FastImport, type NewCommit } from "../../git/fast-import.ts";
import type { StoreLimits } from "./limits.ts";

/** What a writer needs from outside. */
export interface WriterOptions {
	repository: string;
	branch: string;
	limits: StoreLimits;
}

/** Writes commits to one branch by a `git fast-import` that is started when it is needed, and replaced in time. */
export class Writer {
	readonly #options: WriterOptions;
	#import: FastImport | null = null;
	/** The commit that the next one is built on, or, within a group, the one that the first was built on. */
	#tip: string;
	/** When it last gave a sign of life, by the monotonic clock. */
	#heardMs = 0;

	constructor(options: WriterOptions, tip: string) {
		this.#options = options;
		this.#tip = tip;
	}

	/** Goes on from a commit of the branch; another process does where that is not what this one wrote last. */
	async goOnFrom(tip: string): Promise<void> {
		if (this.#tip !== tip) await this.close();
		this.#tip = tip;
	}

	/** Writes a commit on top of the last one; its id comes before the next checkpoint's end. */
	commit(commit: NewCommit): Promise<string> {
		return this.#start().commit(commit);
	}

	/** Makes everything written so far durable, and moves the branch unless somebody else has. */
	async checkpoint(): Promise<void> {
		await this.#start().checkpoint();
		this.#heardMs = performance.now();
	}

	/** Takes note of what it wrote last, now that the branch has it. */
	landed(tip: string): void {
		this.#tip = tip;
	}

	/** Whether it has written so much that another one should go on. */
	get isWorn(): boolean {
		const { writerCommits, writerBytes } = this.#options.limits;
		const written = this.#import?.written;
		return written !== undefined && (written.commits >= writerCommits || written.bytes >= writerBytes);
	}

	/** Asks a writer at rest for a sign of life, not more often than needed. @throws {GitTimeout} where there is none */
	async probe(): Promise<void> {
		if (!this.#import || performance.now() - this.#heardMs < this.#options.limits.probeMs) return;
		await this.#import.ping();
		this.#heardMs = performance.now();
	}

	/** Ends it after everything written; the next commit starts another one. */
	async close(): Promise<void> {
		const ending = this.#import;
		this.#import = null;
		await ending?.close();
	}

	/** Ends it at once. */
	kill(): void {
		this.#import?.kill();
		this.#import = null;
	}

	#start(): FastImport {
		const { repository, branch, limits } = this.#options;
		this.#import ??= new FastImport(repository, branch, this.#tip, limits.silenceMs);
		return this.#import;
	}
}
