import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { cleanEnvironment, pathWithNpx, root } from "../../helpers/process.ts";

interface Step {
	name?: string;
	run?: string;
	env?: Record<string, string>;
}

function readJobs(workflow: string): Record<string, { steps: Step[] }> {
	const text = readFileSync(join(root, ".github", "workflows", `${workflow}.yml`), "utf8");
	return (parse(text) as { jobs: Record<string, { steps: Step[] }> }).jobs;
}

/** The commands of a job, as the workflow has them; the action `setup` is done once for all tests. */
export function commands(workflow: string, job: string): string[] {
	const runs = readJobs(workflow)[job]?.steps.flatMap(({ run }) => run ?? []) ?? [];
	assert.ok(runs.length > 0, `${workflow}: ${job}`);
	return runs;
}

export function command(workflow: string, job: string, name: string): string {
	const run = readJobs(workflow)[job]?.steps.find((step) => step.name === name)?.run;
	assert.ok(run, `${workflow}: ${job}: ${name}`);
	return run;
}

/**
 * Runs a job's commands as GitHub's runner does: each in bash, ending at the first that fails.
 */
export async function runJob(cwd: string, runs: string[], env: Record<string, string>) {
	const path = { PATH: pathWithNpx(env.PATH) };
	let output = "";
	for (const run of runs) {
		const words = ["--noprofile", "--norc", "-eo", "pipefail", "-c", run];
		const runner = { GITHUB_ACTIONS: "true", GITHUB_REPOSITORY: "maps/layers", npm_config_loglevel: "error" };
		const child = spawn("bash", words, { cwd, env: cleanEnvironment({ ...runner, ...env, ...path }) });
		for (const stream of [child.stdout, child.stderr]) {
			stream.on("data", (data) => {
				output += data;
			});
		}
		const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
		if (status !== 0) return { status, output };
	}
	return { status: 0, output };
}
