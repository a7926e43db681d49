import { execFileSync } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { exits, root, runScript } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { commandsOf, text } from "./production-page.ts";

test("every command that the page names exists, and knows its options", async () => {
	const commands = await commandsOf("docs/production.md");
	const scripts = commands.flatMap((command) => {
		const match = /npx fragment-publisher ([a-z-]+)(?: (.*))?/.exec(command);
		return match ? [{ name: match[1] as string, words: (match[2] ?? "").split(" -- ")[0] as string }] : [];
	});
	assert.ok(scripts.length > 8, `${scripts.length} commands`);
	for (const { name, words } of scripts) {
		// `sender` has commands of its own.
		const sub = name === "sender" ? [words.split(" ")[0] as string] : [];
		const { stdout } = await exits(runScript(name, [...sub, "--help"]), 0);
		for (const [option] of words.matchAll(/--[a-z-]+/g)) assert.match(stdout, option, name);
	}
});

test("the page names all secrets that the workflows read, each in the environment of its jobs", async () => {
	const page = await text("docs/production.md");
	for (const [environment, names] of [
		["review", ["WORKFLOW_APP_PRIVATE_KEY"]],
		["production", ["CLOUDFLARE_API_TOKEN", "OBJECTS_ACCESS_KEY_ID", "OBJECTS_SECRET_ACCESS_KEY"]],
	] as const) {
		for (const name of names) assert.match(page, `gh secret set ${name} --env ${environment} --repo`);
	}
});

test("the files that the page names are there", async () => {
	const page = await text("docs/production.md");
	const links = [...page.matchAll(/\]\(([a-z-]+\.md)(?:#[\w-]+)?\)/g)].map(([, name]) => `docs/${name}`);
	assert.ok(links.length >= 2);
	for (const path of [...links, "docs/example-layer.json", "wrangler.jsonc", "deploy/workers/objects.jsonc"])
		await stat(join(root, path));
});

test("the files of secrets that the page names are ignored by git", async () => {
	const page = await text("docs/production.md");
	const files = [...page.matchAll(/ < (\S+)$|[A-Z_]+=(\S+\.(?:json|pem))/gm)].map(([, a, b]) => a ?? b ?? "");
	assert.ok(files.includes("token") && files.includes("maps-service.private-key.pem"), files.join());
	for (const file of files) execFileSync("git", ["check-ignore", "--quiet", file], { cwd: root });
});

test("with a domain of one's own, the settings of Wrangler have each name once", async () => {
	const page = await text("docs/production.md");
	const [, before = "", after = ""] =
		/replace `([^`]+)` in[^`]+`wrangler[\s\S]*?by\n`([^`]+)`/.exec(page) ?? [];
	for (const file of ["wrangler.jsonc", "deploy/workers/objects.jsonc"]) {
		const config = await text(file);
		assert.match(config, before);
		assert.is(config.replace(before, after).match(/"workers_dev"/g)?.length, 1, file);
	}
});

test("a bucket's name is in no workflow and no configuration that is deployed", async () => {
	const config = await text("deploy/workers/objects.jsonc");
	assert.match(config, "This name is for this machine only");
	assert.not.match(await text(".github/workflows/publish.yml"), "OBJECTS_BUCKET");
});

test.run();
