import { parse } from "yaml";
import type { PeerCheck } from "../approvals/review-peer.ts";
import { filled, type Host, play, type Run, type Start, type Workflow } from "./play.ts";

interface Waiting {
	file: string;
	workflow: Workflow;
	start: Start;
}

/** What happens on GitHub, the workflows that it starts, and their runs. */
export class Events {
	readonly runs: Run[] = [];
	#waiting: Waiting[] = [];

	constructor(
		readonly git: (...words: string[]) => string,
		readonly host: Host,
		readonly checks: PeerCheck[],
	) {}

	/** Starts a run again, with its old commit and event. */
	again({ workflow, start }: Run): void {
		const file = `${workflow.name.replaceAll(" ", "-")}.yml`;
		this.#waiting.push({ file, workflow, start: { ...start, attempt: (start.attempt ?? 1) + 1 } });
	}

	/** Plays all that waits: runs of one concurrency group in their order, others at the same time. */
	async settle(): Promise<void> {
		while (this.#waiting.length > 0) {
			const round = this.#waiting;
			this.#waiting = [];
			const groups = new Map<string, Waiting[]>();
			for (const waiting of round) {
				const group = `${groupOf(waiting)}`;
				groups.set(group, [...(groups.get(group) ?? []), waiting]);
			}
			const playGroup = async (group: Waiting[]) => {
				for (const waiting of group) await this.#play(waiting);
			};
			await Promise.all([...groups.values()].map(playGroup));
		}
	}

	async #play({ workflow, start }: Waiting): Promise<void> {
		const run = await play(workflow, start, this.host);
		this.runs.push(run);
		const { pull_request: pull } = start.payload as {
			pull_request?: { head: { sha: string; ref: string; repo: object } };
		};
		for (const { name, result } of start.event === "pull_request" ? Object.values(run.jobs) : []) {
			const output = { title: "", summary: "", annotations: [] };
			const head_sha = pull?.head.sha ?? "";
			const id = this.checks.length + 1;
			this.checks.push({ id, head_sha, name, conclusion: result, output, app: "github-actions" });
		}
		const followers = start.event === "workflow_run" ? [] : this.#workflows("refs/heads/main");
		for (const [name, next] of followers) {
			const on = next.on.workflow_run as { workflows?: string[] } | undefined;
			if (!on?.workflows?.includes(workflow.name)) continue;
			const workflow_run = {
				...{ conclusion: run.conclusion, event: start.event },
				...{ head_sha: pull?.head.sha, head_branch: pull?.head.ref, head_repository: pull?.head.repo },
			};
			const sha = this.git("rev-parse", "refs/heads/main");
			const payload = { workflow_run, repository: { default_branch: "main" } };
			this.fire({ event: "workflow_run", ref: "refs/heads/main", sha, payload }, [name]);
		}
	}

	/** The workflows of a commit, by the names of their files. */
	#workflows(commit: string): [string, Workflow][] {
		const names = this.git("ls-tree", "--name-only", `${commit}:.github/workflows`).split("\n");
		return names.map((name) => [name, parse(this.git("show", `${commit}:.github/workflows/${name}`))]);
	}

	/** Notes the workflows that an event starts, from the commit that GitHub takes them from. */
	fire(start: Start, only?: readonly string[]): void {
		for (const [file, workflow] of this.#workflows(start.sha)) {
			if (only && !only.includes(file)) continue;
			if (!(start.event in workflow.on)) continue;
			const on = workflow.on[start.event] as null | Record<string, string[]>;
			const action = start.payload.action as string | undefined;
			if (on?.types && action && !on.types.includes(action)) continue;
			// Nothing that is played has the tags of `release`, the paths of `packages`, or pushes code past `check`.
			if (on?.tags || on?.paths || on?.["paths-ignore"]) continue;
			this.#waiting.push({ file, workflow, start });
		}
	}
}

/** Runs of one group are played one after the other; a run without a group has one of its own. */
function groupOf({ workflow, start, file }: Waiting): unknown {
	const group = workflow.concurrency?.group;
	const { ref, payload } = start;
	if (group === undefined) return `${file} ${JSON.stringify(payload)}`;
	return filled(group, { github: { ref, event: payload } });
}
