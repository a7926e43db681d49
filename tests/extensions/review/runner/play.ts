import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { runProgram } from "../../../helpers/process.ts";
import { type ActionCall, actions } from "./actions.ts";
import { tokenWith } from "./github.ts";

type Texts = Record<string, unknown>;

interface Step {
	id?: string;
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
	variables: Record<string, string>;
	/** Secrets of each environment: only a run on the default branch gets them (GitHub, "Deployment branches and tags"). */
	secrets: Record<string, Record<string, string>>;
	afterJob?: (id: string, run: Run) => void;
	/** Texts that may not be handed from one job to another. */
	isSecret: (text: string) => boolean;
}

export interface Run {
	workflow: Workflow;
	start: Start;
	conclusion: Result;
	jobs: Record<string, Awaited<ReturnType<typeof playJob>>>;
	artifacts: Map<string, string>;
}

/** The contexts of an expression: `github`, `needs`, `steps`, … */
type Contexts = Record<string, unknown>;

type Functions = Record<string, () => boolean>;

/** A value at a path such as `needs.*.result`; "" where nothing is there, which is what an expression compares it with. */
function valueAt(path: string, contexts: Contexts): unknown {
	const [name = "", ...names] = path.split(".");
	if (!(name in contexts)) throw new Error(`${path}: there is no context ${name} here`);
	return names.reduce((value: unknown, member, index): unknown => {
		if (names[index - 1] === "*") return (value as Contexts[]).map((item) => item[member] ?? "");
		if (member === "*") return Object.values((value ?? {}) as object);
		return (value as Contexts | null)?.[member] ?? "";
	}, contexts[name]);
}

/** The value of an expression of GitHub Actions: but for its paths it is one of JavaScript. */
function evaluate(source: string, contexts: Contexts, functions: Functions = {}): unknown {
	const code = source.replace(/'[^']*'|[a-z_][\w-]*(?:\.(?:[\w-]+|\*))+/gi, (part) =>
		part.startsWith("'") ? part : JSON.stringify(valueAt(part, contexts)),
	);
	const all = { ...functions, join: (texts: unknown[], separator: string) => texts.join(separator) };
	return new Function(...Object.keys(all), `return ${code}`)(...Object.values(all));
}

const textOf = (value: unknown) => (value === null || value === undefined ? "" : String(value));

/** A text of a workflow with the values of its expressions. A text that is one expression has that value, of any kind. */
function fill(text: unknown, contexts: Contexts): unknown {
	if (typeof text !== "string") return text;
	const whole = /^\$\{\{((?:(?!\}\}).)*)\}\}$/s.exec(text)?.[1];
	if (whole !== undefined) return evaluate(whole, contexts);
	return text.replace(/\$\{\{(.*?)\}\}/gs, (_all, inner) => textOf(evaluate(inner, contexts)));
}

const valuesOf = (texts: Texts, contexts: Contexts): Record<string, string> =>
	Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, textOf(fill(text, contexts))]));

/**
 * Whether an `if` holds. Without a function that asks for the status, `success()` is meant (GitHub, "Status check functions").
 * @param results of what was before
 */
function isMet(condition: unknown, contexts: Contexts, results: readonly Result[]): boolean {
	const functions: Functions = {
		success: () => results.every((result) => result === "success"),
		cancelled: () => false,
		always: () => true,
	};
	const source = String(condition ?? "success()").replace(/^\$\{\{(.*)\}\}$/s, "$1");
	const asks = /\b(?:success|cancelled|always)\s*\(/.test(source);
	return Boolean(evaluate(asks ? source : `success() && (${source})`, contexts, functions));
}

/** Plays an event through the jobs of a workflow in their order, each below those that it needs; of a matrix only one job. */
export async function play(workflow: Workflow, start: Start, host: Host): Promise<Run> {
	const run: Run = { workflow, start, conclusion: "success", jobs: {}, artifacts: new Map() };
	for (const id of Object.keys(workflow.jobs)) {
		run.jobs[id] = await playJob(run, id, host);
		host.afterJob?.(id, run);
	}
	const results = Object.values(run.jobs).map(({ result }) => result);
	run.conclusion = results.includes("failure") ? "failure" : "success";
	if (results.every((result) => result === "skipped")) run.conclusion = "skipped";
	return run;
}

const needsOf = ({ jobs }: Workflow, id: string): string[] => [jobs[id]?.needs ?? []].flat();

/** All jobs before one: `success()` asks for all of them (actions/runner, issue 491). */
function ancestorsOf(workflow: Workflow, id: string): string[] {
	return needsOf(workflow, id).flatMap((needed) => [needed, ...ancestorsOf(workflow, needed)]);
}

function contextsOf({ workflow, start, jobs }: Run, id: string, host: Host): Contexts {
	const { pull_request: pull } = start.payload as { pull_request?: Record<string, { ref: string }> };
	const github = {
		event_name: start.event,
		event: start.payload,
		ref: start.ref,
		ref_name: refName(start),
		base_ref: pull?.base?.ref ?? "",
		repository: "maps/layers",
		run_attempt: start.attempt ?? 1,
		token: tokenWith(workflow.jobs[id]?.permissions ?? {}),
	};
	const needs = Object.fromEntries(needsOf(workflow, id).map((needed) => [needed, jobs[needed]]));
	return { github, vars: host.variables, needs, matrix: {} };
}

const refName = ({ ref }: Start) => ref.replace(/^refs\/(?:heads|pull)\//, "");

async function playJob(run: Run, id: string, host: Host) {
	const { workflow, start, jobs } = run;
	const job = workflow.jobs[id] as Job;
	const outer = contextsOf(run, id, host);
	const played = {
		name: textOf(fill(job.name ?? id, outer)),
		result: "skipped" as Result,
		outputs: {} as Record<string, string>,
		/** What its commands have printed, and why it failed. */
		log: "",
		/** Empty where it did not run. */
		workspace: "",
	};
	const before = ancestorsOf(workflow, id).map((needed) => jobs[needed]?.result ?? "skipped");
	if (!isMet(job.if, outer, before)) return played;
	played.result = "success";
	const workspace = mkdtempSync(join(host.folder, "job-"));
	played.workspace = workspace;
	const secrets = start.ref === "refs/heads/main" ? (host.secrets[job.environment?.name ?? ""] ?? {}) : {};
	const steps: Record<string, { outputs: Record<string, string>; outcome: Result }> = {};
	const contexts: Contexts = { ...outer, secrets, steps };
	const jobEnv = valuesOf({ ...workflow.env, ...job.env }, contexts);

	/** Runs a script with GitHub's own words: `bash -e`, and with `shell: bash` also `-o pipefail` ("Workflow syntax", `shell`). */
	const runCommands = async (script: string, shell: string | undefined, env: Record<string, string>) => {
		const folder = mkdtempSync(join(host.folder, "step-"));
		const [output, later] = [join(folder, "output"), join(folder, "env")];
		for (const file of [output, later]) writeFileSync(file, "");
		const options = shell === "bash" ? ["-eo", "pipefail"] : ["-e"];
		const { code, stdout, stderr } = await runProgram(
			"bash",
			[...options, "-c", script],
			{
				...host.environment,
				GITHUB_REPOSITORY: "maps/layers",
				GITHUB_WORKFLOW: workflow.name,
				GITHUB_ACTIONS: "true",
				GITHUB_EVENT_NAME: start.event,
				GITHUB_REF_NAME: refName(start),
				GITHUB_RUN_ID: "1",
				GITHUB_SERVER_URL: "https://github.example",
				RUNNER_TEMP: folder,
				GITHUB_OUTPUT: output,
				GITHUB_ENV: later,
				GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
				...env,
			},
			workspace,
		);
		played.log += stdout + stderr;
		if (code !== 0) throw new Error(`Process completed with exit code ${code}.`);
		Object.assign(jobEnv, parseOutputs(later));
		return parseOutputs(output);
	};

	const perform = async (step: Step, env: Record<string, string>): Promise<Record<string, string>> => {
		if (step.run !== undefined) return runCommands(step.run, step.shell, env);
		const [name = "", commit] = (step.uses ?? "").split("@");
		if (name.startsWith("./")) {
			const { runs } = parse(readFileSync(join(workspace, name, "action.yml"), "utf8"));
			for (const inner of runs.steps as Step[]) await perform(inner, env);
			return {};
		}
		const action = actions[name];
		if (!action || !/^[0-9a-f]{40}$/.test(commit ?? "")) throw new Error(`${step.uses}: is not played`);
		const inputs = valuesOf(step.with ?? {}, contexts);
		return action({ ...host, ...start, inputs, workspace, artifacts: run.artifacts });
	};

	for (const [index, step] of job.steps.entries()) {
		const env = { ...jobEnv, ...valuesOf(step.env ?? {}, contexts) };
		const state = { outputs: {}, outcome: "skipped" as Result };
		steps[step.id ?? `#${index}`] = state;
		if (!isMet(step.if, { ...contexts, env }, [played.result])) continue;
		try {
			state.outcome = "success";
			state.outputs = await perform(step, env);
		} catch (error) {
			state.outcome = "failure";
			played.log += `##[error]${(error as Error).message}\n`;
			if (step["continue-on-error"] !== true) played.result = "failure";
		}
	}
	// A text with a secret in it is not handed on (actions/runner, `JobExtension`).
	for (const [name, value] of Object.entries(valuesOf(job.outputs ?? {}, contexts)))
		if (!host.isSecret(value)) played.outputs[name] = value;
	return played;
}

/** What a step has written to `GITHUB_OUTPUT` or `GITHUB_ENV`; the workflows write one line for each value. */
function parseOutputs(file: string): Record<string, string> {
	const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
	return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
}
