// What the deployment files say of paths holds for every target of the table, so that a new one needs no change there.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "jsonc-parser";
import * as assert from "uvu/assert";
import { targetPath, targets } from "../../../registry/targets/table.ts";
import { root } from "../../helpers/process.ts";
import { test } from "../../helpers/suite.ts";

test("the worker is asked first for several layers of every target", async () => {
	const { assets } = parse(await readFile(join(root, "wrangler.jsonc"), "utf8"));
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

test("nginx serves one layer of every target from its file, and nothing else of it", async () => {
	const text = await readFile(join(root, "deploy/nginx.conf"), "utf8");
	const pattern = /"~(.+)" \$fragment;/.exec(text)?.[1] as string;
	const fileOf = (path: string) => new RegExp(pattern).exec(`GET ${path}`)?.groups?.fragment;
	for (const { name, docs, doc } of targets) {
		const path = `/${targetPath(name, "fr", "a+b=c")}`;
		assert.is(fileOf(path), path);
		assert.is(fileOf(`${path}?x=1`), path);
		assert.is(fileOf(`${path}?callback=f`), undefined);
		if (docs !== doc) assert.is(fileOf(`/${docs}/fr/a`), undefined, docs);
		assert.is(fileOf(`/${docs}/fr/a,b`), undefined);
	}
});

test.run();
