import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { type ActionCall, actions } from "./actions.ts";
import { tokenWith } from "./github.ts";

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
	permissions?: Record<string, string>;
	steps: Step[];
}

export interface Workflow {
	name: string;
	on: Record<string, Texts | null>;
	env?: Texts;
	concurrency?: { group: string };
	permissions?: Record<string, string>;
	jobs: Record<string, Job>;
}

type Result = "success" | "failure" | "skipped";

/** What starts a run, as GitHub describes it in the context `github`. */
export interface Start {
	event: string;
	ref: string;
	sha: string;
	payload: Record<string, unknown>;
	/** From 1; a run that is started again has the same commit and event. */
	attempt?: number;
}

export interface Host
	extends Pick<ActionCall, "remote" | "folder" | "createToken" | "appSlug" | "environment"> {
	defaultBranch: string;
	variables: Record<string, string>;
	/** Secrets of each environment: only a run on the default branch gets them (GitHub, "Deployment branches and tags"). */
	secrets: Record<string, Record<string, string>>;
	token: string;
	/** Happens when a job has ended. */
	afterJob?: (id: string, run: Run) => void;
	/** Texts that may not be handed from one job to another. */
	isSecret: (text: string) => boolean;
}

interface PlayedJob {
	name: string;
	result: Result;
	outputs: Record<string, string>;
	/** What its commands have printed, and why it failed. */
	log: string;
	/** Empty where it did not run. */
	workspace: string;
}

/** A run of one workflow: its jobs by their ids. */
export interface Run {
	workflow: Workflow;
	start: Start;
	conclusion: Result;
	jobs: Record<string, PlayedJob>;
	artifacts: Map<string, string>;
}

/** The contexts of an expression: `github`, `needs`, `steps`, … */
type Contexts = Record<string, unknown>;

/** Functions by their name in lower case: what a job or a step knows of those before it. */
type Functions = Record<string, (...args: unknown[]) => unknown>;

const common: Functions = {
	join: (list, separator) => (list as unknown[]).map(textOf).join(String(separator)),
};

/** The texts, paths, functions and signs of the workflows' expressions; paths are `needs.*.result`. */
const token =
	/\s*(?:'((?:[^']|'')*)'|([a-z_][\w-]*(?:\.(?:[\w-]+|\*))*)(\s*\()?|(&&|\|\||[=!]=|[!(),]|\d+))/giy;

/** A value at a path; "" where nothing is there, which is what an expression compares it with. */
function valueAt(path: string, contexts: Contexts): unknown {
	const [name = "", ...names] = path.split(".");
	if (!(name in contexts)) throw new Error(`${path}: there is no context ${name} here`);
	return names.reduce((value: unknown, member, index): unknown => {
		if (names[index - 1] === "*") return (value as Contexts[]).map((item) => item[member] ?? "");
		if (member === "*") return Object.values((value ?? {}) as object);
		return (value as Contexts | null)?.[member] ?? "";
	}, contexts[name]);
}

/**
 * The value of an expression of GitHub Actions, without the `${{ }}` around it: its signs are those of JavaScript, and each
 * text, path and function becomes a value of a list.
 * @throws {Error} for what the workflows do not use
 */
function evaluate(source: string, contexts: Contexts, functions: Functions = {}): unknown {
	const values: unknown[] = [];
	const listed = (value: unknown) => `values[${values.push(value) - 1}]`;
	let code = "";
	token.lastIndex = 0;
	while (source.slice(token.lastIndex).trim() !== "") {
		const [, text, path, call, sign] = token.exec(source) ?? [];
		if (text !== undefined) code += listed(text.replaceAll("''", "'"));
		else if (path !== undefined && call !== undefined) {
			const called = functions[path.toLowerCase()] ?? common[path.toLowerCase()];
			if (!called) throw new Error(`${source}: there is no function ${path} here`);
			code += `${listed(called)}(`;
		} else if (path !== undefined) code += listed(path === "true" ? true : valueAt(path, contexts));
		else if (sign !== undefined) code += sign;
		else throw new Error(`${source}: is no expression`);
	}
	return new Function("values", `return ${code}`)(values);
}

function textOf(value: unknown): string {
	return value === null || value === undefined ? "" : String(value);
}

/** A text of a workflow with the values of its expressions. A text that is one expression has that value, of any kind. */
export function filled(text: unknown, contexts: Contexts, functions?: Functions): unknown {
	if (typeof text !== "string") return text;
	const whole = /^\$\{\{((?:(?!\}\}).)*)\}\}$/s.exec(text)?.[1];
	if (whole !== undefined) return evaluate(whole, contexts, functions);
	return text.replace(/\$\{\{(.*?)\}\}/gs, (_all, inner) => textOf(evaluate(inner, contexts, functions)));
}

/** Whether an `if` holds. Without a function that asks for the status, `success()` is meant (GitHub, "Status check functions"). */
function isMet(condition: unknown, contexts: Contexts, functions: Functions): boolean {
	const source = String(condition ?? "success()").replace(/^\$\{\{(.*)\}\}$/s, "$1");
	const asks = /\b(?:success|failure|cancelled|always)\s*\(/.test(source);
	return Boolean(evaluate(asks ? source : `success() && (${source})`, contexts, functions));
}

/** How a job, or a step before, has ended. */
const statusOf = (results: readonly Result[]): Functions => ({
	success: () => results.every((result) => result === "success"),
	failure: () => results.includes("failure"),
	cancelled: () => false,
	always: () => true,
});

/** The steps of one job, on a machine of its own. */
class JobSteps {
	readonly workspace: string;
	readonly contexts: Contexts;
	log = "";
	#isFailed = false;
	readonly #steps: Record<string, { outputs: Record<string, string> }> = {};

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
		const id = step.id ?? `#${Object.keys(this.#steps).length}`;
		this.#steps[id] = { outputs: {} };
		if (!isMet(step.if, contexts, status)) return;
		try {
			this.#steps[id] = { outputs: await this.#do(step, contexts) };
		} catch (error) {
			this.log += `##[error]${(error as Error).message}\n`;
			if (step["continue-on-error"] !== true) this.#isFailed = true;
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
	async #bash(script: string, shell: string | undefined, contexts: Contexts) {
		const { host, workspace } = this;
		const files = mkdtempSync(join(host.folder, "step-"));
		const [output, later] = [join(files, "output"), join(files, "env")];
		for (const file of [output, later]) writeFileSync(file, "");
		const options = shell === "bash" ? ["-eo", "pipefail"] : ["-e"];
		const github = contexts.github as Record<string, unknown>;
		const env = {
			...host.environment,
			...{ CI: "true", GITHUB_ACTIONS: "true", GITHUB_REPOSITORY: String(github.repository) },
			...{ GITHUB_SERVER_URL: String(github.server_url), RUNNER_TEMP: files },
			...{ GITHUB_OUTPUT: output, GITHUB_ENV: later },
			GITHUB_STEP_SUMMARY: join(files, "summary.md"),
			...(contexts.env as Record<string, string>),
		};
		const child = spawn("bash", [...options, "-c", script], {
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

/** Plays an event through the jobs of a workflow, each after those that it needs; of a matrix only one job. */
export async function play(workflow: Workflow, start: Start, host: Host): Promise<Run> {
	const run: Run = { workflow, start, conclusion: "success", jobs: {}, artifacts: new Map() };
	const playing = new Map<string, Promise<void>>();
	const playOne = async (id: string): Promise<void> => {
		await Promise.all(needsOf(workflow, id).map(begin));
		run.jobs[id] = await playJob(run, id, host);
		host.afterJob?.(id, run);
	};
	// A job that is needed may stand below the one that needs it.
	const begin = (id: string): Promise<void> => {
		const started = playing.get(id) ?? playOne(id);
		playing.set(id, started);
		return started;
	};
	await Promise.all(Object.keys(workflow.jobs).map(begin));
	const results = Object.values(run.jobs).map(({ result }) => result);
	run.conclusion = results.includes("failure") ? "failure" : "success";
	if (results.every((result) => result === "skipped")) run.conclusion = "skipped";
	return run;
}

function needsOf({ jobs }: Workflow, id: string): string[] {
	return [jobs[id]?.needs ?? []].flat();
}

/** All jobs before one: `success()` asks for all of them (actions/runner, issue 491). */
function ancestorsOf(workflow: Workflow, id: string): string[] {
	return needsOf(workflow, id).flatMap((needed) => [needed, ...ancestorsOf(workflow, needed)]);
}

function contextsOf({ workflow, start, jobs }: Run, id: string, host: Host): Contexts {
	const { permissions = workflow.permissions ?? {} } = workflow.jobs[id] as Job;
	const { pull_request: pull } = start.payload as { pull_request?: Record<string, { ref: string }> };
	const github = {
		event_name: start.event,
		event: start.payload,
		ref: start.ref,
		ref_name: start.ref.replace(/^refs\/(?:heads|pull)\//, ""),
		sha: start.sha,
		base_ref: pull?.base?.ref ?? "",
		repository: "maps/layers",
		server_url: "https://github.example",
		run_id: 1,
		run_attempt: start.attempt ?? 1,
		token: tokenWith(host.token, permissions),
	};
	const needs = Object.fromEntries(needsOf(workflow, id).map((needed) => [needed, jobs[needed]]));
	return { github, vars: host.variables, needs, matrix: {} };
}

async function playJob(run: Run, id: string, host: Host): Promise<PlayedJob> {
	const job = run.workflow.jobs[id] as Job;
	const contexts = contextsOf(run, id, host);
	const before = ancestorsOf(run.workflow, id);
	const status = statusOf(before.map((needed) => run.jobs[needed]?.result ?? "skipped"));
	const played: PlayedJob = { name: id, result: "skipped", outputs: {}, log: "", workspace: "" };
	played.name = textOf(filled(job.name ?? id, contexts, status));
	if (!isMet(job.if, contexts, status)) return played;
	const steps = new JobSteps(run, host, contexts, job);
	played.result = await steps.play(job.steps);
	played.log = steps.log;
	played.workspace = steps.workspace;
	for (const [name, text] of Object.entries(job.outputs ?? {})) {
		const value = textOf(filled(text, steps.contexts));
		// A text with a secret in it is not handed on (actions/runner, `JobExtension`).
		if (!host.isSecret(value)) played.outputs[name] = value;
	}
	return played;
}
