import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { temporaryFolder } from "../local.ts";
import { cleanEnvironment, type Ended, root, runTests, testWords } from "../process.ts";
import { eventually } from "../wait.ts";

const test = suite<{ folder: string; remove: () => Promise<void> }>("npm test");

test.before.each(async (scene) => {
	const { path, remove } = await temporaryFolder();
	scene.folder = path;
	scene.remove = remove;
});
test.after.each(({ remove }) => remove());

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

test("it counts what passed, file by file with its time, and ends with the sums", async ({ folder }) => {
	const { code, stdout } = await runFiles(folder, { good });
	assert.is(code, 0);
	assert.match(stdout, /good\.test\.mjs: 2 passed, \d+\.\d s\n2 passed, 0 failed\n$/);
});

test("it repeats at its end which files failed: by a test, before one, and without any", async ({
	folder,
}) => {
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
	assert.match(stdout, /forgets\.test\.mjs: FAILED after \d+\.\d s: it ran no test/);
	assert.match(stdout, "at once");
});

test("skipped tests are counted, and their reason is printed", async ({ folder }) => {
	const skips = `${head}console.log("skipped: no browser");\ntest.skip("a", () => {});\ntest.run();\n`;
	const { code, stdout } = await runFiles(folder, { skips });
	assert.is(code, 0);
	assert.match(stdout, /1 skipped, .*\n {2}skipped: no browser\n1 skipped\n0 passed, 0 failed\n$/);
});

test("a file that does not end is ended, and fails", async ({ folder }) => {
	const hangs = `${head}test("a", () => new Promise((r) => setInterval(() => {}, 1000)));\ntest.run();\n`;
	const { code, stdout } = await runFiles(folder, { hangs }, "--timeout", "1500");
	assert.is(code, 1);
	assert.match(stdout, /FAILED after \d+\.\d s: test timed out after 1500ms/);
	assert.match(stdout, /0 passed, 1 failed\n$/);
});

test("what a failed file leaves behind is cleared up: processes and temporary files", async ({ folder }) => {
	const left = join(folder, "left");
	const leaves = `${head}
import { spawn } from "node:child_process";
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

test("when it is ended, its test files end with it", async ({ folder }) => {
	const [file, note] = [join(folder, "hangs.test.mjs"), join(folder, "pid")];
	const noting = `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(note)}, String(process.pid));\n`;
	await writeFile(
		file,
		`${head}${noting}test("a", () => new Promise((r) => setInterval(() => {}, 1000)));\ntest.run();\n`,
	);
	const child = spawn(process.execPath, testWords([file]), {
		cwd: root,
		env: cleanEnvironment({}),
		stdio: "ignore",
	});
	await eventually(() => existsSync(note) && readFileSync(note, "utf8") !== "");
	const pid = Number(readFileSync(note, "utf8"));
	child.kill("SIGKILL");
	await eventually(() => !isRunning(pid));
});

test.run();
