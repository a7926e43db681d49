import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { type ActionCall, actions } from "./actions.ts";
import { type Contexts, type Functions, filled, isMet, isTrue, textOf } from "./expressions.ts";

type Texts = Record<string, unknown>;

interface Step {
	id?: string;
	name?: string;
	if?: string;
	uses?: string;
	run?: string;
	shell?: string;
	with?: Texts;
	env?: Texts;
	"continue-on-error"?: boolean;
}

interface Job {
	name?: string;
	needs?: string | string[];
	if?: string;
	env?: Texts;
	outputs?: Record<string, string>;
	environment?: { name: string };
	strategy?: { matrix: Record<string, unknown> };
	steps: Step[];
}

export interface Workflow {
	name: string;
	on: Record<string, Texts | null>;
	env?: Texts;
	concurrency?: { group: string };
	jobs: Record<string, Job>;
}

export type Result = "success" | "failure" | "skipped";

/** What starts a run, as GitHub describes it in the context `github`. */
export interface Start {
	event: string;
	ref: string;
	sha: string;
	payload: Record<string, unknown>;
	/** From 1; a run that is started again has the same commit and event. */
	attempt?: number;
}

/** What a run needs of GitHub. */
export interface Host
	extends Pick<ActionCall, "remote" | "folder" | "createToken" | "appSlug" | "environment"> {
	defaultBranch: string;
	variables: Record<string, string>;
	/** Secrets of each environment: only a run on the default branch gets them (GitHub, "Deployment branches and tags"). */
	secrets: Record<string, Record<string, string>>;
	/** The token of a run, which may read. */
	token: string;
	/** Happens when a job has ended: what another one could have handed over. */
	afterJob?: (id: string, run: Run) => void;
	/** Texts that may not be handed from one job to another. */
	isSecret: (text: string) => boolean;
}

export interface PlayedJob {
	name: string;
	result: Result;
	outputs: Record<string, string>;
	/** What its commands have printed, and why it failed. */
	log: string;
	workspaces: string[];
}

/** A run of one workflow: its jobs by their ids. */
export interface Run {
	workflow: Workflow;
	start: Start;
	conclusion: Result;
	jobs: Record<string, PlayedJob>;
	artifacts: Map<string, string>;
}

/** How a job, or a step before, has ended. */
const statusOf = (results: readonly Result[]): Functions => ({
	success: () => results.every((result) => result === "success"),
	failure: () => results.includes("failure"),
	cancelled: () => false,
	always: () => true,
});

/** Plays an event through the jobs of a workflow, each after those that it needs. */
export async function play(workflow: Workflow, start: Start, host: Host): Promise<Run> {
	const run: Run = { workflow, start, conclusion: "success", jobs: {}, artifacts: new Map() };
	const { pull_request: pull } = start.payload as { pull_request?: Record<string, { ref: string }> };
	const github = {
		event_name: start.event,
		event: start.payload,
		ref: start.ref,
		ref_name: start.ref.replace(/^refs\/(?:heads|tags|pull)\//, ""),
		sha: start.sha,
		base_ref: pull?.base?.ref ?? "",
		head_ref: pull?.head?.ref ?? "",
		repository: "maps/layers",
		repository_owner: "maps",
		server_url: "https://github.example",
		run_id: 1,
		run_attempt: start.attempt ?? 1,
		token: host.token,
	};
	const contexts: Contexts = { github, vars: host.variables };
	const playing = new Map<string, Promise<void>>();
	const playOne = async (id: string): Promise<void> => {
		const job = workflow.jobs[id] as Job;
		const needed = [job.needs ?? []].flat();
		await Promise.all(needed.map((one) => playing.get(one)));
		const needs = Object.fromEntries(needed.map((one) => [one, run.jobs[one]]));
		run.jobs[id] = await playJob(id, job, { ...contexts, needs }, ancestorsOf(workflow, needed));
		host.afterJob?.(id, run);
	};
	// A job that is needed may stand below the one that needs it.
	const begin = (id: string): Promise<void> => {
		for (const one of [workflow.jobs[id]?.needs ?? []].flat()) begin(one);
		const known = playing.get(id);
		if (known) return known;
		const started = playOne(id);
		playing.set(id, started);
		return started;
	};
	await Promise.all(Object.keys(workflow.jobs).map(begin));
	const results = Object.values(run.jobs).map(({ result }) => result);
	run.conclusion = results.includes("failure") ? "failure" : "success";
	if (results.every((result) => result === "skipped")) run.conclusion = "skipped";
	return run;

	/** All jobs before one: `success()` asks for all of them (actions/runner, issue 491). */
	function ancestorsOf({ jobs }: Workflow, ids: readonly string[]): string[] {
		return ids.flatMap((id) => [id, ...ancestorsOf(workflow, [jobs[id]?.needs ?? []].flat())]);
	}

	async function playJob(id: string, job: Job, contexts: Contexts, before: string[]): Promise<PlayedJob> {
		const status = statusOf(before.map((one) => run.jobs[one]?.result ?? "skipped"));
		const played: PlayedJob = { name: id, result: "skipped", outputs: {}, log: "", workspaces: [] };
		played.name = textOf(filled(job.name ?? id, contexts, status));
		if (!isMet(job.if, contexts, status)) return played;
		played.result = "success";
		for (const matrix of combinations(job, contexts)) {
			const steps = new JobSteps(run, host, { ...contexts, matrix }, job);
			const result = await steps.play(job.steps);
			played.log += steps.log;
			played.workspaces.push(steps.workspace);
			if (result === "failure") played.result = "failure";
			for (const [name, text] of Object.entries(job.outputs ?? {})) {
				const value = textOf(filled(text, steps.contexts));
				// A text with a secret in it is not handed on (actions/runner, `JobExtension`).
				if (!host.isSecret(value)) played.outputs[name] = value;
			}
		}
		return played;
	}
}

function combinations({ strategy }: Job, contexts: Contexts): Record<string, unknown>[] {
	if (!strategy) return [{}];
	const [[name, values] = ["", []], ...others] = Object.entries(strategy.matrix);
	if (others.length > 0) throw new Error("a matrix of two is not played");
	const all = filled(values, contexts) as unknown[];
	if (all.length === 0) throw new Error(`Matrix vector '${name}' does not contain any values`);
	return all.map((value) => ({ [name]: value }));
}

/** The steps of one job, on a machine of its own. */
class JobSteps {
	readonly workspace: string;
	readonly contexts: Contexts;
	log = "";
	#isFailed = false;
	readonly #steps: Record<string, { outputs: Record<string, string>; outcome: Result }> = {};

	constructor(
		readonly run: Run,
		readonly host: Host,
		contexts: Contexts,
		job: Job,
	) {
		this.workspace = mkdtempSync(join(host.folder, "job-"));
		const isTrusted = run.start.ref === `refs/heads/${host.defaultBranch}`;
		const secrets = isTrusted ? (host.secrets[job.environment?.name ?? ""] ?? {}) : {};
		const env = { ...run.workflow.env, ...job.env };
		const all = { ...contexts, secrets, steps: this.#steps };
		this.contexts = { ...all, env: valuesOf(env, all) };
	}

	async play(steps: readonly Step[]): Promise<Result> {
		for (const step of steps) await this.#playStep(step);
		return this.#isFailed ? "failure" : "success";
	}

	async #playStep(step: Step): Promise<void> {
		const status = statusOf([this.#isFailed ? "failure" : "success"]);
		const stepEnv = valuesOf(step.env ?? {}, this.contexts);
		const contexts = { ...this.contexts, env: { ...(this.contexts.env as Texts), ...stepEnv } };
		const own = step.id ?? `#${Object.keys(this.#steps).length}`;
		this.#steps[own] = { outputs: {}, outcome: "skipped" };
		if (!isMet(step.if, contexts, status)) return;
		try {
			const outputs = await this.#do(step, contexts);
			this.#steps[own] = { outputs, outcome: "success" };
		} catch (error) {
			this.#steps[own] = { outputs: {}, outcome: "failure" };
			this.log += `##[error]${(error as Error).message}\n`;
			if (!isTrue(step["continue-on-error"])) this.#isFailed = true;
		}
	}

	async #do(step: Step, contexts: Contexts): Promise<Record<string, string>> {
		if (step.run !== undefined) return this.#bash(step.run, step.shell, contexts);
		const [name = "", commit] = (step.uses ?? "").split("@");
		if (name.startsWith("./")) {
			const file = join(this.workspace, name, "action.yml");
			if (!existsSync(file)) throw new Error(`Can't find 'action.yml' under '${name}'`);
			const { runs } = parse(readFileSync(file, "utf8")) as { runs: { steps: Step[] } };
			for (const inner of runs.steps) await this.#do(inner, contexts);
			return {};
		}
		const action = actions[name];
		if (!action || !/^[0-9a-f]{40}$/.test(commit ?? "")) throw new Error(`${step.uses}: is not played`);
		const { run, host, workspace } = this;
		const { ref, sha } = run.start;
		const inputs = valuesOf(step.with ?? {}, contexts);
		return action({ ...host, inputs, workspace, ref, sha, artifacts: run.artifacts });
	}

	/** GitHub's own words: `bash -e {0}`, and with `shell: bash` also `-o pipefail` (GitHub, "Workflow syntax", `shell`). */
	async #bash(
		script: string,
		shell: string | undefined,
		contexts: Contexts,
	): Promise<Record<string, string>> {
		const { host, workspace, run } = this;
		const files = mkdtempSync(join(host.folder, "step-"));
		const [path, output, later] = ["script.sh", "output", "env"].map((name) => join(files, name)) as [
			string,
			string,
			string,
		];
		writeFileSync(path, script);
		writeFileSync(output, "");
		writeFileSync(later, "");
		const options = shell === "bash" ? ["--noprofile", "--norc", "-eo", "pipefail"] : ["-e"];
		const github = contexts.github as Record<string, unknown>;
		const env = {
			...host.environment,
			...{ CI: "true", GITHUB_ACTIONS: "true", GITHUB_REPOSITORY: String(github.repository) },
			...{
				GITHUB_SERVER_URL: String(github.server_url),
				GITHUB_REF: run.start.ref,
				GITHUB_SHA: run.start.sha,
			},
			...{
				GITHUB_OUTPUT: output,
				GITHUB_ENV: later,
				GITHUB_STEP_SUMMARY: join(files, "summary.md"),
				RUNNER_TEMP: files,
			},
			...(contexts.env as Record<string, string>),
		};
		mkdirSync(workspace, { recursive: true });
		const child = spawn("bash", [...options, path], {
			cwd: workspace,
			env,
			stdio: ["ignore", "pipe", "pipe"],
		});
		for (const stream of [child.stdout, child.stderr])
			stream.on("data", (data) => {
				this.log += data;
			});
		const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
		if (code !== 0) throw new Error(`Process completed with exit code ${code}.`);
		Object.assign(this.contexts.env as Texts, parseOutputs(readFileSync(later, "utf8")));
		return parseOutputs(readFileSync(output, "utf8"));
	}
}

function valuesOf(texts: Texts, contexts: Contexts): Record<string, string> {
	return Object.fromEntries(
		Object.entries(texts).map(([name, text]) => [name, textOf(filled(text, contexts))]),
	);
}

/** What a step has written to `GITHUB_OUTPUT`; the workflows write one line for each output. */
function parseOutputs(text: string): Record<string, string> {
	const lines = text.split("\n").filter(Boolean);
	return Object.fromEntries(lines.map((line) => [line.split("=")[0], line.slice(line.indexOf("=") + 1)]));
}
