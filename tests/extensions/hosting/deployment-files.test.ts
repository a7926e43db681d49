// What deploy/ and wrangler.jsonc say of paths and times is what the service does.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parse } from "jsonc-parser";
import * as assert from "uvu/assert";
import { defaultTimes } from "../../../api/node/serve.ts";
import { bundle } from "../../../extensions/hosting/commands/deploy.ts";
import { targetPath, targets } from "../../../registry/targets/table.ts";
import { defaultLimits } from "../../../store/git/base.ts";
import { root } from "../../helpers/process.ts";
import { test } from "../../helpers/suite.ts";

const read = (path: string) => readFile(join(root, path), "utf8");

test("the worker is asked first for several layers of every target", async () => {
	const { assets } = parse(await read("wrangler.jsonc"));
	const patterns = (assets.run_worker_first as string[]).map(
		(pattern) => new RegExp(`^${pattern.replace(/[.+?]/g, "\\$&").replaceAll("*", ".*")}$`),
	);
	const isWorkers = (path: string) => patterns.some((pattern) => pattern.test(path));
	for (const target of targets) {
		for (const { docs } of [target, ...target.aliases]) assert.ok(isWorkers(`/${docs}/en/a,b`), docs);
		if (target.queryDoor) assert.ok(isWorkers(`/${target.queryDoor.path}`), target.queryDoor.path);
		assert.not.ok(isWorkers(`/${targetPath(target.name, "en", "a")}`), "one layer is an asset");
	}
});

test("systemd and Docker start what npm start does, and cut off no write", async () => {
	const start = JSON.parse(await read("package.json")).scripts.start as string;
	const unit = await read("deploy/fragments.service");
	assert.is(/^ExecStart=\/usr\/bin\/(.*)$/m.exec(unit)?.[1], start);
	const [, command = ""] = /^CMD (.*)$/m.exec(await read("deploy/Dockerfile")) ?? [];
	assert.is(JSON.parse(command).join(" "), start);
	const page = await read("docs/one-machine.md");
	const longestMs = defaultTimes.requestTimeoutMs + 2 * defaultLimits.silenceMs;
	const stop = /^TimeoutStopSec=(\d+)$/m;
	for (const granted of [stop.exec(unit), /--stop-timeout (\d+) /.exec(page)])
		assert.ok(Number(granted?.[1]) * 1000 > longestMs + 10_000, `${granted?.[0]}, and ${longestMs} ms`);
});

test("the worker is small, makes no code from text, and imports nothing of Node", async () => {
	for (const [entry, limit] of [
		["api/worker/worker.ts", 100_000],
		["scripts/worker.ts", 150_000],
	] as const) {
		const code = await bundle(entry);
		const { length } = gzipSync(code, { level: 9 });
		assert.ok(length <= limit, `${entry}: ${length} bytes`);
		assert.not.match(code.toString(), /new Function|\beval\(|from\s*"node:|require\("node:/);
	}
});

test.run();
