import { readFileSync } from "node:fs";
import { basename } from "node:path";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { test } from "../helpers/suite.ts";

interface Step {
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
	concurrency?: { group: string; queue?: string };
	env?: Record<string, string>;
	jobs: Record<string, Job>;
}

const paths = glob.sync(".github/workflows/*.{yml,yaml}").sort();
const texts = new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
const workflows = new Map(Array.from(texts, ([path, text]) => [path, parse(text) as Workflow]));
const actionPaths = [".github/actions/node/action.yml", ".github/actions/setup/action.yml"];
const actionTexts = new Map(actionPaths.map((path) => [path, readFileSync(path, "utf8")]));
const actions = Array.from(actionTexts, ([name, text]) => {
	const { runs } = parse(text) as { runs: { steps: Step[] } };
	return { name, steps: runs.steps };
});

function workflow(name: string) {
	return workflows.get(`.github/workflows/${name}.yml`) as Workflow;
}

const jobs = Array.from(workflows, ([path, workflow]) =>
	Object.entries(workflow.jobs).map(([name, job]) => ({
		...job,
		name: `${basename(path)}: ${name}`,
		workflow,
	})),
).flat();

const steps: (Step & { of: string })[] = [...jobs, ...actions].flatMap(({ name, steps }) =>
	steps.map((step) => ({ ...step, of: name })),
);

const scripts = glob.sync(".github/*.sh").map((of) => ({ of, run: readFileSync(of, "utf8") }));

/** What a step runs, with the text of each script in place of its name. */
function commandsOf(run = "") {
	return scripts.reduce((text, script) => {
		if (!text.includes(script.of)) return text;
		return text.replaceAll(script.of, () => commandsOf(script.run.replace(/^#.*$/gm, "")));
	}, run);
}

const namesOf = (list: { name: string }[]) => list.map(({ name }) => name);

test("a workflow has no permissions of its own, and a job only those that it needs", () => {
	for (const [path, { permissions }] of workflows) assert.equal(permissions, {}, path);
	const read = "contents=read";
	const more: Record<string, string> = {
		"check.yml: check": "",
		"pull-request.yml: trigger": "",
		"layers.yml: plan": `${read} pull-requests=read checks=read issues=read statuses=read`,
		"refresh.yml: harvest": `${read} pull-requests=read`,
	};
	for (const { name, permissions = { all: "write" }, "timeout-minutes": minutes = 0 } of jobs) {
		const granted = Object.entries(permissions).map(([right, level]) => `${right}=${level}`);
		const expected = more[name] ?? (name.endsWith(": tell") ? `${read} issues=write` : read);
		assert.is(granted.join(" "), expected, name);
		assert.ok(minutes > 0, `${name} has a time limit`);
	}
});

/**
 * Runs of the first two take the workflow's file, and the commit, from the default branch. Any branch can start the others;
 * the environment's branch rule, and the condition, keep others out.
 */
const startingEvents = ["workflow_run", "schedule", "push", "workflow_dispatch"];

/**
 * What is wrong with a job that holds a secret: it has to run the code of the default branch at the run's own commit,
 * and nothing else.
 */
function secretProblems({ workflow: { on, env }, name: _, ...rest }: (typeof jobs)[number]) {
	const job = { ...rest, steps: rest.steps.map((step) => ({ ...step, run: commandsOf(step.run) })) };
	const ofAll = JSON.stringify(env ?? {});
	if (!(JSON.stringify(job) + ofAll).includes("secrets.") && job.environment === undefined) return [];
	const { name = "", deployment } = job.environment ?? {};
	const checkouts = job.steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
	const inputs = checkouts.map((step) => step.with ?? {});
	const events = Object.keys(on).filter((event) => !startingEvents.includes(event));
	const otherInputs = inputs
		.flatMap(Object.keys)
		.filter((input) => !["fetch-depth", "persist-credentials"].includes(input));
	const ownAction = /^(?:actions\/[a-z-]+@[0-9a-f]{40}|\.\/\.github\/actions\/(?:node|setup))$/;
	const otherActions = job.steps.flatMap(({ uses }) =>
		uses === undefined || ownAction.test(uses) ? [] : uses,
	);
	const runs = (pattern: RegExp) => job.steps.some(({ run }) => pattern.test(run));
	const fetched = job.steps.findIndex(({ run }) => /\bgit fetch\b/.test(run));
	const later = fetched < 0 ? [] : job.steps.slice(fetched);
	const problems: Record<string, boolean> = {
		"its environment is not review or production": !["review", "production"].includes(name),
		"it makes a deployment": deployment !== false,
		"a secret is in the whole workflow": ofAll.includes("secrets."),
		[`${events} can start it`]: events.length > 0,
		"it has not one checkout": checkouts.length !== 1,
		[`its checkout has ${otherInputs}`]: otherInputs.length > 0,
		"its checkout leaves a token behind": inputs.some((input) => input["persist-credentials"] !== false),
		[`it uses ${otherActions}`]: otherActions.length > 0,
		"it checks out other code": runs(/\bgit (?:checkout|switch|merge|worktree|pull|reset|clone|submodule)\b/),
		"it asks foreign servers": runs(/npx fragment-publisher (?:harvest|watch-services|repair|prove)\b/),
		// What another branch has brought is never run.
		"it runs code after a fetch": later.some(
			({ run, uses }) => /\b(?:npx|npm|node)\b/.test(run) || uses?.startsWith("./"),
		),
	};
	return Object.keys(problems).filter((problem) => problems[problem]);
}

test("a job with a secret runs only the default branch's code, at the run's own commit", () => {
	const holding = jobs.filter(({ workflow: _, ...job }) => JSON.stringify(job).includes("secrets."));
	assert.equal(namesOf(holding), [
		"layers.yml: teams",
		"layers.yml: send",
		"prove.yml: keep",
		"publish.yml: publish",
		"publish.yml: describe",
		"refresh.yml: propose",
	]);
	for (const job of jobs) assert.equal(secretProblems(job), [], job.name);
	// A collaborator can set a variable: none chooses a branch. The key of the service's own App is nowhere.
	for (const [path, text] of texts)
		assert.not.match(text, /LAYERS_BRANCH|\bref:|PUBLISHER_APP|SENDERS/, path);
});

test("the App's key enters no process but the action that makes a token of it", () => {
	const key = "secrets.WORKFLOW_APP_PRIVATE_KEY";
	for (const step of steps.filter((step) => JSON.stringify(step).includes(key))) {
		assert.match(step.uses ?? "", /^actions\/create-github-app-token@/, step.of);
		assert.is(step.env, undefined, step.of);
	}
	for (const { name, environment, steps } of jobs)
		assert.is(environment?.name === "review", JSON.stringify(steps).includes(key), name);
});

test("others' texts are judged in a job without a key, and used in one without packages", () => {
	for (const { name, environment, steps, needs = [] } of jobs) {
		if (/: (?:describe|propose)$/.test(name)) assert.ok([needs].flat().includes("judge"), name);
		const holdsKey = environment !== undefined;
		const runs = steps.map(({ run, uses = "" }) => `${commandsOf(run)}${uses}`).join("\n");
		const words = runs.match(/\bnp[mx] .*|setup$/gm) ?? [];
		// The program that uploads the Worker.
		const isAllowed = (word: string) =>
			name === "publish.yml: publish" && word.includes("npm ci --omit=dev --prefix deploy/workers");
		if (holdsKey)
			assert.equal(
				[...words].filter((word) => !isAllowed(word)),
				[],
				name,
			);
		if (name.endsWith(": judge")) assert.is(environment, undefined, name);
	}
});

test("what others made is applied before there is a token that may write", () => {
	const applying = /\bgit (?:apply|am)\b|\bcommit\.sh\b/;
	const withToken = steps.filter(({ env }) => JSON.stringify(env ?? {}).includes("steps.app.outputs.token"));
	assert.ok(withToken.length >= 3, `${withToken.length}`);
	for (const { of, run = "" } of withToken) {
		const called = scripts.filter((script) => run.includes(script.of));
		for (const text of [run, ...called.map((script) => script.run)]) assert.not.match(text, applying, of);
	}
});

test("a run that is started again does nothing with a key: it has an old commit", () => {
	for (const { name, environment, if: condition = "" } of jobs)
		if (environment) assert.match(condition, "github.run_attempt == 1", name);
});

test("a branch is fetched and pushed by its whole name: a tag of the same name comes first", () => {
	const other = /git fetch .*? origin (?!"?\+?\$(?:HEAD|head)|"?refs\/heads\/)/;
	for (const { of, run = "" } of [...scripts, ...steps]) assert.not.match(run, other, of);
});

test("what a ruleset requires is set by the App, from the default branch's scripts", () => {
	const running = (words: string) => steps.filter(({ run }) => run?.includes(words)).map(({ of }) => of);
	assert.equal(running("npx fragment-publisher approvals"), ["layers.yml: plan"]);
	assert.equal(running(".github/send-plan.sh"), ["layers.yml: send"]);
	assert.equal(workflow("layers").on.workflow_run, { workflows: ["pull request"], types: ["completed"] });
	assert.is(workflow("pull-request").name, "pull request");
	// A job of that name in a pull request's own workflow would be a check of that name.
	assert.not.match(namesOf(jobs).join("\n"), /: (?:layers|owners)$/m);
});

test("the events of one pull request wait for each other, and none is dropped", () => {
	const { group = "", ...rest } = workflow("layers").concurrency ?? {};
	assert.equal(rest, { queue: "max" });
	assert.match(group, "github.event.workflow_run.head_branch");
});

test("every action is pinned by its full commit, with its version beside it", () => {
	for (const [path, text] of [...texts, ...actionTexts]) {
		const uses = text.split("\n").filter((line) => /\buses:/.test(line));
		assert.is(uses.length > 0, !path.endsWith("pull-request.yml"), path);
		for (const line of uses.filter((use) => !/uses: \.\/\.github\/actions\/(?:node|setup)$/.test(use)))
			assert.match(line, /uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, path);
	}
});

test("nothing is put into a shell but by the environment", () => {
	for (const { of, run = "" } of steps) {
		assert.not.match(run, /\$\{\{/, of);
		// What `case` looks at is never split.
		for (const variable of run.replace(/case "\$\w+" in/g, "").match(/\$\w+/g) ?? [])
			assert.match(run, new RegExp(`"[^"]*\\${variable}[^"]*"`), of);
	}
});

test("no secret and no right to write is near foreign data", () => {
	for (const path of ["check", "pull-request"]) assert.not.match(JSON.stringify(workflow(path)), "secrets.");
	const { plan, teams, send } = workflow("layers").jobs;
	assert.not.match(JSON.stringify(plan), /secrets\.|write|steps\.app/);
	const reviewing = plan?.steps.find(({ run }) => run?.includes("npx fragment-publisher review"));
	assert.not.match(JSON.stringify(reviewing), "github.token");
	for (const job of [teams, send])
		assert.not.match(JSON.stringify(job), /git fetch|npx fragment-publisher review/);
	for (const [path, { on }] of workflows) assert.not.ok("pull_request_target" in on, path);
});

test.run();
