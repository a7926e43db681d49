import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { callOf, commands } from "../../../scripts/terminal/commands.ts";
import { temporaryFolder } from "../../local.ts";
import { cleanEnvironment, type Ended, root, runScript } from "../../process.ts";

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
	build: "tests/scripts/review/publish.test.ts",
	"commit-descriptions": "tests/scripts/review/publish.test.ts",
	harvest: "tests/scripts/review/publish.test.ts",
	"tell-failure": "tests/scripts/review/publish.test.ts",
	validate: "tests/scripts/review/publish.test.ts",
	comment: "tests/scripts/review/workflow.test.ts",
	review: "tests/scripts/review/workflow.test.ts",
	deploy: "tests/scripts/hosting/deploy.test.ts",
	put: "tests/scripts/service/serve.test.ts",
	refresh: "tests/scripts/refresh/refresh.test.ts",
	start: "tests/scripts/service/ending.test.ts",
};

/** Settings that nothing could start with: help needs none. */
const wrong = { PORT: "none", SENDERS: "none" };

const apart = [...files].filter(([name]) => !(name in elsewhere)).map(([, file]) => file);

/** What commands print when they are started with --help as their npm scripts do, by file: in one process for all. */
async function startAll(): Promise<Record<string, Ended>> {
	const options = { cwd: root, env: cleanEnvironment(wrong) };
	const words = ["tests/scripts/terminal/helps.cjs", ...apart];
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

	test(`${callOf(name)} refuses where npm has kept one of its options`, async () => {
		const { stdout } = await runScript(file, ["--help"]);
		const options = [...stdout.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)([^\n]*?)(?: {2,}|$)/gm)];
		for (const [, option = "", value = ""] of options) {
			if (option === "help" || option === "version") continue;
			const variable = `npm_config_${option.replaceAll("-", "_")}`;
			const ended = await runScript(file, ["--hepl"], { [variable]: "true" });
			assert.is(ended.code, 2);
			assert.is(
				ended.stderr,
				`npm keeps options that are not behind a -- for itself; write ${callOf(name)} -- … --${option}${value}\n`,
			);
			const isOff = await runScript(file, ["--hepl"], { [variable]: "" });
			assert.match(isOff.stderr, /^error: unknown option '--hepl'/, "a setting of npm's own that is false");
		}
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

test("what npm keeps of a subcommand's options is refused, too, and what the command got is not", async () => {
	const { path, remove } = await temporaryFolder();
	const sender = (words: string[], env: Record<string, string>) =>
		runScript("sender", words, { DATA_DIR: path, ...env });
	const kept = await sender(["add", "one"], { npm_config_review: "true", npm_config_all_layers: "true" });
	assert.is(kept.code, 2);
	assert.match(kept.stderr, / write npm run sender -- add … --all-layers --review\n$/);
	assert.equal(await readdir(path), [], "nothing was stored");
	const both = { npm_config_all_layers: "true", npm_config_keep: "7d" };
	const got = await sender(["add", "one", "--all-layers"], both);
	assert.is(got.code, 0, got.stderr);
	const before = await readFile(join(path, "senders.json"), "utf8");
	const negated = await sender(["change", "one"], { npm_config_review: "" });
	assert.is(negated.code, 2);
	assert.match(negated.stderr, / write npm run sender -- change … --no-review\n$/);
	assert.is(await readFile(join(path, "senders.json"), "utf8"), before);
	await remove();
});

test("npm itself keeps the option of a command without --, which then writes nothing", async () => {
	const { path, remove } = await temporaryFolder();
	const [dump, dataDir] = [join(path, "dump.json"), join(path, "data")];
	await writeFile(dump, JSON.stringify({ docs: [] }));
	await writeFile(join(path, "layer.json"), "{}");
	for (const [words, right] of [
		[["import", dump, "--dry-run"], "npm run import -- … --dry-run"],
		[["register", path, "--review"], "npm run register -- … --review"],
		[["import", dump, "--sender=me"], "npm run import -- … --sender <id>"],
	] as const) {
		const options = { cwd: root, env: cleanEnvironment({ DATA_DIR: dataDir }) };
		const ended = await promisify(execFile)("npm", ["run", ...words], options).catch((error) => error);
		assert.is(ended.code, 2, ended.stdout);
		assert.match(ended.stderr, `npm keeps options that are not behind a -- for itself; write ${right}\n`);
		assert.is(existsSync(dataDir), false, "nothing was stored");
	}
	await remove();
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
