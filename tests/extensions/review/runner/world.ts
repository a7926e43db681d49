import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { cleanEnvironment } from "../../../helpers/process.ts";
import { type Files, Repository, writeFiles } from "../../../helpers/world.ts";
import type { JsonServer } from "../../../scripts/json-server.ts";
import { bot, type ReviewPeer, startReviewPeer } from "../approvals/review-peer.ts";
import { answerGh, refusal } from "./github.ts";
import { makeHost, obstaclesOf, projectFiles } from "./host.ts";
import { type Host, play, type Run, type Start, type Workflow } from "./play.ts";
import { startPrograms, updateHook } from "./programs.ts";
import { Pull } from "./pull.ts";

interface Waiting {
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
		writeFiles(this.bare, { "hooks/update": { executable: updateHook }, tokens: "" });
		peer.extra = refusal;
		this.host = makeHost(this, programs.url);
	}

	/** @param files the layers, and whatever else the main branch has beside the workflows */
	static async open(files: Files): Promise<World> {
		const programs = await startPrograms((words, body) => answerGh(world, words, body));
		const world: World = new World(await startReviewPeer(), programs);
		world.work.commit("the project", { ...(await projectFiles()), ...files });
		world.git("fetch", "-q", world.work.path, "+HEAD:refs/heads/main");
		return world;
	}

	git(...words: string[]): string {
		const who = ["-c", "user.name=GitHub", "-c", "user.email=noreply@github.com"];
		const env = cleanEnvironment({ GIT_CONFIG_GLOBAL: "/dev/null" });
		const options = { cwd: this.bare, env, encoding: "utf8", stdio: "pipe" } as const;
		return execFileSync("git", [...who, ...words], options).trim();
	}

	file(path: string, branch = "main"): string | null {
		const isThere = this.git("ls-tree", "--name-only", `refs/heads/${branch}`, path) !== "";
		return isThere ? this.git("show", `refs/heads/${branch}:${path}`) : null;
	}

	/** Pushes a commit as a person past all rules. */
	push(files: Files, branch = "main"): void {
		this.#commit(branch, files, `refs/heads/${branch}`);
		this.pushed(branch);
	}

	pushed(branch: string): void {
		this.#fire("push", `refs/heads/${branch}`, {});
	}

	/** Opens a pull request. @param from `owner:branch` */
	propose(author: string, from: string, change: Files): Pull {
		this.#commit("main", change, `refs/pull/${this.pulls.length + 1}/head`);
		return this.open(author, from, "A change");
	}

	/** Makes a commit on top of a branch, and sends it to a ref. */
	#commit(branch: string, files: Files, ref: string): void {
		this.work.git("fetch", "-q", this.bare, `refs/heads/${branch}`);
		this.work.git("checkout", "-q", "--detach", "FETCH_HEAD");
		this.work.commit("A change", files);
		this.git("fetch", "-q", this.work.path, `+HEAD:${ref}`);
	}

	/** Opens a pull request of a branch that is there, or of the head that was pushed for it. */
	open(author: string, from: string, title: string): Pull {
		const number = this.pulls.length + 1;
		const [owner, branch = ""] = from.split(":");
		if (owner === "maps") this.git("update-ref", `refs/pull/${number}/head`, `refs/heads/${branch}`);
		const pull = new Pull(this.git.bind(this), number, author, from, title);
		this.pulls.push(pull);
		this.peer.pulls.push(pull);
		this.#pullEvent(pull, "pull_request", { action: "opened" });
		return pull;
	}

	rename(pull: Pull): void {
		this.#pullEvent(pull, "pull_request", { action: "edited", changes: { title: { from: "x" } } });
	}

	approve(pull: Pull, login: string): void {
		pull.reviews.push({ login, state: "APPROVED", commit: pull.sha });
		const review = { state: "approved" };
		this.#pullEvent(pull, "pull_request_review", { action: "submitted", review });
	}

	obstacles(pull: Pull): string[] {
		return obstaclesOf(pull.sha, this.peer.checks, this.host.appSlug);
	}

	/** Merges a pull request as a person with write access does, by squash. @throws {Error} where a rule forbids it */
	merge(pull: Pull): void {
		const why = this.obstacles(pull);
		if (why.length > 0) throw new Error(`#${pull.number} cannot be merged: ${why}`);
		const commit = this.git("commit-tree", pull.tree, "-p", "refs/heads/main", "-m", pull.title);
		this.git("update-ref", "refs/heads/main", commit);
		pull.merged = true;
		this.pushed("main");
	}

	begin(name: string, event = "schedule"): void {
		this.#fire(event, "refs/heads/main", {}, `${name}.yml`);
	}

	again({ workflow, start }: Run): void {
		this.#waiting.push({ workflow, start: { ...start, attempt: 2 } });
	}

	/** Plays all that waits, one run after the other. */
	async settle(): Promise<void> {
		for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) await this.#play(next);
	}

	async #play({ workflow, start }: Waiting): Promise<void> {
		const run = await play(workflow, start, this.host);
		this.runs.push(run);
		const { pull_request } = start.payload as {
			pull_request?: { head: { sha: string; ref: string; repo: object } };
		};
		const { sha: head_sha = "", ref: head_branch, repo: head_repository } = pull_request?.head ?? {};
		for (const { name, result: conclusion } of start.event === "pull_request"
			? Object.values(run.jobs)
			: []) {
			const output = { title: "", summary: "" };
			const id = this.peer.checks.length + 1;
			this.peer.checks.push({ id, head_sha, name, conclusion, output, app: "github-actions" });
		}
		const followers = start.event === "workflow_run" ? [] : this.#workflows("refs/heads/main");
		for (const [name, next] of followers) {
			const on = next.on.workflow_run as { workflows?: string[] } | undefined;
			if (!on?.workflows?.includes(workflow.name)) continue;
			const { conclusion } = run;
			const workflow_run = { conclusion, event: start.event, head_sha, head_branch, head_repository };
			this.#fire("workflow_run", "refs/heads/main", { workflow_run }, name);
		}
	}

	#workflows(commit: string): [string, Workflow][] {
		const names = this.git("ls-tree", "--name-only", `${commit}:.github/workflows`).split("\n");
		return names.map((name) => [name, parse(this.git("show", `${commit}:.github/workflows/${name}`))]);
	}

	/** Notes the workflows that an event starts, from the commit that GitHub takes them from. */
	#fire(event: string, ref: string, details: Start["payload"], only?: string): void {
		const sha = this.git("rev-parse", ref);
		const payload: Start["payload"] = { ...details, repository: { default_branch: "main" } };
		for (const [file, workflow] of this.#workflows(sha)) {
			if ((only ?? file) !== file || !(event in workflow.on)) continue;
			const on = workflow.on[event] as null | Record<string, string[]>;
			if (on?.types && payload.action && !on.types.includes(payload.action as string)) continue;
			// Nothing that is played has the paths of `packages`, or pushes code past `check`.
			if (on?.paths || on?.["paths-ignore"]) continue;
			this.#waiting.push({ workflow, start: { event, ref, sha, payload } });
		}
	}

	last(name: string): Run {
		const run = this.runs.findLast(({ workflow }) => workflow.name === name);
		if (!run) throw new Error(`${name} has not run`);
		return run;
	}

	async [Symbol.asyncDispose](): Promise<void> {
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
		this.#fire(event, pull.tryMerge(), { ...more, pull_request });
	}
}
