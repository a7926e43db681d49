// npm run test:nodes [-- FILE… --nodes VERSION…]: the tests on other versions of Node, fetched from the npm registry
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: { nodes: { type: "string", multiple: true, default: [] } },
});
const isVersion = (/** @type {string} */ word) => /^[\d.]+$/.test(word);
const named = [...values.nodes, ...positionals.filter(isVersion)];
const files = positionals.filter((word) => !isVersion(word));

/** Versions that must pass all tests, and one that must be refused, in one line. */
const supported = ["22", "24"];
const tooOld = "18";

/**
 * Runs a program to its end, and prints its output, too.
 * @param {string} command
 * @param {string[]} args
 * @returns {Promise<{ code: number | null, stderr: string }>}
 */
function runProgram(command, args, env = process.env) {
	return new Promise((resolve, reject) => {
		const child = spawn(command, args, { env, stdio: ["ignore", "inherit", "pipe"] });
		let stderr = "";
		child.stderr.on("data", (data) => {
			stderr += data;
			process.stderr.write(data);
		});
		child.on("error", reject);
		child.on("close", (code) => resolve({ code, stderr }));
	});
}

const folder = await mkdtemp(join(tmpdir(), "nodes-"));

/**
 * Installs a Node from the package of this platform: the package `node` needs an install script, and scripts of packages
 * are not run here.
 * @returns path of the program
 */
async function fetchNode(/** @type {string} */ version) {
	const name = `node-${process.platform}-${process.arch}`;
	const prefix = join(folder, version);
	const args = ["install", "--prefix", prefix, "--no-audit", "--no-fund", `${name}@${version}`];
	const { code } = await runProgram("npm", args);
	if (code !== 0) throw new Error(`npm install ${name}@${version}: ended with ${code}`);
	return join(prefix, "node_modules", name, "bin", "node");
}

async function passes(/** @type {string} */ version) {
	console.log(`\nNode ${version}`);
	const node = await fetchNode(version);
	// First in PATH, for npm and for the processes of tests.
	const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
	return (await runProgram("npm", ["test", "--", ...files], env)).code === 0;
}

async function isRefused(/** @type {string} */ version) {
	console.log(`\nNode ${version}, which has to be refused`);
	const { code, stderr } = await runProgram(await fetchNode(version), ["scripts/fragments.cjs", "--help"]);
	return code === 2 && /^Node [\d.]+ or newer is needed, and this is [\d.]+: \S+\n$/.test(stderr);
}

/** @type {string[]} */
const failed = [];
try {
	for (const version of named.length > 0 ? named : supported)
		if (!(await passes(version))) failed.push(version);
	if (!(await isRefused(tooOld))) failed.push(tooOld);
} finally {
	await rm(folder, { recursive: true, force: true });
}
console.log(failed.length > 0 ? `\nFailed on Node ${failed.join(", ")}` : "\nPassed on every Node");
process.exitCode = failed.length > 0 ? 1 : 0;
