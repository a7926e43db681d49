import { readFileSync } from "node:fs";
import { basename } from "node:path";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { test } from "../helpers/suite.ts";

interface Step {
	id?: string;
	name?: string;
	uses?: string;
	run?: string;
	if?: string;
	with?: Record<string, unknown>;
	env?: Record<string, string>;
}

interface Job {
	if?: string;
	needs?: string | string[];
	environment?: { name: string; deployment: boolean };
	permissions?: Record<string, string>;
	"timeout-minutes"?: number;
	steps: Step[];
}

interface Workflow {
	name: string;
	on: Record<string, unknown>;
	permissions: Record<string, string>;
	concurrency?: { group: string; "cancel-in-progress": boolean; queue?: string };
	env?: Record<string, string>;
	jobs: Record<string, Job>;
}

const paths = glob.sync(".github/workflows/*.{yml,yaml}").sort();
const texts = new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
const workflows = new Map(Array.from(texts, ([path, text]) => [path, parse(text) as Workflow]));
const actionPaths = [".github/actions/node/action.yml", ".github/actions/setup/action.yml"];
const [node = [], setup = []] = actionPaths.map(
	(path) => (parse(readFileSync(path, "utf8")) as { runs: { steps: Step[] } }).runs.steps,
);

function workflow(name: string): Workflow {
	return workflows.get(`.github/workflows/${name}.yml`) as Workflow;
}

function jobs(of: ReadonlyMap<string, Workflow> = workflows): [string, Job][] {
	return Array.from(of, ([path, { jobs }]) =>
		Object.entries(jobs).map(([name, job]): [string, Job] => [`${basename(path)}: ${name}`, job]),
	).flat();
}

function steps(): [string, Step][] {
	return [
		...jobs().flatMap(([name, job]) => job.steps.map((step): [string, Step] => [name, step])),
		...[node, setup].flatMap((steps, index) =>
			steps.map((step): [string, Step] => [actionPaths[index] as string, step]),
		),
	];
}

test("a workflow has no permissions of its own, and a job only those that it needs", () => {
	for (const [path, { permissions }] of workflows) assert.equal(permissions, {}, path);
	const read = "contents=read";
	const more: Record<string, string> = {
		"check.yml: check": "",
		"pull-request.yml: trigger": "",
		"layers.yml: look": `${read} pull-requests=read checks=read`,
		"layers.yml: plan": `${read} pull-requests=read checks=read issues=read statuses=read`,
		"refresh.yml: pulls": "actions=read pull-requests=read",
		"release.yml: attest": "id-token=write attestations=write",
	};
	for (const [name, { permissions, "timeout-minutes": minutes = 0 }] of jobs()) {
		const granted = Object.entries(permissions ?? { all: "write" }).map(
			([right, level]) => `${right}=${level}`,
		);
		const expected = more[name] ?? (name.endsWith(": tell") ? `${read} issues=write` : read);
		assert.is(granted.join(" "), expected, name);
		assert.ok(minutes > 0, `${name} has a time limit`);
	}
});

/** Events whose runs take the workflow's file, and the commit, from the default branch. */
const ofDefaultBranch = new Set(["workflow_run", "schedule"]);

/** Events that any branch can start; the environment's branch rule, and the condition, keep others out. */
const ofAnyBranch = new Set(["push", "workflow_dispatch"]);

/**
 * What is wrong with a job that holds a secret: it has to run the code of the default branch at the run's own commit,
 * and nothing else.
 */
function secretProblems({ on, env }: Workflow, job: Job): string[] {
	const text = JSON.stringify([job, env ?? {}]);
	if (!text.includes("secrets.") && job.environment === undefined) return [];
	const problems: string[] = [];
	const { name, deployment } = job.environment ?? {};
	if (name !== "review" && name !== "production")
		problems.push("its environment is not review or production");
	if (deployment !== false) problems.push("it makes a deployment");
	if (JSON.stringify(env ?? {}).includes("secrets.")) problems.push("a secret is in the whole workflow");
	for (const event of Object.keys(on ?? {})) {
		if (!ofDefaultBranch.has(event) && !ofAnyBranch.has(event)) problems.push(`${event} can start it`);
	}
	const checkouts = job.steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
	if (checkouts.length !== 1) problems.push("it has not one checkout");
	for (const step of checkouts) {
		for (const input of Object.keys(step.with ?? {})) {
			if (!["fetch-depth", "persist-credentials"].includes(input)) problems.push(`its checkout has ${input}`);
		}
		if (step.with?.["persist-credentials"] !== false) problems.push("its checkout leaves a token behind");
	}
	for (const { uses, run = "" } of job.steps) {
		if (
			uses !== undefined &&
			!/^(?:actions\/[a-z-]+@[0-9a-f]{40}|\.\/\.github\/actions\/(?:node|setup))$/.test(uses)
		)
			problems.push(`it uses ${uses}`);
		if (/\bgit (?:checkout|switch|merge|worktree|pull|reset|clone|submodule)\b/.test(run))
			problems.push("it checks out other code");
		if (/npx fragment-publisher (?:harvest|watch-services|check-services|repair|prove)\b/.test(run))
			problems.push("it asks foreign servers");
	}
	// What another branch has brought is never run.
	const fetched = job.steps.findIndex(({ run = "" }) => /\bgit fetch\b/.test(run));
	const later = fetched < 0 ? [] : job.steps.slice(fetched);
	if (later.some(({ run = "", uses }) => /\b(?:npx|npm|node)\b/.test(run) || uses?.startsWith("./")))
		problems.push("it runs code after a fetch");
	return problems;
}

test("a job with a secret runs only the default branch's code, at the run's own commit", () => {
	const holding = jobs().filter(([, job]) => JSON.stringify(job).includes("secrets."));
	const names = holding.map(([name]) => name);
	assert.equal(names, [
		"layers.yml: teams",
		"layers.yml: send",
		"prove.yml: keep",
		"publish.yml: publish",
		"publish.yml: describe",
		"refresh.yml: propose",
	]);
	for (const [path, one] of workflows)
		for (const [name, job] of Object.entries(one.jobs))
			assert.equal(secretProblems(one, job), [], `${path}: ${name}`);
	// Nothing chooses a branch: a variable can be set by a collaborator.
	for (const [path, text] of texts) assert.not.match(text, /LAYERS_BRANCH|\bref:/, path);
});

test("the App's key enters no process but the action that makes a token of it", () => {
	const key = "secrets.WORKFLOW_APP_PRIVATE_KEY";
	for (const [name, step] of steps()) {
		if (!JSON.stringify(step).includes(key)) continue;
		assert.match(step.uses ?? "", /^actions\/create-github-app-token@/, name);
		assert.is(step.env, undefined, name);
	}
	for (const [name, { environment, steps }] of jobs()) {
		const holds = JSON.stringify(steps).includes(key);
		assert.is(environment?.name === "review", holds, name);
	}
});

const withPackages = ["publish.yml: publish"];
const beside = ["deploy/workers"];

test("what others wrote is judged in a job without a key, and acted on in one without packages", () => {
	for (const [name, { needs }] of jobs().filter(([name]) => /: (?:describe|propose)$/.test(name)))
		assert.ok([needs ?? []].flat().includes("judge"), name);
	for (const [name, { environment, permissions, steps }] of jobs()) {
		const holdsKey = environment !== undefined || permissions?.["id-token"] !== undefined;
		const runs = steps.map(({ run = "", uses = "" }) => `${run}${uses}`).join("\n");
		const words = runs.match(/\bnp[mx] .*|setup$/gm) ?? [];
		const isAllowed = (word: string) =>
			withPackages.includes(name) &&
			beside.some((folder) => word.includes(`npm ci --omit=dev`) && word.includes(`--prefix ${folder}`));
		if (holdsKey)
			assert.equal(
				words.filter((word) => !isAllowed(word)),
				[],
				name,
			);
		if (name.endsWith(": judge")) assert.is(environment, undefined, name);
	}
});

test("a run that is started again does nothing with a key: it has an old commit", () => {
	for (const [name, job] of jobs())
		if (job.environment) assert.match(job.if ?? "", "github.run_attempt == 1", name);
});

test("a branch is fetched and pushed by its whole name: a tag of the same name comes first", () => {
	const scripts = glob.sync(".github/*.sh").map((path) => [path, readFileSync(path, "utf8")] as const);
	for (const [name, run] of [...scripts, ...steps().map(([name, { run = "" }]) => [name, run] as const)])
		for (const [line] of run.matchAll(
			/git fetch .*? origin (?!"?\+?\$(?:HEAD|REFS|head)|"?refs\/heads\/).*/g,
		))
			assert.unreachable(`${name}: ${line}`);
});

test("no workflow holds the key of the service's own App", () => {
	for (const [path, text] of texts) assert.not.match(text, /PUBLISHER_APP|SENDERS/, path);
});

test("what a ruleset requires is set by the App, from the default branch's scripts", () => {
	const sets = (job: Job) => job.steps.some(({ run }) => /npx fragment-publisher approvals/.test(run ?? ""));
	const setting = jobs().filter(([, job]) => sets(job));
	const names = setting.map(([name]) => name);
	assert.equal(names, ["layers.yml: plan"]);
	const sends = (job: Job) => job.steps.some(({ run }) => run?.includes(".github/send-plan.sh"));
	const listed = jobs().flatMap(([name, job]) => (sends(job) ? name : []));
	assert.equal(listed, ["layers.yml: send"]);
	assert.equal(workflow("layers").on.workflow_run, { workflows: ["pull request"], types: ["completed"] });
	assert.is(workflow("pull-request").name, "pull request");
	// A job of that name in a pull request's own workflow would be a check of that name.
	for (const { jobs } of workflows.values())
		for (const job of Object.keys(jobs)) assert.not.ok(["layers", "owners"].includes(job), job);
});

test("the events of one pull request wait for each other, and none is dropped", () => {
	const { group = "", ...rest } = workflow("layers").concurrency ?? {};
	assert.equal(rest, { "cancel-in-progress": false, queue: "max" });
	assert.match(group, "github.event.workflow_run.head_branch");
});

test("every action is pinned by its full commit, with its version beside it", () => {
	for (const [path, text] of [
		...texts,
		...actionPaths.map((path) => [path, readFileSync(path, "utf8")] as const),
	]) {
		const uses = text.split("\n").filter((line) => /\buses:/.test(line));
		assert.is(uses.length > 0, !path.endsWith("pull-request.yml"), path);
		for (const line of uses.filter((one) => !/uses: \.\/\.github\/actions\/(?:node|setup)$/.test(one)))
			assert.match(line, /uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, path);
	}
});

test("nothing is put into a shell but by the environment", () => {
	for (const [name, { run }] of steps()) assert.not.match(run ?? "", /\$\{\{/, name);
	for (const [name, { run }] of steps()) {
		// What `case` looks at is never split.
		for (const variable of (run ?? "").replace(/case "\$\w+" in/g, "").match(/\$\w+/g) ?? [])
			assert.match(run ?? "", new RegExp(`"[^"]*\\${variable}[^"]*"`), name);
	}
});

test("no secret and no right to write is near foreign data", () => {
	for (const path of ["check", "pull-request"]) assert.not.match(JSON.stringify(workflow(path)), "secrets.");
	const { look, teams, send } = workflow("layers").jobs;
	assert.not.match(JSON.stringify(look), /secrets\.|write|steps\.app/);
	const reviewing = look?.steps.find(({ run }) => run?.includes("npx fragment-publisher review"));
	assert.not.match(JSON.stringify(reviewing), "github.token");
	for (const job of [teams, send])
		assert.not.match(JSON.stringify(job), /git fetch|npx fragment-publisher review/);
	for (const [path, { on }] of workflows) assert.not.ok("pull_request_target" in on, path);
});

test.run();
