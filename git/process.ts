import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { GitFailure, GitKilled, GitTimeout, killGroup, startGit } from "./run.ts";

/** Most bytes of one write: each write that the process has read is a sign of life. */
const bytesPerWrite = 256 * 1024;

/** How a long-lived process is watched. */
export interface ProcessOptions {
	/** Receives what it prints. */
	take: (data: Buffer) => void;
	/** Called once with the reason why it no longer answers: it has ended, or was ended here. */
	ended: (error: Error) => void;
	/** Longest time without output or input while an answer is awaited, in milliseconds. */
	silenceMs: number;
}

/**
 * A git process that is used over its pipes. One that is silent while an answer is awaited is ended: otherwise a stopped
 * process, or one that waits for a disk, would block all changes.
 */
export class GitProcess {
	readonly #child: ChildProcessWithoutNullStreams;
	readonly #options: ProcessOptions;
	readonly #name: string;
	readonly #closed: Promise<void>;
	#resolveClosed: () => void = () => undefined;
	#hasEnded = false;
	#isAwaited = false;
	/** What is written at the end of this iteration of the event loop. */
	#unwritten: string[] = [];
	#flushing: NodeJS.Immediate | null = null;
	#timer: NodeJS.Timeout | null = null;
	/** When it last gave a sign of life, by the monotonic clock. */
	#heard = 0;

	/** @throws {Error} where it cannot be started */
	constructor(repository: string, args: string[], name: string, options: ProcessOptions) {
		this.#options = options;
		this.#name = name;
		this.#closed = new Promise((resolve) => {
			this.#resolveClosed = resolve;
		});
		this.#child = startGit(repository, args);
		this.#watch(this.#child);
	}

	/** Writes to it, together with what else is written in this iteration of the event loop. */
	write(text: string): void {
		this.#unwritten.push(text);
		this.#flushing ??= setImmediate(() => this.#flush());
	}

	/** Whether an answer is awaited now: only then is silence a fault. */
	set isAwaited(isAwaited: boolean) {
		if (isAwaited && !this.#isAwaited) {
			this.#heard = performance.now();
			this.#timer ??= setTimeout(() => this.#check(), this.#options.silenceMs);
		}
		this.#isAwaited = isAwaited;
	}

	/** Ends it after a last command, and waits for its end within `silenceMs`. */
	async close(last = ""): Promise<void> {
		if (this.#hasEnded) return this.#closed;
		this.isAwaited = true;
		this.#flush();
		this.#child.stdin.end(last);
		await this.#closed;
	}

	/** Ends it at once; `ended` receives the reason. */
	kill(error: Error = new GitFailure(`git ${this.#name}: was ended`)): void {
		if (this.#hasEnded) return;
		killGroup(this.#child);
		this.#end(error);
	}

	/** A write of its own for each of a hundred questions would cost more than the answers. */
	#flush(): void {
		if (this.#flushing) clearImmediate(this.#flushing);
		this.#flushing = null;
		if (this.#hasEnded || this.#unwritten.length === 0) return;
		const text = this.#unwritten.join("");
		this.#unwritten = [];
		if (text.length < bytesPerWrite / 4) return this.#write(text);
		const bytes = Buffer.from(text);
		for (let start = 0; start < bytes.length; start += bytesPerWrite) {
			this.#write(bytes.subarray(start, start + bytesPerWrite));
		}
	}

	#write(data: string | Buffer): void {
		this.#child.stdin.write(data, () => {
			this.#heard = performance.now();
		});
	}

	#watch(child: ChildProcessWithoutNullStreams): void {
		let complaint = "";
		child.stderr.on("data", (data: Buffer) => {
			complaint = (complaint + data).slice(-4000);
		});
		child.stdin.on("error", () => undefined);
		child.stdout.on("data", (data: Buffer) => {
			if (this.#hasEnded) return;
			this.#heard = performance.now();
			this.#options.take(data);
		});
		child.on("error", (error) => this.#end(new GitFailure(`git ${this.#name}: ${error.message}`)));
		child.on("close", (code, signal) => {
			const said = complaint.trim() || `with ${signal ?? code}`;
			this.#end(
				signal ? new GitKilled(this.#name, signal) : new GitFailure(`git ${this.#name} ended: ${said}`),
			);
		});
	}

	#end(error: Error): void {
		if (this.#timer) clearTimeout(this.#timer);
		this.#timer = null;
		this.#resolveClosed();
		if (this.#hasEnded) return;
		this.#hasEnded = true;
		this.#options.ended(error);
	}

	#check(): void {
		this.#timer = null;
		if (!this.#isAwaited || this.#hasEnded) return;
		const { silenceMs } = this.#options;
		const silentMs = performance.now() - this.#heard;
		if (silentMs >= silenceMs) return this.kill(new GitTimeout(this.#name, silenceMs));
		this.#timer = setTimeout(() => this.#check(), silenceMs - silentMs);
	}
}
