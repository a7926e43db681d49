// node tests/run/run.mjs [--all] [GROUP | FILE…]: runs tests in at most four processes, and prints `N passed, N failed`.
// Without a word the files `*.test.ts`, each of which a contributor runs; with --all the groups: files such as `*.faults.ts`.
import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { availableParallelism, constants, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import glob from "fast-glob";
import { writePages } from "./pages.mjs";
import { parentFolder } from "./parent-folder.mjs";
import { finish } from "./results.mjs";

const groups = ["engines", "browsers", "viewers", "faults", "workflows", "fuzz", "installed"];
const words = process.argv.slice(2).filter((word) => word !== "--all");
const isAll = process.argv.includes("--all");
const named = words.filter((word) => groups.includes(word));
const files = words.filter((word) => !groups.includes(word));
// `installed` changes the machine's packages, so it runs only where it is named.
const chosen = named.length > 0 ? named : isAll && files.length === 0 ? groups.slice(0, -1) : [];
const patterns = files.length + chosen.length === 0 ? ["tests/**/*.test.ts"] : files;
/** @type {Set<string>} */
const names = new Set();
for (const pattern of [...patterns, ...chosen.map((group) => `tests/**/*.${group}.ts`)]) {
	const matches = await glob(pattern);
	if (matches.length === 0) {
		console.error(`${pattern}: there is no such test file, and no such group: ${groups.join(" ")}`);
		process.exit(2);
	}
	for (const name of matches) names.add(name);
}
/** Longest that one file may take. TEST_LIMIT_MS: for mutants. */
const defaultMs = chosen.includes("installed") ? 3_600_000 : chosen.length > 0 ? 1_200_000 : 300_000;
const timeoutMs = Number(process.env.TEST_LIMIT_MS ?? defaultMs);
const processes = chosen.includes("installed") ? 1 : Math.min(3, availableParallelism() + 1);

const folder = mkdtempSync(join(parentFolder(), "test-"));
// Keeps the cache of tsx, which takes seconds to rebuild.
const cache = `tsx-${process.geteuid?.() ?? userInfo().username}`;
mkdirSync(join(tmpdir(), cache), { recursive: true });
symlinkSync(join(tmpdir(), cache), join(folder, cache), "junction");

/** @type {Set<import("node:child_process").ChildProcess>} */
const workers = new Set();
const sums = { passed: 0, failed: 0, /** @type {Set<string>} */ skipped: new Set() };
/** @type {string[]} */
const failed = [];
/** @type {unknown[]} */
const rows = [];

/** Ends a worker with all processes that it has started. */
function end(/** @type {import("node:child_process").ChildProcess} */ worker) {
	try {
		process.kill(-(/** @type {number} */ (worker.pid)), "SIGKILL");
	} catch {
		// It has ended.
	}
	workers.delete(worker);
}

process.on("exit", () => {
	for (const worker of workers) end(worker);
	rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of /** @type {const} */ (["SIGHUP", "SIGINT", "SIGTERM"]))
	process.once(signal, () => process.exit(128 + constants.signals[signal]));

function report(/** @type {string} */ file, /** @type {any} */ result, /** @type {number} */ since) {
	const { passed = 0, failures = [], skipped = [] } = result;
	const seconds = `${((performance.now() - since) / 1000).toFixed(1)} s`;
	sums.passed += passed;
	sums.failed += failures.length;
	rows.push(...(result.rows ?? []));
	for (const reason of skipped) sums.skipped.add(reason);
	if (failures.length > 0) failed.push(file);
	console.log([`${file}: ${passed} passed, ${failures.length} failed, ${seconds}`, ...failures].join("\n"));
}

/** Starts a worker, which takes files until none is left. @returns when it has ended */
function work(/** @type {string[]} */ queue) {
	const script = fileURLToPath(new URL("worker.mjs", import.meta.url));
	const env = { ...process.env, TMPDIR: folder };
	const worker = fork(script, { env, detached: true, stdio: ["ignore", "pipe", "pipe", "ipc"] });
	workers.add(worker);
	/** @type {string | undefined} */
	let file;
	let [output, since] = ["", 0];
	/** @type {NodeJS.Timeout | undefined} */
	let timer;
	let why = "it ended early";
	for (const stream of [worker.stdout, worker.stderr]) stream?.on("data", (text) => (output += text));
	worker.on("message", (/** @type {any} */ result) => {
		clearTimeout(timer);
		if (file !== undefined) report(file, result, since);
		if (result.failures?.length > 0) console.log(output);
		file = queue.shift();
		[output, since] = ["", performance.now()];
		if (file === undefined) return end(worker);
		timer = setTimeout(() => {
			why = `it did not end in ${timeoutMs / 1000} s, and was ended`;
			end(worker);
		}, timeoutMs);
		worker.send(file);
	});
	return new Promise((resolve) => {
		worker.on("exit", () => {
			clearTimeout(timer);
			end(worker);
			if (file === undefined) return resolve(null);
			report(file, { failures: [`${output}\n${why}`] }, since);
			resolve(work(queue));
		});
	});
}

// The slowest groups are first, so that none of their files runs alone at the end.
const isSlow = (/** @type {string} */ name) => /\.(?:faults|workflows)\.ts$/.test(name);
const sorted = [...names].sort();
const queue = [...sorted.filter(isSlow), ...sorted.filter((name) => !isSlow(name))];
await Promise.all(Array.from({ length: Math.min(processes, queue.length) }, () => work(queue)));
const isWhole = sums.failed + sums.skipped.size === 0 && files.length === 0;
for (const page of isWhole ? writePages(chosen, rows, sums.passed) : [])
	console.log(`${page} is written: commit it`);
for (const reason of sums.skipped) console.log(`left out: ${reason}`);
if (failed.length > 0) console.log(["Failed:", ...failed.sort()].join("\n  "));
finish(sums.passed, sums.failed);
