#!/usr/bin/env node
// npx fragments COMMAND [WORD…]: starts fragments.ts, or says in one line why it cannot. It is plain JavaScript without
// `node:` in its imports, so that old versions get to that line.
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

import("tsx")
	.then(() => import("./fragments.ts"))
	.then(({ main }) => main())
	.catch((error) => {
		const missing = /^Cannot find package '([^']+)'/.exec(error.message);
		console.error(missing ? `The package ${missing[1]} is missing: run npm ci first` : error);
		process.exitCode = 2;
	});
