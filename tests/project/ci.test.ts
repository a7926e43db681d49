import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { browserPlaces } from "../../scripts/host/prove/browser.ts";
import { root } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { temporaryFolder } from "../helpers/world.ts";

/** Runs .ci/run on a machine that has none of the packages, where apt knows all or only the most common ones; its exit code. */
async function runCi(path: string, knowsAll: boolean, tests = "exit 0"): Promise<number> {
	const bin = join(path, "bin");
	await mkdir(bin);
	await cp(join(root, ".ci/run"), join(path, ".ci/run"));
	const commands = {
		"dpkg-query": "exit 1",
		"apt-cache": `exit ${knowsAll ? 0 : 100}`,
		"apt-get": `echo "$*" >> ${path}/apt`,
		sudo: 'exec "$@"',
		npm: `echo "$*" >> ${path}/npm\n[ "$1" != test ] || { ${tests}; }`,
	};
	for (const [name, line] of Object.entries(commands)) {
		await writeFile(join(bin, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
	}
	const env = { PATH: `${bin}:${process.env.PATH}` };
	const run = promisify(execFile)(join(path, ".ci/run"), [], { env });
	return run.then(
		() => 0,
		({ code }: { code: number }) => code,
	);
}

/** The packages that it installs there. */
async function installed(knowsAll: boolean): Promise<string[]> {
	await using folder = await temporaryFolder();
	const { path } = folder;
	assert.is(await runCi(path, knowsAll), 0);
	const npm = await readFile(join(path, "npm"), "utf8");
	assert.match(npm, /^ci$/m);
	assert.match(npm, /ci --prefix \S+\n(?:ci\n)?run lint\nrun types\ntest -- --long --per-processor 2\n$/);
	const [update, install] = (await readFile(join(path, "apt"), "utf8")).split("\n");
	assert.is(update, "update -q");
	return install?.split(" ").filter((word) => word !== "install" && !word.startsWith("-")) ?? [];
}

test("CI installs a browser only where none is, and brotli only where the distribution has it", async () => {
	const wanted = ["nginx", "openssl", "curl", "jq", "prometheus", "python3-owslib"];
	const isThere = browserPlaces.some((path) => existsSync(path));
	const all = [...wanted, "libnginx-mod-http-brotli-static", "chromium-headless-shell"];
	assert.equal(await installed(false), isThere ? wanted : [...wanted, "chromium"]);
	assert.equal(await installed(true), isThere ? all.slice(0, -1) : all);
});

test("CI fails if the tests fail", async () => {
	const { path, remove } = await temporaryFolder();
	assert.is(await runCi(path, true, "exit 1"), 1);
	await remove();
});

test.run();
