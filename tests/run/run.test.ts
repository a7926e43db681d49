import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { cleanEnvironment, type Ended, root, runTests, testWords } from "../process.ts";
import { eventually } from "../wait.ts";
import { folderSuite } from "../world.ts";

const test = folderSuite("npm test");

const uvu = JSON.stringify(pathToFileURL(join(root, "node_modules/uvu/dist/index.mjs")).href);
const head = `import { test } from ${uvu};\n`;

/** Whether a process runs; one that ended, and that its parent has not waited for yet, does not. */
function isRunning(pid: number): boolean {
	try {
		return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
	} catch {
		return false;
	}
}

/** Runs test files of these texts. */
async function runFiles(folder: string, texts: Record<string, string>, ...words: string[]): Promise<Ended> {
	const names = Object.keys(texts).map((name) => join(folder, `${name}.test.mjs`));
	await Promise.all(Object.values(texts).map((text, index) => writeFile(names[index] as string, text)));
	return runTests([...names, ...words]);
}

const good = `${head}test("a", () => {});\ntest("b", () => {});\ntest.run();\n`;

test("the run prints what passed in each file, with its time, and ends with the sums", async ({ folder }) => {
	const { code, stdout } = await runFiles(folder, { good });
	assert.is(code, 0);
	assert.match(
		stdout,
		/good\.test\.mjs: 2 passed, \d+\.\d s \(\d+\.\d s of processor\)\n2 passed, 0 failed\n$/,
	);
});

test("files that failed in a test, before one or without any are listed at the end", async ({ folder }) => {
	const texts = {
		good,
		fails: `${head}test("a", () => { throw new Error("no"); });\ntest("b", () => {});\ntest.run();\n`,
		breaks: "throw new Error('at once');\n",
		forgets: `${head}test("a", () => { throw new Error("never seen"); });\n`,
	};
	const { code, stdout } = await runFiles(folder, texts);
	assert.is(code, 1);
	const failed = ["breaks", "fails", "forgets"].map((name) => {
		return `  ${relative(process.cwd(), join(folder, `${name}.test.mjs`))}\n`;
	});
	assert.ok(stdout.endsWith(`\nFailed:\n${failed.join("")}3 passed, 3 failed\n`), stdout);
	assert.match(stdout, /forgets\.test\.mjs: FAILED after [^:]+: it ran no test/);
	assert.match(stdout, "at once");
});

test("skipped tests are counted, and their reason is printed", async ({ folder }) => {
	const skips = `${head}console.log("skipped: no browser");\ntest.skip("a", () => {});\ntest.run();\n`;
	const { code, stdout } = await runFiles(folder, { skips });
	assert.is(code, 0);
	assert.match(stdout, /1 skipped, .*\n {2}skipped: no browser\n1 skipped\n0 passed, 0 failed\n$/);
});

test("a file that is not there is named in one line, and nothing is run", async () => {
	const ended = await runTests(["tests/run/run.test.ts", "tests/no/such.test.ts"]);
	assert.equal(ended, { code: 1, stdout: "", stderr: "No such test file: tests/no/such.test.ts\n" });
});

test("a file that does not end is ended, and fails", async ({ folder }) => {
	const hangs = `${head}test("a", () => new Promise((r) => setInterval(() => {}, 1000)));\ntest.run();\n`;
	const { code, stdout } = await runFiles(folder, { hangs }, "--timeout", "1500");
	assert.is(code, 1);
	assert.match(stdout, /FAILED after \d+\.\d s: test timed out after 1500ms/);
	assert.match(stdout, /0 passed, 1 failed\n$/);
});

test("a file whose failed test leaves a server open ends by itself, with its sums", async ({ folder }) => {
	const leaves = `import { createServer } from "node:http";
${head}test("a", () => {});
test("b", () => { createServer().listen(0, "127.0.0.1"); throw new Error("no"); });
test.run();
`;
	const { code, stdout } = await runFiles(folder, { leaves });
	assert.is(code, 1);
	assert.ok(stdout.endsWith("1 passed, 1 failed\n"), stdout);
});

test("processes and temporary files that a failed file leaves are removed", async ({ folder }) => {
	const left = join(folder, "left");
	const leaves = `${head}
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
test("a", () => {
	const path = mkdtempSync(join(tmpdir(), "left-"));
	const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "inherit" });
	child.unref();
	writeFileSync(${JSON.stringify(left)}, JSON.stringify({ path, pid: child.pid }));
	throw new Error("before anything is removed");
});
test.run();
`;
	const { code } = await runFiles(folder, { leaves });
	assert.is(code, 1);
	const { path, pid } = JSON.parse(await readFile(left, "utf8")) as { path: string; pid: number };
	assert.not.ok(existsSync(path));
	await eventually(() => !isRunning(pid));
});

test("a suite that has not ended is a failure, whatever the file's exit code is", async ({ folder }) => {
	const exits = `${head}test("a", () => {});\ntest.run();\nprocess.exit(0);\n`;
	const prints = `console.log("  Total:     5\\n  Passed:    5\\n  Skipped:   0");\n`;
	const { code, stdout } = await runFiles(folder, { exits, prints });
	assert.is(code, 1);
	assert.match(stdout, /\n0 passed, 2 failed\n$/);
});

/** Runs three test files on one processor, each of which waits in its test. @returns the largest number of them at once */
async function filesAtOnce(folder: string, waits: string, ...words: string[]): Promise<number> {
	const log = join(folder, "log");
	const notes = `${head}import { appendFileSync, readFileSync } from "node:fs";
const note = (word) => appendFileSync(${JSON.stringify(log)}, word);
note("start ");
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const started = () => readFileSync(${JSON.stringify(log)}, "utf8").split("start").length - 1;
test("a", async () => { ${waits} });
test.after(() => note("end "));
test.run();
`;
	const names = ["a", "b", "c"].map((name) => join(folder, `${name}.test.mjs`));
	for (const name of names) await writeFile(name, notes);
	// util-linux: one processor of those that this process may use.
	const { stdout } = await promisify(execFile)("taskset", ["-cp", String(process.pid)]);
	const [processor = "0"] = /\d+(?=\D*$)/.exec(stdout) ?? [];
	await promisify(execFile)(
		"taskset",
		["-c", processor, process.execPath, ...testWords([...names, ...words])],
		{
			cwd: root,
			env: cleanEnvironment({}),
		},
	);
	let [now, most] = [0, 0];
	for (const word of readFileSync(log, "utf8").trim().split(" ")) {
		now += word === "start" ? 1 : -1;
		most = Math.max(most, now);
	}
	return most;
}

test("it starts no more files at once than there are processors", async ({ folder }) => {
	assert.is(await filesAtOnce(folder, "await sleep(200);"), 1);
});

test("it starts two files at once on each processor if it is asked to", async ({ folder }) => {
	const untilTwo = "while (started() < 2) await sleep(20);";
	assert.is(await filesAtOnce(folder, untilTwo, "--per-processor", "2"), 2);
});

for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const) {
	test(`ended by ${signal}, it leaves no process and no folder, even of a busy file`, async ({ folder }) => {
		const [file, note] = [join(folder, "busy.test.ts"), join(folder, "note")];
		await writeFile(
			file,
			`import { execFile, spawn } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
const folders = [tmpdir(), process.env.TEST_RESULTS, dirname(process.env.COMPILED_START as string)];
writeFileSync(${JSON.stringify(`${note}.part`)}, JSON.stringify({ pids: [process.pid, child.pid], folders }));
renameSync(${JSON.stringify(`${note}.part`)}, ${JSON.stringify(note)});
for (;;);
`,
		);
		const words = testWords([file]);
		const runner = spawn(process.execPath, words, { cwd: root, env: cleanEnvironment({}), stdio: "ignore" });
		await eventually(() => existsSync(note));
		const { pids, folders } = JSON.parse(readFileSync(note, "utf8")) as { pids: number[]; folders: string[] };
		assert.ok(pids.every(isRunning) && folders.every((path) => existsSync(path)));
		runner.kill(signal);
		await eventually(() => !pids.some(isRunning) && !folders.some((path) => existsSync(path)));
	});
}

test.run();
