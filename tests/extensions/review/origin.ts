import { execFileSync, spawn } from "node:child_process";
import {
	chmodSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { cleanEnvironment, pathWithNpx, root } from "../../helpers/process.ts";
import { type Files, Repository } from "../../helpers/world.ts";

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

/** The project as it is in this checkout, in a repository of its own, as the main branch of an origin. */
export class Origin {
	readonly folder = mkdtempSync(join(tmpdir(), "publisher-origin-"));
	readonly bare = join(this.folder, "origin.git");
	readonly #project: Repository;
	#clones = 0;

	/** @param change files that are different there from this checkout */
	constructor(change: Files = {}) {
		const listed = execFileSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], {
			cwd: root,
			encoding: "utf8",
		});
		this.#project = new Repository({});
		const files = listed.split("\0").filter((path) => path && existsSync(join(root, path)));
		// The layers are the tests' own: those of this checkout are anybody's to change.
		for (const path of files.filter((path) => !path.startsWith("layers/"))) {
			mkdirSync(dirname(join(this.#project.path, path)), { recursive: true });
			cpSync(join(root, path), join(this.#project.path, path));
		}
		cpSync(join(root, "tests/fixtures/layers"), join(this.#project.path, "layers"), { recursive: true });
		this.#project.commit("the project", change);
		this.#project.git("init", "-q", "--bare", this.bare);
		this.#project.git("push", "-q", this.bare, "main");
	}

	/** What actions/checkout and npm ci leave behind. */
	checkout(): string {
		this.#clones += 1;
		const path = join(this.folder, `checkout-${this.#clones}`);
		this.#project.git("clone", "-q", "-b", "main", this.bare, path);
		symlinkSync(join(root, "node_modules"), join(path, "node_modules"));
		return path;
	}

	/** Runs git in the origin. */
	git(...args: string[]): string {
		return this.#project.git("-C", this.bare, ...args).trim();
	}

	/**
	 * A `gh` of the test's own in a checkout: it notes its words, a line for each call, and prints `open` as the number
	 * of open pull requests, `runs` as that of the workflow's runs, and what `--jq` makes of `pulls`.
	 * @returns the environment that finds it, and what was called so far
	 */
	gh(cwd: string, open = 0, pulls: readonly object[] = [], runs = 1) {
		const bin = join(cwd, ".git", "bin");
		const [log, file] = [join(bin, "log"), join(bin, "pulls.json")];
		mkdirSync(bin, { recursive: true });
		writeFileSync(log, "");
		writeFileSync(file, JSON.stringify(pulls));
		const script = `#!/bin/sh
if [ "$1" = api ]; then for program in "$@"; do :; done; exec jq --raw-output "$program" ${file}; fi
echo "$@" >> ${log}
case "$*" in "pr list"*) echo ${open} ;; "run list"*) echo ${runs} ;; esac
`;
		writeFileSync(join(bin, "gh"), script);
		chmodSync(join(bin, "gh"), 0o755);
		const env = {
			PATH: `${bin}:${process.env.PATH}`,
			GITHUB_SERVER_URL: "https://github.example",
			BRANCH: "main",
		};
		return { env, calls: () => readFileSync(log, "utf8").split("\n").filter(Boolean) };
	}

	remove(): void {
		rmSync(this.folder, { recursive: true, force: true });
		this.#project.remove();
	}
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
