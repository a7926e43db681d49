import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserPlaces } from "../../prove/browser.ts";
import { temporaryFolder } from "../local.ts";
import { root } from "../process.ts";

/** Runs .ci/run on a machine that has none of the packages, where apt knows all or only the most common ones; the last line of apt-get. */
async function installed(knowsAll: boolean): Promise<string[]> {
	const { path, remove } = await temporaryFolder();
	try {
		const bin = join(path, "bin");
		await mkdir(bin);
		await cp(join(root, ".ci/run"), join(path, ".ci/run"));
		const commands = {
			"dpkg-query": "exit 1",
			"apt-cache": `exit ${knowsAll ? 0 : 100}`,
			"apt-get": `echo "$*" >> ${path}/apt`,
			sudo: 'exec "$@"',
			npm: `echo "$*" >> ${path}/npm`,
		};
		for (const [name, line] of Object.entries(commands)) {
			await writeFile(join(bin, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
		}
		const env = { PATH: `${bin}:${process.env.PATH}` };
		await promisify(execFile)(join(path, ".ci/run"), [], { env });
		const npm = await readFile(join(path, "npm"), "utf8");
		assert.match(npm, /^ci$/m);
		assert.match(npm, /ci --prefix \S+\n(?:ci\n)?run lint\ntest\n$/);
		const [update, install] = (await readFile(join(path, "apt"), "utf8")).split("\n");
		assert.is(update, "update -q");
		return install?.split(" ").filter((word) => word !== "install" && !word.startsWith("-")) ?? [];
	} finally {
		await remove();
	}
}

test("CI installs a browser only where none is, and brotli only where the distribution has it", async () => {
	const wanted = ["nginx", "openssl", "curl", "prometheus", "python3-owslib"];
	const isThere = browserPlaces.some((path) => existsSync(path));
	const all = [...wanted, "libnginx-mod-http-brotli-static", "chromium-headless-shell"];
	assert.equal(await installed(false), isThere ? wanted : [...wanted, "chromium"]);
	assert.equal(await installed(true), isThere ? all.slice(0, -1) : all);
});

test.run();
