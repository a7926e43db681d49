import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { defaultTimes } from "../../../api/node/exchange.ts";
import { defaultLimits } from "../../../store/git/base.ts";
import { differences } from "../../conformance/differences.ts";
import { root } from "../../helpers/process.ts";
import { suite } from "../../helpers/suite.ts";

const test = suite("the hosting page");

test("the page names the differences that the conformance suite knows, and no others", async () => {
	const page = await readFile(join(root, "docs/hosting.md"), "utf8");
	const [, section = ""] = /## Known differences\n([\s\S]*?)\n## /.exec(page) ?? [];
	const rows = [...section.matchAll(/^- \*\*\\?([^:]+)\*\* \(([^)]+)\): .+$/gm)];
	const named = rows.map(([, name, where = ""]) => [name, where.split(", ")]);
	assert.equal(Object.fromEntries(named), differences);
});

test("each path of the project that the deployment files name is there", async () => {
	const texts = await Promise.all(
		["Dockerfile", "fragments.service", "fragments-follow.service"].map((name) =>
			readFile(join(root, "deploy", name), "utf8"),
		),
	);
	for (const text of texts) {
		const paths = text.match(/\b(?:scripts|docs|tests|store|api)\/[\w/-]+\.[a-z.]+\b/g) ?? [];
		assert.ok(paths.length > 1, text.slice(0, 80));
		for (const path of paths) await stat(join(root, path));
	}
});

test("both units deny the service the same parts of the machine", async () => {
	const [unit, follow] = await Promise.all(
		["fragments", "fragments-follow"].map((name) => readFile(join(root, `deploy/${name}.service`), "utf8")),
	);
	const hardening = (text = "") => text.slice(text.indexOf("# No access to the rest of the machine."));
	assert.ok(hardening(unit).length > 500);
	assert.is(hardening(follow), hardening(unit));
});

test("both units give the service the same time to end", async () => {
	const [unit, follow] = await Promise.all(
		["fragments", "fragments-follow"].map(async (name) => {
			const text = await readFile(join(root, `deploy/${name}.service`), "utf8");
			return /^TimeoutStopSec=(\d+)$/m.exec(text)?.[1];
		}),
	);
	assert.ok(unit);
	assert.is(follow, unit);
});

test("npm start, systemd and Docker start the service with the same options of Node", async () => {
	const [settings, unit, image] = await Promise.all(
		["package.json", "deploy/fragments.service", "deploy/Dockerfile"].map((file) =>
			readFile(join(root, file), "utf8"),
		),
	);
	const npm = JSON.parse(settings as string).scripts.start as string;
	const systemd = /^ExecStart=\/usr\/bin\/(.*)$/m.exec(unit as string)?.[1];
	const docker = JSON.parse(/^CMD (.*)$/m.exec(image as string)?.[1] as string) as string[];
	assert.match(npm, /^node scripts\/fragments\.cjs serve$/);
	assert.is(systemd, npm);
	assert.is(docker.join(" "), npm);
});

test("neither systemd nor Docker cuts off a service that still stores what it accepted", async () => {
	const unit = await readFile(join(root, "deploy/fragments.service"), "utf8");
	const page = await readFile(join(root, "docs/one-machine.md"), "utf8");
	const { headTimeoutMs, bodyTimeoutMs } = defaultTimes;
	const longestMs = headTimeoutMs + bodyTimeoutMs + defaultLimits.closeMs;
	for (const granted of [/^TimeoutStopSec=(\d+)$/m.exec(unit), /--stop-timeout (\d+) /.exec(page)]) {
		assert.ok(
			Number(granted?.[1]) * 1000 > longestMs + 10_000,
			`${granted?.[0]} is not above ${longestMs} ms`,
		);
	}
});

test.run();
