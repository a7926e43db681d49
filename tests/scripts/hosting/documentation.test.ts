import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { differences } from "../../conformance/differences.ts";
import { root } from "../../process.ts";

const test = suite("the hosting page");

test("its table names the differences that the conformance suite knows, and no others", async () => {
	const page = await readFile(join(root, "docs/hosting.md"), "utf8");
	const [, section = ""] = /## Known differences\n([\s\S]*?)\n## /.exec(page) ?? [];
	const rows = [...section.matchAll(/^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$/gm)].slice(1);
	const table = Object.fromEntries(rows.map(([, name, where]) => [name, (where as string).split(", ")]));
	assert.equal(table, differences);
});

test("each path of the project that the deployment files name is there", async () => {
	const dockerfile = await readFile(join(root, "deploy/Dockerfile"), "utf8");
	const [unit, follow] = await Promise.all(
		["fragments", "fragments-follow"].map((name) => readFile(join(root, `deploy/${name}.service`), "utf8")),
	);
	const copied = [...dockerfile.matchAll(/^COPY (\S.*) \S+$/gm)].flatMap(([, names]) =>
		(names as string).split(" "),
	);
	const scripts = [...`${dockerfile}${unit}${follow}`.matchAll(/scripts\/[a-z-]+\.ts/g)].map(
		([name]) => name,
	);
	assert.ok(copied.length > 5 && scripts.length >= 4);
	for (const path of [...copied, ...scripts]) {
		await stat(join(root, path));
	}
});

test("both units keep the service from the same of the machine", async () => {
	const [unit, follow] = await Promise.all(
		["fragments", "fragments-follow"].map((name) => readFile(join(root, `deploy/${name}.service`), "utf8")),
	);
	const hardening = (text = "") => text.slice(text.indexOf("# Nothing else of the machine."));
	assert.ok(hardening(unit).length > 500);
	assert.is(hardening(follow), hardening(unit));
});

test.run();
