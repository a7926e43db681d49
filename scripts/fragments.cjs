#!/usr/bin/env node
// Starts main.ts, or prints in one line why it cannot. Without `node:` imports, so that old versions of Node
// print that line.
const { engines } = require("../package.json");

const least = engines.node.replace(">=", "");

if (process.versions.node.localeCompare(least, undefined, { numeric: true }) < 0) {
	console.error(`Node ${least} or newer is needed, and this is ${process.versions.node}: https://nodejs.org`);
	process.exit(2);
}

// npm starts a shell, which does not forward a signal that ends it.
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
	.then(() => import("./main.ts"))
	.then(({ main }) => main())
	.catch((error) => {
		const missing = /^Cannot find package '([^']+)'/.exec(error.message);
		console.error(missing ? `The package ${missing[1]} is missing: run npm ci first` : error);
		process.exitCode = 2;
	});
