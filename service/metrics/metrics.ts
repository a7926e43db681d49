import type { StatsFs } from "node:fs";
import { statfs } from "node:fs/promises";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { RouteName } from "../../api/node/exchange.ts";
import { readCommit, readVersion } from "../../files/version.ts";
import type { GitOperation } from "../../store/git/base.ts";
import { isRefusal, type Store } from "../../store/store.ts";

/** The current state of a running service; values that are not known are absent or null. */
export interface Gauges {
	layers: number;
	/** Waiting and running changes. */
	queue?: number | null;
	/** Commits of the branch that are not served yet. */
	commitsBehind?: number | null;
	/** Layers whose rendered files are outdated. */
	filesBehind?: number | null;
	/** Layers that wait to be harvested. */
	harvestsWaiting?: number | null;
	/** Whether `/readyz` answers 200. */
	isReady: boolean;
}

/** Upper bounds of the histogram of answers, in seconds; RAMP 4.0.x gives up after 2 s. */
const answerBounds = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

/** Upper bounds of the histogram of git's times, in seconds. */
const gitBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const prefix = "fragments_";

/** Each gauge with its help text and its value. A gauge without a value is left out. */
const gauges: readonly [
	name: string,
	help: string,
	of: (now: Gauges, disk: StatsFs) => number | null | undefined,
][] = [
	["layers", "Layers that are served.", (now) => now.layers],
	["queue", "Changes that wait, or are under way.", (now) => now.queue],
	["commits_behind", "Commits of the branch that are not served yet.", (now) => now.commitsBehind],
	["files_behind", "Layers whose rendered files are older than what is served.", (now) => now.filesBehind],
	["harvests_waiting", "Layers that wait to be harvested.", (now) => now.harvestsWaiting],
	["ready", "1 where /readyz says 200, else 0.", (now) => (now.isReady ? 1 : 0)],
	[
		"disk_free_bytes",
		"Bytes that DATA_DIR's disk has left for the service.",
		(_now, disk) => disk.bavail * disk.bsize,
	],
	["disk_size_bytes", "Bytes of DATA_DIR's disk.", (_now, disk) => disk.blocks * disk.bsize],
];

/** The metrics of one running service, in the text format of Prometheus. */
export class Metrics {
	readonly #registry = new Registry();
	readonly #commits = this.#counter(
		"commits_total",
		"Commits of this process, by who asked: a sender, or the service itself.",
		"by",
	);
	readonly #harvests = this.#counter(
		"harvests_total",
		"Layers whose services were asked, by outcome.",
		"outcome",
	);
	readonly #git = this.#histogram(
		"git_seconds",
		"What git takes for what others wait for: a checkpoint of commits, a push, a repack.",
		"operation",
		gitBounds,
	);
	readonly #requests = this.#counter(
		"requests_total",
		"Answers by route and status; 499: the client went away before.",
		"route",
		"status",
	);
	readonly #refused = this.#counter("writes_refused_total", "Writes that were refused, by reason.", "reason");
	readonly #answers = this.#histogram(
		"request_seconds",
		"From a request's head to its answer, by route.",
		"route",
		answerBounds,
	);

	constructor() {
		collectDefaultMetrics({ register: this.#registry });
		new Gauge({
			name: `${prefix}info`,
			help: "The version that runs, and its commit where that is known.",
			labelNames: ["version", "commit"],
			registers: [this.#registry],
		}).set({ version: readVersion(), commit: readCommit() ?? "" }, 1);
	}

	#counter(name: string, help: string, ...labelNames: string[]): Counter {
		return new Counter({ name: prefix + name, help, labelNames, registers: [this.#registry] });
	}

	#histogram(name: string, help: string, label: string, buckets: number[]): Histogram {
		const registers = [this.#registry];
		return new Histogram({ name: prefix + name, help, labelNames: [label], buckets, registers });
	}

	/** Counts one answer. @param reason why a write was refused */
	readonly answer = (route: RouteName, status: number, ms: number, reason: string | undefined): void => {
		this.#requests.inc({ route, status });
		this.#answers.observe({ route }, ms / 1_000);
		if (reason !== undefined) this.#refused.inc({ reason });
	};

	/** Counts the commits of a store from now on, by sender or service. @returns the same store */
	countCommits<S extends Store>(store: S): S {
		const change = store.change.bind(store);
		store.change = async (edits, meta) => {
			const outcome = await change(edits, meta);
			const by = meta.request === null ? "service" : "sender";
			if (!isRefusal(outcome) && outcome.changed) this.#commits.inc({ by });
			return outcome;
		};
		return store;
	}

	/** Measures an operation of git that requests wait for. */
	readonly git = (operation: GitOperation, ms: number): void => {
		this.#git.observe({ operation }, ms / 1_000);
	};

	/** Counts a harvest: `changed`, `unchanged`, `dropped` or `failed`. */
	readonly harvest = (outcome: string): void => {
		this.#harvests.inc({ outcome });
	};

	/**
	 * All metrics as text.
	 * @param dataDir the folder whose disk is measured
	 * @param read reads the present state of the service
	 * @throws {Error} if the disk cannot be measured
	 */
	async text(dataDir: string, read: () => Promise<Gauges>): Promise<string> {
		const [now, disk] = await Promise.all([read(), statfs(dataDir)]);
		for (const [name, help, of] of gauges) {
			const value = of(now, disk);
			this.#registry.removeSingleMetric(prefix + name);
			if (value != null) new Gauge({ name: prefix + name, help, registers: [this.#registry] }).set(value);
		}
		return this.#registry.metrics();
	}

	get type(): string {
		return this.#registry.contentType;
	}
}
