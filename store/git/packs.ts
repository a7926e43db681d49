import { runGit } from "../../git/run.ts";
import type { StoreLimits } from "./limits.ts";
import { type MeasureGit, measured } from "./measure.ts";
import { countPacks } from "./repository.ts";

/** Readers and publishers come first; but packs must not become many more meanwhile. */
const niceness = 5;

/** What the packs need from outside. */
export interface PacksOptions {
	repository: string;
	limits: StoreLimits;
	report: (error: unknown) => void;
	measure: MeasureGit;
}

/**
 * The packs of a repository: each checkpoint and each push leaves one, and every object that is written is looked for
 * in all of them. They are gathered beside the running writer, whose own are marked and left alone (git-repack(1),
 * "--geometric"); so it has to be another writer from time to time.
 */
export class Packs {
	readonly #options: PacksOptions;
	#count = 0;
	#lastChangeMs = Number.NEGATIVE_INFINITY;
	#gathering: Promise<void> | null = null;
	#gathered: () => void = () => undefined;

	constructor(options: PacksOptions) {
		this.#options = options;
	}

	/** Has somebody told each time that packs were gathered: those of before have gone. */
	whenGathered(gathered: () => void): void {
		this.#gathered = gathered;
	}

	/** Takes note of a change by this process. */
	written(): void {
		this.#count += 1;
		this.#lastChangeMs = performance.now();
	}

	/** Counts the packs that are there. */
	async count(): Promise<void> {
		this.#count = await countPacks(this.#options.repository);
	}

	/** Whether they should be gathered now. */
	get areMany(): boolean {
		const { packsAtRest, packsAtMost, restMs } = this.#options.limits;
		if (this.#gathering) return false;
		if (this.#count >= packsAtMost) return true;
		return this.#count >= packsAtRest && performance.now() - this.#lastChangeMs > restMs;
	}

	/** Gathers them in the background; the writer of before has ended. */
	gather(): void {
		this.#count = 0;
		this.#gathering ??= this.#gather()
			.catch(this.#options.report)
			.finally(() => {
				this.#gathering = null;
			});
	}

	/** Ends when nothing is gathered any more. */
	async idle(): Promise<void> {
		await this.#gathering;
	}

	async #gather(): Promise<void> {
		const { repository, limits, measure } = this.#options;
		await measured(measure, "repack", () =>
			runGit(repository, ["repack", "-q", "-d", "-l", "--geometric=2", "--threads=1"], {
				limitMs: limits.repackMs,
				niceness,
			}),
		);
		this.#gathered();
		await this.count();
	}
}
