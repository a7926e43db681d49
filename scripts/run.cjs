// node scripts/run.cjs NAME [WORD…]: runs scripts/NAME.ts, or says in one line that this Node cannot. Every command of
// package.json starts it; it is plain JavaScript without `node:` in its imports, so that old versions get to that line.
// biome-ignore-start lint/style/useNodejsImportProtocol: Node below 14.18 does not know it
const { resolve } = require("path");
const { pathToFileURL } = require("url");
// biome-ignore-end lint/style/useNodejsImportProtocol: as above
const { engines } = require("../package.json");

const numbersOf = (version) => version.split(".").map(Number);
const least = engines.node.replace(">=", "");
const [leastMajor, leastMinor] = numbersOf(least);
const [major, minor] = numbersOf(process.versions.node);

if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
	console.error(`Node ${least} or newer is needed, and this is ${process.versions.node}: https://nodejs.org`);
	process.exit(2);
}

// npm starts a shell, and a shell that is ended by a signal does not pass it on: `exec` would, and is unknown on Windows.
const parent = process.ppid;
const parentLookMs = 500;
if (process.env.npm_lifecycle_event && process.platform !== "win32") {
	const timer = setInterval(() => {
		if (process.ppid === parent) return;
		clearInterval(timer);
		process.kill(process.pid, "SIGTERM");
	}, parentLookMs);
	timer.unref();
}

const name = process.argv[2];
const script = resolve(__dirname, name.includes("/") ? ".." : ".", `${name}.ts`);
// As if node had been told the script itself.
process.argv.splice(1, 2, script);
import("tsx")
	.then(() => import(pathToFileURL(script).href))
	.catch((error) => {
		console.error(error);
		process.exitCode = 2;
	});
