// node helps.cjs FILE…: starts each command with --help as its npm script does, one after the other, and prints
// { FILE: { code, stdout, stderr } }. Each in a process of its own would load the same modules anew, for a second each.
const { pathToFileURL } = require("node:url");
const runner = require.resolve("../../scripts/run.cjs");
const write = process.stdout.write.bind(process.stdout);

/** What a command prints, and its exit code; null where it was not started. */
async function helpOf(file) {
	const printed = { stdout: "", stderr: "" };
	for (const name of ["stdout", "stderr"]) {
		process[name].write = (text) => {
			printed[name] += text;
			return true;
		};
	}
	process.exitCode = undefined;
	process.argv = [process.execPath, runner, file, "--help"];
	delete require.cache[runner];
	require(runner);
	// The runner has named the script by now, and imports it; its faults are the runner's to tell.
	await import("tsx");
	await import(pathToFileURL(process.argv[1]).href).catch(() => undefined);
	return { code: process.exitCode ?? null, ...printed };
}

(async () => {
	const helps = {};
	// Each command listens for the end of its outputs.
	for (const name of ["stdout", "stderr"]) process[name].setMaxListeners(0);
	for (const file of process.argv.slice(2)) helps[file] = await helpOf(file);
	process.exitCode = 0;
	write(JSON.stringify(helps));
})();
