import { type Contexts, filled, isMet, textOf } from "./expressions.ts";
import { tokenWith } from "./github.ts";
import { JobSteps, statusOf } from "./steps.ts";
import type { Host, Job, PlayedJob, Run, Start, Workflow } from "./workflow.ts";

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
