import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { callOf, commands } from "../../terminal/commands.ts";
import { temporaryFolder } from "../local.ts";
import { cleanEnvironment, type Ended, root, runScript } from "../process.ts";

const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
	scripts: Record<string, string>;
};

/** npm script → the file that it runs, from scripts/; those of other programs are not there. */
const files = new Map(
	Object.entries(scripts).flatMap(([name, line]) => {
		const match = /^node scripts\/run\.cjs (\S+)$/.exec(line);
		return match ? [[name, match[1] as string] as const] : [];
	}),
);

const summaries = new Map(Object.values(commands).flatMap((group) => Object.entries<string>(group)));

test("npm run help lists every npm script once, with what it does", async () => {
	const { code, stdout } = await runScript("help", []);
	assert.is(code, 0);
	assert.equal([...summaries.keys()].sort(), Object.keys(scripts).sort());
	for (const [name, summary] of summaries) {
		const lines = stdout.split("\n").filter((line) => line.startsWith(`  ${callOf(name)} `));
		assert.is(lines.length, 1, name);
		assert.ok(lines[0]?.endsWith(`  ${summary}`), lines[0]);
	}
});

test("only format, lint and their like are not ours", () => {
	assert.equal(
		Object.keys(scripts).filter((name) => !files.has(name)),
		["lint", "format"],
	);
});

/** Commands that another test runs as a process, with work to do: their start is seen there, and takes a second. */
const elsewhere: Record<string, string> = {
	build: "tests/review/publish.test.ts",
	"commit-descriptions": "tests/review/publish.test.ts",
	harvest: "tests/review/publish.test.ts",
	"tell-failure": "tests/review/publish.test.ts",
	validate: "tests/review/publish.test.ts",
	comment: "tests/review/workflow.test.ts",
	review: "tests/review/workflow.test.ts",
	deploy: "tests/hosting/deploy.test.ts",
	put: "tests/service/serve.test.ts",
	refresh: "tests/review/refresh/refresh.test.ts",
	start: "tests/service/ending.test.ts",
};

/** Settings that nothing could start with: help needs none. */
const wrong = { PORT: "none", SENDERS: "none" };

const apart = [...files].filter(([name]) => !(name in elsewhere)).map(([, file]) => file);

/** What commands print when they are started with --help as their npm scripts do, by file: in one process for all. */
async function startAll(): Promise<Record<string, Ended>> {
	const options = { cwd: root, env: cleanEnvironment(wrong) };
	const words = ["tests/terminal/helps.cjs", ...apart];
	return JSON.parse((await promisify(execFile)(process.execPath, words, options)).stdout);
}

/** The same, made when it is first asked for. */
let started: Promise<Record<string, Ended>> | undefined;

for (const [name, file] of files) {
	const isElsewhere = name in elsewhere;

	test(`${callOf(name)} -- --help prints its help${isElsewhere ? "" : ", as it is started"}, and does nothing else`, async () => {
		if (!isElsewhere) started ??= startAll();
		const ended = isElsewhere ? await runScript(file, ["--help"], wrong) : (await started)?.[file];
		assert.ok(ended, file);
		const { code, stdout, stderr } = ended as Ended;
		assert.is(code, 0);
		assert.ok(stdout.startsWith(`Usage: ${callOf(name)} -- `), stdout);
		const summary = summaries.get(name) as string;
		assert.match(stdout.toLowerCase(), `\n\n${summary.toLowerCase()}.\n`);
		assert.match(stdout, "-h, --help");
		assert.is(stderr, "");
	});

	test(`${callOf(name)} names the nearest option to one that it does not know`, async () => {
		const { code, stdout, stderr } = await runScript(file, ["--hepl"]);
		assert.is(code, 2);
		assert.is(stdout, "");
		assert.is(
			stderr,
			`error: unknown option '--hepl'\n(Did you mean --help?)\n${callOf(name)} -- --help lists what can be said\n`,
		);
	});
}

test("each of those tests starts processes", async () => {
	for (const [name, path] of Object.entries(elsewhere)) {
		assert.ok(files.has(name), name);
		assert.match(
			await readFile(join(root, path), "utf8"),
			/runJob|runScriptProcess|runAsProcess|"npm"|"bash"/,
			path,
		);
	}
});

test("an old Node is told so in one line, and nothing is run", async () => {
	const folder = await temporaryFolder();
	const disguise = join(folder.path, "disguise.cjs");
	const versions = '{ ...process.versions, node: "18.20.4" }';
	await writeFile(disguise, `Object.defineProperty(process, "versions", { value: ${versions} });`);
	const words = ["--require", disguise, "scripts/run.cjs", "help"];
	const ended = await promisify(execFile)(process.execPath, words, { cwd: root }).catch((error) => error);
	assert.is(ended.code, 2);
	assert.is(ended.stdout, "");
	assert.is(ended.stderr, "Node 20.11 or newer is needed, and this is 18.20.4: https://nodejs.org\n");
	await folder.remove();
});

test.run();
