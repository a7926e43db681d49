// Runs test files one after another in this process: the runner sends the path of each, and gets its results.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import "tsx";

const { results } = await import(pathToFileURL(resolve("tests/helpers/suite.ts")).href);
const environment = { ...process.env };
const folder = process.cwd();

const note = (/** @type {unknown} */ error) => results.failures.push({ name: "(outside of a test)", error });
process.on("uncaughtException", note);
process.on("unhandledRejection", note);

async function runFile(/** @type {string} */ file) {
	await import(pathToFileURL(resolve(file)).href).catch(note);
	if (results.waiting.size + results.suites.length === 0 && results.failures.length === 0)
		note(new Error("the file has no test"));
	if (results.waiting.size > 0) note(new Error("the file has tests that it does not run: .run() is missing"));
	for (const tests of results.waiting) tests.length = 0;
	results.waiting.clear();
	for (const suite of results.suites) await suite();
	// For an error that a test has left behind.
	await new Promise(setImmediate);
	// What a test has changed for this process ends with its file.
	for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
	Object.assign(process.env, environment);
	process.chdir(folder);
	const { passed, failures, skipped, rows } = results;
	const texts = failures.map((/** @type {{ name: string, error: any }} */ { name, error }) =>
		[`✘ ${name}`, error?.details ?? "", inspect(error)].join("\n"),
	);
	// Here, so that an error between two files fails the second one.
	Object.assign(results, { suites: [], passed: 0, failures: [], skipped: [], rows: [] });
	process.send?.({ passed, failures: texts, skipped, rows });
}

process.on("message", (file) => void runFile(String(file)));
// The runner is gone: its workers and their children end, too.
process.on("disconnect", () => process.kill(-process.pid, "SIGKILL"));
process.send?.("ready");
