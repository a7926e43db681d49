import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { actions } from "./actions.ts";
import { type Contexts, type Functions, filled, isMet, textOf } from "./expressions.ts";
import type { Host, Job, Result, Run, Step, Texts } from "./workflow.ts";

/** How a job, or a step before, has ended. */
export const statusOf = (results: readonly Result[]): Functions => ({
	success: () => results.every((result) => result === "success"),
	failure: () => results.includes("failure"),
	cancelled: () => false,
	always: () => true,
});

/** The steps of one job, on a machine of its own. */
export class JobSteps {
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
