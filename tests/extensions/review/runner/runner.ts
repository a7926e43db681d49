import { type Contexts, filled, isMet, textOf } from "./expressions.ts";
import { tokenWith } from "./github.ts";
import { JobSteps, statusOf } from "./steps.ts";
import type { Host, Job, PlayedJob, Run, Start, Workflow } from "./workflow.ts";

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
	};
	const contextsOf = ({ permissions = workflow.permissions ?? {} }: Job): Contexts => {
		const token = tokenWith(host.token, permissions);
		return { github: { ...github, token }, vars: host.variables };
	};
	const playing = new Map<string, Promise<void>>();
	const playOne = async (id: string): Promise<void> => {
		const job = workflow.jobs[id] as Job;
		const needed = [job.needs ?? []].flat();
		await Promise.all(needed.map((one) => playing.get(one)));
		const needs = Object.fromEntries(needed.map((one) => [one, run.jobs[one]]));
		run.jobs[id] = await playJob(id, job, { ...contextsOf(job), needs }, ancestorsOf(workflow, needed));
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
