import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import glob from "fast-glob";
import { parse } from "yaml";
import { cleanEnvironment, root } from "../../process.ts";
import { bot, type ReviewPeer, startReviewPeer } from "../approvals/review-peer.ts";
import { type Files, Repository } from "../repository.ts";
import { filled } from "./expressions.ts";
import { answerMore } from "./github.ts";
import { Pull } from "./pull.ts";
import { type Host, play, type Run, type Start, type Workflow } from "./runner.ts";
import { makeShims, updateHook } from "./shims.ts";

const key = "the App's private key";
const runToken = "token-of-a-run";

/** A workflow that has to be played. */
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
	readonly runs: Run[] = [];
	/** Issues by their titles; closed ones are gone. */
	readonly issues: { number: number; title: string; body: string; user: { login: string } }[] = [];
	/** Numbers of pull requests that were closed, and the texts of those that a workflow opened. */
	readonly closed = new Set<number>();
	readonly texts = new Map<number, string>();
	/** What `gh` was asked for, without what it only reads. */
	readonly called: string[] = [];
	readonly variables: Record<string, string> = {
		WORKFLOW_APP_ID: "4711",
		WORKFLOW_APP_LOGIN: bot,
		REPAIR: "off",
	};
	readonly host: Host;
	#waiting: Waiting[] = [];
	#tokens = 0;

	private constructor(readonly peer: ReviewPeer) {
		const git = this.git.bind(this);
		this.work.git("init", "-q", "--bare", this.bare);
		// As on GitHub: any commit can be fetched by its id.
		git("config", "uploadpack.allowAnySHA1InWant", "true");
		writeFileSync(join(this.bare, "hooks/update"), updateHook);
		chmodSync(join(this.bare, "hooks/update"), 0o755);
		writeFileSync(join(this.bare, "tokens"), "");
		peer.extra = (request) => answerMore(this, request);
		peer.merge = (number, { sha, merge_method: method }) => {
			// "405 Method Not Allowed": a repository that allows only squash, or a rule that is not met.
			if (method !== "squash") return { status: 405, body: { message: "Merge commits are not allowed" } };
			if (this.#pull(number).sha !== sha)
				return { status: 409, body: { message: "Head branch was modified" } };
			return { status: 200, body: { merged: true, sha: this.#squash(this.#pull(number)) } };
		};
		const path = `${makeShims(this.folder)}:${process.env.PATH}`;
		const quiet = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", npm_config_loglevel: "error" };
		const { COMPILED_START = "" } = process.env;
		// The services of the tests are on this machine.
		const own = {
			PATH: path,
			GITHUB_API_URL: peer.url,
			HARVEST_ALLOW_PRIVATE: "on",
			COMPILED_START,
			...quiet,
		};
		this.host = {
			defaultBranch: "main",
			remote: `file://${this.bare}`,
			folder: this.folder,
			variables: this.variables,
			secrets: { review: { WORKFLOW_APP_PRIVATE_KEY: key }, production: {} },
			token: runToken,
			environment: { ...cleanEnvironment({}), ...own },
			appSlug: bot.replace("[bot]", ""),
			isSecret: (text) => text !== "" && (text.includes(key) || /token-of-the-app-\d+/.test(text)),
			createToken: (app, secret, permissions) => {
				if (app !== "4711" || secret !== key) return null;
				peer.requests.push("GET /repos/maps/layers/installation", "POST /app/installations/1/access_tokens");
				const token = `token-of-the-app-${++this.#tokens}`;
				const mayWrite = Object.keys(permissions).length === 0 || permissions.contents === "write";
				if (mayWrite) writeFileSync(join(this.bare, "tokens"), `${token}\n`, { flag: "a" });
				return token;
			},
		};
	}

	/** @param files the layers, and whatever else the main branch has beside the workflows */
	static async open(files: Files): Promise<World> {
		const world = new World(await startReviewPeer());
		const own = await glob([".github/**"], { cwd: root, dot: true });
		const copied = own.map((path): [string, Files[string]] => {
			const text = readFileSync(join(root, path), "utf8");
			return [path, path.endsWith(".sh") ? { executable: text } : text];
		});
		// CI itself is not played: it passes.
		const ci: Files = { ".ci/run": { executable: "#!/bin/sh\n" }, "package.json": "{}\n" };
		const settings: Files = { "published.env": "SITE=off\n" };
		world.work.commit("the project", { ...Object.fromEntries(copied), ...ci, ...settings, ...files });
		world.#send("main", "refs/heads/main");
		return world;
	}

	/** Runs git in the repository that GitHub has. */
	git(...words: string[]): string {
		const names = ["AUTHOR", "COMMITTER"].flatMap((who) => [
			[`GIT_${who}_NAME`, "GitHub"],
			[`GIT_${who}_EMAIL`, "noreply@github.com"],
		]);
		const env = { ...cleanEnvironment({}), ...Object.fromEntries(names), GIT_CONFIG_GLOBAL: "/dev/null" };
		return execFileSync("git", ["-C", this.bare, ...words], { env, encoding: "utf8", stdio: "pipe" }).trim();
	}

	/** A file with a text, for git. */
	write(text: string): string {
		const path = join(this.folder, "text");
		writeFileSync(path, text);
		return path;
	}

	/** Makes a tree of lines as `git ls-tree` prints them; its id. */
	makeTree(lines: string): string {
		const words = ["-C", this.bare, "mktree"];
		return execFileSync("git", words, { input: `${lines}\n`, encoding: "utf8" }).trim();
	}

	/** The text of a file on a branch; null where there is none. */
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

	/** Says that a branch has moved. */
	pushed(branch: string): void {
		const payload = { repository: { default_branch: "main" } };
		const sha = this.git("rev-parse", `refs/heads/${branch}`);
		this.#fire({ event: "push", ref: `refs/heads/${branch}`, sha, payload });
	}

	/** Opens a pull request. @param from `owner:branch` @param change its files, or what makes its head of the branch main */
	propose(
		author: string,
		from: string,
		change: Files | ((work: Repository) => void),
		title = "A change",
	): Pull {
		this.work.git("fetch", "-q", this.bare, "+refs/heads/main:refs/remotes/origin/main");
		this.work.git("checkout", "-q", "-B", "head", "refs/remotes/origin/main");
		if (typeof change === "function") change(this.work);
		else this.work.commit(title, change);
		const number = this.pulls.length + 1;
		this.#send("head", `refs/pull/${number}/head`);
		const [owner, branch = ""] = from.split(":");
		if (owner === "maps") this.#send("head", `refs/heads/${branch}`);
		this.work.git("checkout", "-q", "main");
		return this.open(author, from, title);
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

	/** Changes the head of a pull request. */
	update(pull: Pull, files: Files): void {
		this.work.git("fetch", "-q", this.bare, `+refs/pull/${pull.number}/head:head`);
		this.work.git("checkout", "-q", "head");
		this.work.commit("a correction", files);
		this.#send("head", `refs/pull/${pull.number}/head`);
		this.work.git("checkout", "-q", "main");
		this.#pullEvent(pull, "pull_request", { action: "synchronize" });
	}

	/** Changes the title of a pull request. */
	rename(pull: Pull, title: string): void {
		pull.title = title;
		this.#pullEvent(pull, "pull_request", { action: "edited", changes: { title: { from: "x" } } });
	}

	/** A review of the newest commit. @param state such as `APPROVED` */
	review(pull: Pull, login: string, state: string): void {
		pull.reviews.push({ login, state, commit: pull.sha });
		const review = { state: state.toLowerCase() };
		this.#pullEvent(pull, "pull_request_review", { action: "submitted", review });
	}

	/** Why a person may not merge a pull request; empty if there is no reason. */
	obstacles(pull: Pull): string[] {
		const file = join(root, "review/setup-github/rulesets/default-branch.json");
		const { rules } = JSON.parse(readFileSync(file, "utf8")) as {
			rules: { type: string; parameters?: never }[];
		};
		const rule = rules.find(({ type }) => type === "required_status_checks")?.parameters as
			| undefined
			| { required_status_checks: { context: string; integration_id: string }[] };
		const apps: Record<string, string> = { WORKFLOW_APP: this.host.appSlug, ACTIONS_APP: "github-actions" };
		return (rule?.required_status_checks ?? []).flatMap(({ context, integration_id }) => {
			const isIt = (run: (typeof this.peer.checks)[number]) =>
				run.head_sha === pull.sha && run.name === context && run.app === apps[integration_id];
			const conclusion = this.peer.checks.findLast(isIt)?.conclusion ?? "missing";
			return ["success", "skipped", "neutral"].includes(conclusion) ? [] : `${context} is ${conclusion}`;
		});
	}

	/** Merges a pull request as a person with write access does, by squash. @throws {Error} where a rule forbids it */
	merge(pull: Pull): void {
		const why = this.obstacles(pull);
		if (why.length > 0 || !pull.mergeable) throw new Error(`#${pull.number} cannot be merged: ${why}`);
		this.#squash(pull);
	}

	/** Starts a scheduled workflow, or one by hand. */
	begin(name: string, event = "schedule"): void {
		const sha = this.git("rev-parse", "refs/heads/main");
		const payload = { repository: { default_branch: "main" } };
		this.#fire({ event, ref: "refs/heads/main", sha, payload }, [`${name}.yml`]);
	}

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
			for (const one of round) {
				const group = `${groupOf(one)}`;
				groups.set(group, [...(groups.get(group) ?? []), one]);
			}
			const playGroup = async (group: Waiting[]) => {
				for (const one of group) await this.#play(one);
			};
			await Promise.all([...groups.values()].map(playGroup));
		}
	}

	/** The newest run of a workflow. @throws {Error} if there is none */
	last(name: string): Run {
		const run = this.runs.findLast(({ workflow }) => workflow.name === name);
		if (!run) throw new Error(`${name} has not run`);
		return run;
	}

	async close(): Promise<void> {
		await this.peer.close();
		this.work.remove();
		rmSync(this.folder, { recursive: true, force: true });
	}

	async #play({ file, workflow, start }: Waiting): Promise<void> {
		const run = await play(workflow, start, this.host);
		this.runs.push(run);
		const { pull_request: pull } = start.payload as { pull_request?: { head: { sha: string } } };
		for (const { name, result } of start.event === "pull_request" ? Object.values(run.jobs) : []) {
			const output = { title: "", summary: "", annotations: [] };
			const check = {
				id: this.peer.checks.length + 1,
				app: "github-actions",
				output,
				conclusion: result,
				name,
			};
			this.peer.checks.push({ ...check, head_sha: pull?.head.sha ?? "" });
		}
		const followers = start.event === "workflow_run" ? [] : this.#workflows("refs/heads/main");
		for (const [name, next] of followers) {
			const on = next.on.workflow_run as { workflows?: string[] } | undefined;
			if (!on?.workflows?.includes(workflow.name)) continue;
			const { head } = (start.payload.pull_request ?? {}) as {
				head?: { sha: string; ref: string; repo: object };
			};
			const workflow_run = {
				...{ conclusion: run.conclusion, event: start.event, name: workflow.name, path: file },
				...{ head_sha: head?.sha, head_branch: head?.ref, head_repository: head?.repo },
			};
			const sha = this.git("rev-parse", "refs/heads/main");
			const payload = { workflow_run, repository: { default_branch: "main" } };
			this.#fire({ event: "workflow_run", ref: "refs/heads/main", sha, payload }, [name]);
		}
	}

	#pull(number: number): Pull {
		const pull = this.pulls.find((one) => one.number === number);
		if (!pull) throw new Error(`there is no pull request ${number}`);
		return pull;
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

	#squash(pull: Pull): string {
		const main = this.git("rev-parse", "refs/heads/main");
		const { commits, title, number } = pull;
		const body = commits.map(({ message }) => message).join("\n\n");
		const text = commits.length === 1 ? body : `${title} (#${number})\n\n${body}`;
		const commit = this.git("commit-tree", pull.tree ?? "", "-p", main, "-m", text);
		this.git("update-ref", "refs/heads/main", commit, main);
		pull.merged = true;
		this.pushed("main");
		return commit;
	}

	#send(from: string, to: string): void {
		this.git("fetch", "-q", this.work.path, `+refs/heads/${from}:${to}`);
	}

	/** The workflows of a commit, by the names of their files. */
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
			const types =
				on?.types ?? (start.event === "pull_request" ? ["opened", "synchronize", "reopened"] : null);
			if (types && action && !types.includes(action)) continue;
			if (on?.branches && !on.branches.includes(start.ref.replace("refs/heads/", ""))) continue;
			if (on?.tags && !start.ref.startsWith("refs/tags/")) continue;
			// Of the filters of paths: what starts `packages`, and what keeps `check` from a push of layers.
			if (on?.paths || (on?.["paths-ignore"] && start.event === "push")) continue;
			this.#waiting.push({ file, workflow, start });
		}
	}
}

/** Runs of one group are played one after the other; a run without a group has one of its own. */
function groupOf({ workflow, start, file }: Waiting): unknown {
	const group = workflow.concurrency?.group;
	const { event, ref, payload, sha } = start;
	const github = { event, ref, event_name: event, sha };
	if (group === undefined) return `${file} ${JSON.stringify(payload)}`;
	return filled(group, { github: { ...github, event: payload } });
}
