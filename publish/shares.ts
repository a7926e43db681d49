import { type ChildProcess, fork } from "node:child_process";
import { availableParallelism } from "node:os";
import type { Problem } from "../registry/catalogue.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { nothingWritten, type Written } from "./output.ts";
import { Share, type ShareSource } from "./share.ts";
import type { ShareOrder, ShareReport } from "./share-worker.ts";

/** Files from which a second process pays for its start. */
const filesForProcesses = 8_000;
/** More processes than this wait for the same disk. */
const mostProcesses = 4;

/** The whole of a build, in this process or in several. */
export interface Shares {
	/** Reads, checks and renders everything; every problem, in the order of the files. */
	render(settings: FragmentSettings): Promise<Problem[]>;
	/** Writes everything that was rendered. */
	write(out: string, isFresh: boolean, tick: (steps: number) => void): Promise<Written>;
	/** Ends the processes. */
	close(): Promise<void>;
}

/** Divides the files of a build: few stay in this process, many are shared out by whole folders. */
export function shareOut(source: ShareSource): Shares {
	const processes = Math.min(availableParallelism(), mostProcesses);
	if (source.files.length < filesForProcesses || processes < 2) return new OneShare(source);
	return new ProcessShares(divide(source, processes));
}

/** The folder of a path such as `layers/23/23ax5t.json`: all its files go to one share. */
function folderOfPath(path: string): string {
	return path.slice(0, path.indexOf("/", "layers/".length));
}

/** Cuts sorted files into `count` runs of about one length, never inside a folder. */
function divide(source: ShareSource, count: number): ShareSource[] {
	const { files } = source;
	const cuts = [0];
	for (let part = 1; part < count; part += 1) {
		let cut = Math.max(Math.floor((files.length * part) / count), cuts.at(-1) as number);
		const inside = (index: number) =>
			index > 0 &&
			index < files.length &&
			folderOfPath(files[index]?.path ?? "") === folderOfPath(files[index - 1]?.path ?? "");
		while (inside(cut)) cut += 1;
		cuts.push(cut);
	}
	return cuts.map((cut, part) => ({ ...source, files: files.slice(cut, cuts[part + 1]) }) as ShareSource);
}

class OneShare implements Shares {
	readonly #share = new Share();
	readonly #source: ShareSource;

	constructor(source: ShareSource) {
		this.#source = source;
	}

	render(settings: FragmentSettings): Promise<Problem[]> {
		return this.#share.render(this.#source, settings);
	}

	async write(out: string, isFresh: boolean, tick: (steps: number) => void): Promise<Written> {
		return this.#share.write(out, isFresh, 0, () => tick(1));
	}

	async close(): Promise<void> {}
}

class ProcessShares implements Shares {
	readonly #sources: ShareSource[];
	readonly #workers: ChildProcess[];

	constructor(sources: ShareSource[]) {
		this.#sources = sources;
		const file = new URL("./share-worker.ts", import.meta.url);
		this.#workers = sources.map(() =>
			fork(file, { execArgv: ["--import", "tsx"], env: { PATH: process.env.PATH } }),
		);
	}

	async render(settings: FragmentSettings): Promise<Problem[]> {
		const rendering = this.#workers.map(async (worker, index) => {
			const source = this.#sources[index] as ShareSource;
			const report = await ask(worker, { kind: "render", source, settings }, () => undefined);
			return report.kind === "rendered" ? report.problems : [];
		});
		return (await Promise.all(rendering)).flat();
	}

	async write(out: string, isFresh: boolean, tick: (steps: number) => void): Promise<Written> {
		const total: Written = nothingWritten();
		const writing = this.#workers.map(async (worker, index) => {
			const order: ShareOrder = { kind: "write", out, isFresh, start: index };
			const report = await ask(worker, order, tick);
			if (report.kind !== "written") return;
			total.written += report.written.written;
			total.added += report.written.added;
			total.removed += report.written.removed;
			total.unchanged += report.written.unchanged;
		});
		await Promise.all(writing);
		return total;
	}

	async close(): Promise<void> {
		for (const worker of this.#workers) worker.kill();
	}
}

/** Sends an order and waits for its report; a process that fails fails the build. */
function ask(worker: ChildProcess, order: ShareOrder, tick: (steps: number) => void): Promise<ShareReport> {
	return new Promise((resolve, reject) => {
		const fail = () => reject(new Error("a part of the build failed; its error stands above"));
		const take = (report: ShareReport) => {
			if (report.kind === "ticks") return tick(report.ticks);
			worker.off("message", take);
			worker.off("exit", fail);
			resolve(report);
		};
		worker.on("message", take);
		worker.once("exit", fail);
		worker.send(order);
	});
}
