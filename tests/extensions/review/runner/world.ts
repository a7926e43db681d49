import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { cleanEnvironment } from "../../../helpers/process.ts";
import { type Files, Repository } from "../../../helpers/world.ts";
import type { JsonServer } from "../../../scripts/json-server.ts";
import { bot, type ReviewPeer, startReviewPeer } from "../approvals/review-peer.ts";
import { answerGh, answerMore } from "./github.ts";
import { makeHost, obstaclesOf, projectFiles } from "./host.ts";
import { filled, type Host, play, type Run, type Start, type Workflow } from "./play.ts";
import { startPrograms, updateHook } from "./programs.ts";
import { Pull } from "./pull.ts";

interface Waiting {
	file: string;
	workflow: Workflow;
	start: Start;
}

/**
 * A GitHub with one repository, `maps/layers`, that has the workflows of this checkout: what happens there starts them, as
 * GitHub would, and `settle` plays them.
 */
export class World {
	readonly folder = mkdtempSync(join(tmpdir(), "publisher-world-"));
	readonly bare = join(this.folder, "origin.git");
	readonly work = new Repository({});
	readonly pulls: Pull[] = [];
	readonly texts = new Map<number, string>();
	/** What `gh` was asked for, without what it only reads. */
	readonly called: string[] = [];
	readonly variables: Record<string, string> = {
		WORKFLOW_APP_ID: "4711",
		WORKFLOW_APP_LOGIN: bot,
		REPAIR: "off",
	};
	readonly host: Host;
	readonly runs: Run[] = [];
	#waiting: Waiting[] = [];

	private constructor(
		readonly peer: ReviewPeer,
		readonly programs: JsonServer,
	) {
		const git = this.git.bind(this);
		this.work.git("init", "-q", "--bare", this.bare);
		// As on GitHub: any commit can be fetched by its id.
		git("config", "uploadpack.allowAnySHA1InWant", "true");
		writeFileSync(join(this.bare, "hooks/update"), updateHook);
		chmodSync(join(this.bare, "hooks/update"), 0o755);
		writeFileSync(join(this.bare, "tokens"), "");
		peer.extra = answerMore;
		this.host = makeHost(this, programs.url);
	}

	/** @param files the layers, and whatever else the main branch has beside the workflows */
	static async open(files: Files): Promise<World> {
		const programs = await startPrograms((words, body) => answerGh(world, words, body));
		const world: World = new World(await startReviewPeer(), programs);
		world.work.commit("the project", { ...(await projectFiles()), ...files });
		world.#send("main", "refs/heads/main");
		return world;
	}

	git(...words: string[]): string {
		const names = ["AUTHOR", "COMMITTER"].flatMap((who) => [
			[`GIT_${who}_NAME`, "GitHub"],
			[`GIT_${who}_EMAIL`, "noreply@github.com"],
		]);
		const env = { ...cleanEnvironment({}), ...Object.fromEntries(names), GIT_CONFIG_GLOBAL: "/dev/null" };
		return execFileSync("git", ["-C", this.bare, ...words], { env, encoding: "utf8", stdio: "pipe" }).trim();
	}

	file(path: string, branch = "main"): string | null {
		const isThere = this.git("ls-tree", "--name-only", `refs/heads/${branch}`, path) !== "";
		return isThere ? this.git("show", `refs/heads/${branch}:${path}`) : null;
	}

	/** Pushes to the main branch, as a person past all rules, or to another one. */
	push(files: Files, branch = "main"): void {
		this.work.git("fetch", "-q", this.bare, "+refs/heads/*:refs/remotes/origin/*");
		this.work.git("checkout", "-q", "-B", branch, `refs/remotes/origin/${branch}`);
		this.work.commit("a push", files);
		this.#send(branch, `refs/heads/${branch}`);
		this.pushed(branch);
		this.work.git("checkout", "-q", "main");
	}

	pushed(branch: string): void {
		const payload = { repository: { default_branch: "main" } };
		const sha = this.git("rev-parse", `refs/heads/${branch}`);
		this.#fire({ event: "push", ref: `refs/heads/${branch}`, sha, payload });
	}

	/** Opens a pull request. @param from `owner:branch` */
	propose(author: string, from: string, change: Files): Pull {
		this.work.git("fetch", "-q", this.bare, "+refs/heads/main:refs/remotes/origin/main");
		this.work.git("checkout", "-q", "-B", "head", "refs/remotes/origin/main");
		this.work.commit("A change", change);
		this.#send("head", `refs/pull/${this.pulls.length + 1}/head`);
		this.work.git("checkout", "-q", "main");
		return this.open(author, from, "A change");
	}

	/** Does something in GitHub's repository, by commands of a shell, while a job pushes: it loses that race. */
	meanwhile(script: string): void {
		writeFileSync(join(this.bare, "meanwhile"), script);
	}

	/** Opens a pull request of a branch that is there, or of the head that was pushed for it. */
	open(author: string, from: string, title: string): Pull {
		const number = this.pulls.length + 1;
		const [owner, branch = ""] = from.split(":");
		if (owner === "maps") this.git("update-ref", `refs/pull/${number}/head`, `refs/heads/${branch}`);
		const pull = new Pull(this.git.bind(this), number, author, from, "main", title);
		this.pulls.push(pull);
		this.peer.pulls.push(pull);
		this.#pullEvent(pull, "pull_request", { action: "opened" });
		return pull;
	}

	rename(pull: Pull, title: string): void {
		pull.title = title;
		this.#pullEvent(pull, "pull_request", { action: "edited", changes: { title: { from: "x" } } });
	}

	review(pull: Pull, login: string, state: string): void {
		pull.reviews.push({ login, state, commit: pull.sha });
		const review = { state: state.toLowerCase() };
		this.#pullEvent(pull, "pull_request_review", { action: "submitted", review });
	}

	obstacles(pull: Pull): string[] {
		return obstaclesOf(pull.sha, this.peer.checks, this.host.appSlug);
	}

	/** Merges a pull request as a person with write access does, by squash. @throws {Error} where a rule forbids it */
	merge(pull: Pull): void {
		const why = this.obstacles(pull);
		if (why.length > 0 || !pull.mergeable) throw new Error(`#${pull.number} cannot be merged: ${why}`);
		const main = this.git("rev-parse", "refs/heads/main");
		const commit = this.git("commit-tree", pull.tree ?? "", "-p", main, "-m", pull.title);
		this.git("update-ref", "refs/heads/main", commit, main);
		pull.merged = true;
		this.pushed("main");
	}

	begin(name: string, event = "schedule"): void {
		const sha = this.git("rev-parse", "refs/heads/main");
		const payload = { repository: { default_branch: "main" } };
		this.#fire({ event, ref: "refs/heads/main", sha, payload }, [`${name}.yml`]);
	}

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
			const id = this.peer.checks.length + 1;
			this.peer.checks.push({ id, head_sha, name, conclusion: result, output, app: "github-actions" });
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
			this.#fire({ event: "workflow_run", ref: "refs/heads/main", sha, payload }, [name]);
		}
	}

	#workflows(commit: string): [string, Workflow][] {
		const names = this.git("ls-tree", "--name-only", `${commit}:.github/workflows`).split("\n");
		return names.map((name) => [name, parse(this.git("show", `${commit}:.github/workflows/${name}`))]);
	}

	/** Notes the workflows that an event starts, from the commit that GitHub takes them from. */
	#fire(start: Start, only?: readonly string[]): void {
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

	last(name: string): Run {
		const run = this.runs.findLast(({ workflow }) => workflow.name === name);
		if (!run) throw new Error(`${name} has not run`);
		return run;
	}

	async close(): Promise<void> {
		await this.peer.close();
		await this.programs.close();
		this.work.remove();
		rmSync(this.folder, { recursive: true, force: true });
	}

	#pullEvent(pull: Pull, event: string, more: Record<string, unknown>): void {
		const [owner = "", ref = ""] = pull.from.split(":");
		const head = { sha: pull.sha, ref, repo: { id: owner.length, full_name: `${owner}/layers` } };
		const base = { ref: pull.base, repo: { full_name: "maps/layers" } };
		const pull_request = { number: pull.number, head, base, title: pull.title };
		const payload = { ...more, number: pull.number, pull_request, repository: { default_branch: "main" } };
		const sha = pull.mergeSha;
		// GitHub runs nothing of a pull request with a conflict.
		if (sha) this.#fire({ event, ref: `refs/pull/${pull.number}/merge`, sha, payload });
	}

	#send(from: string, to: string): void {
		this.git("fetch", "-q", this.work.path, `+refs/heads/${from}:${to}`);
	}
}

/** Runs of one group are played one after the other; a run without a group has one of its own. */
function groupOf({ workflow, start, file }: Waiting): unknown {
	const group = workflow.concurrency?.group;
	const { ref, payload } = start;
	if (group === undefined) return `${file} ${JSON.stringify(payload)}`;
	return filled(group, { github: { ref, event: payload } });
}
