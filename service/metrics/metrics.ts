import { statfs } from "node:fs/promises";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { RouteName } from "../../api/node/serve.ts";
import { readCommit, readVersion } from "../../files/version.ts";
import type { GitOperation } from "../../store/git/store.ts";
import type { Gauges, Measures } from "../measures.ts";

/** What the gauges are read from. */
export interface MetricsOptions {
	/** The folder whose disk is measured. */
	dataDir: string;
	/** Reads the present state of the service. */
	gauges: () => Promise<Gauges>;
}

/** Upper bounds of the histogram of answers, in seconds; RAMP 4.0.x gives up after 2 s. */
const answerBounds = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

/** Upper bounds of the histogram of git's times, in seconds. */
const gitBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Prefix of our own metrics. */
const prefix = "fragments_";

const gaugeTexts = {
	layers: "Layers that are served.",
	queue: "Changes that wait, or are under way.",
	commits_behind: "Commits of the branch that are not served yet.",
	files_behind: "Layers whose rendered files are older than what is served.",
	harvests_waiting: "Layers that wait to be harvested.",
	ready: "1 where /readyz says 200, else 0.",
	disk_free_bytes: "Bytes that DATA_DIR's disk has left for the service.",
	disk_size_bytes: "Bytes of DATA_DIR's disk.",
} as const;

/** The metrics of one running service, in the text format of Prometheus. */
export class Metrics implements Measures {
	readonly #registry = new Registry();
	readonly #gauges: Record<keyof typeof gaugeTexts, Gauge>;
	readonly #commits: Counter;
	readonly #harvests: Counter;
	readonly #git: Histogram;
	readonly #requests: Counter;
	readonly #refused: Counter;
	readonly #answers: Histogram;

	constructor() {
		const registers = [this.#registry];
		collectDefaultMetrics({ register: this.#registry });
		new Gauge({
			name: `${prefix}info`,
			help: "The version that runs, and its commit where that is known.",
			labelNames: ["version", "commit"],
			registers,
		}).set({ version: readVersion(), commit: readCommit() ?? "" }, 1);
		const gauges = Object.entries(gaugeTexts).map(([name, help]) => [
			name,
			new Gauge({ name: prefix + name, help, registers }),
		]);
		this.#gauges = Object.fromEntries(gauges) as Record<keyof typeof gaugeTexts, Gauge>;
		this.#commits = new Counter({
			name: `${prefix}commits_total`,
			help: "Commits of this process, by who asked: a sender, or the service itself.",
			labelNames: ["by"],
			registers,
		});
		this.#harvests = new Counter({
			name: `${prefix}harvests_total`,
			help: "Layers whose services were asked, by outcome.",
			labelNames: ["outcome"],
			registers,
		});
		this.#git = new Histogram({
			name: `${prefix}git_seconds`,
			help: "What git takes for what others wait for: a checkpoint of commits, a push, a repack.",
			labelNames: ["operation"],
			buckets: gitBounds,
			registers,
		});
		this.#requests = new Counter({
			name: `${prefix}requests_total`,
			help: "Answers by route and status; 499: the client went away before.",
			labelNames: ["route", "status"],
			registers,
		});
		this.#refused = new Counter({
			name: `${prefix}writes_refused_total`,
			help: "Writes that were refused, by reason.",
			labelNames: ["reason"],
			registers,
		});
		this.#answers = new Histogram({
			name: `${prefix}request_seconds`,
			help: "From a request's head to its answer, by route.",
			labelNames: ["route"],
			buckets: answerBounds,
			registers,
		});
	}

	/** Counts one answer. @param reason why a write was refused */
	readonly answer = (route: RouteName, status: number, ms: number, reason: string | undefined): void => {
		this.#requests.inc({ route, status });
		this.#answers.observe({ route }, ms / 1_000);
		if (reason !== undefined) this.#refused.inc({ reason });
	};

	commit(by: "sender" | "service"): void {
		this.#commits.inc({ by });
	}

	git(operation: GitOperation, ms: number): void {
		this.#git.observe({ operation }, ms / 1_000);
	}

	harvest(outcome: string): void {
		this.#harvests.inc({ outcome });
	}

	/** All metrics as text. @throws {Error} where the disk cannot be measured */
	async text({ dataDir, gauges }: MetricsOptions): Promise<string> {
		const [now, disk] = await Promise.all([gauges(), statfs(dataDir)]);
		const values: Record<keyof typeof gaugeTexts, number | null> = {
			layers: now.layers,
			queue: now.queue,
			commits_behind: now.commitsBehind,
			files_behind: now.filesBehind,
			harvests_waiting: now.harvestsWaiting,
			ready: now.isReady ? 1 : 0,
			disk_free_bytes: disk.bavail * disk.bsize,
			disk_size_bytes: disk.blocks * disk.bsize,
		};
		for (const [name, value] of Object.entries(values) as [keyof typeof values, number | null][]) {
			// A gauge that is not known here is left out.
			if (value === null) this.#registry.removeSingleMetric(prefix + name);
			else this.#gauges[name].set(value);
		}
		return this.#registry.metrics();
	}

	/** `Content-Type` of the text. */
	get type(): string {
		return this.#registry.contentType;
	}
}
