import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { root, runScript } from "../process.ts";

const text = async (path: string) => readFile(join(root, path), "utf8");

/** The commands of a page's indented blocks, those over several lines as one. */
async function commandsOf(page: string): Promise<string[]> {
	const blocks = (await text(page)).match(/^ {4}\S.*(?:\n {4,}\S.*)*/gm) ?? [];
	return blocks
		.join("\n")
		.replaceAll(/\\\n\s+/g, "")
		.split("\n");
}

test("every command of the page exists, and knows the options that are said there", async () => {
	const commands = await commandsOf("docs/production.md");
	const scripts = commands.flatMap((command) => {
		const match = /npx fragments ([a-z-]+)(?: (.*))?/.exec(command);
		return match ? [{ name: match[1] as string, words: (match[2] ?? "").split(" -- ")[0] as string }] : [];
	});
	assert.ok(scripts.length > 8, `${scripts.length} commands`);
	for (const { name, words } of scripts) {
		// `sender` has commands of its own.
		const sub = name === "sender" ? [words.split(" ")[0] as string] : [];
		const { code, stdout } = await runScript(name, [...sub, "--help"]);
		assert.is(code, 0, name);
		for (const [option] of words.matchAll(/--[a-z-]+/g)) assert.match(stdout, option, name);
	}
});

test("the page comes to all that the workflows read: their secrets, and the variables of a hosting", async () => {
	const page = await text("docs/production.md");
	for (const name of [
		"WORKFLOW_APP_PRIVATE_KEY",
		"CLOUDFLARE_API_TOKEN",
		"SENDERS",
		"GITHUB_APP_PRIVATE_KEY",
	])
		assert.match(page, name);
	for (const name of ["HOSTING", "PUBLIC_URL", "CLOUDFLARE_ACCOUNT_ID", "OBJECTS_ENDPOINT", "OBJECTS_BUCKET"])
		assert.match(page, name);
});

test("the files that the page names are there", async () => {
	const page = await text("docs/production.md");
	const links = [...page.matchAll(/\]\(([a-z-]+\.md)(?:#[\w-]+)?\)/g)].map(([, name]) => `docs/${name}`);
	assert.ok(links.length >= 2);
	for (const path of [...links, "docs/example-layer.json", "wrangler.jsonc", "deploy/workers/objects.jsonc"])
		await stat(join(root, path));
});

test("a bucket's name stands in no workflow and no configuration that is deployed", async () => {
	const config = await text("deploy/workers/objects.jsonc");
	assert.match(config, "The name counts on this machine only");
	assert.match(
		await text(".github/workflows/publish.yml"),
		/deploy --objects\n {8}env:\n {10}OBJECTS_BUCKET: \$\{\{ vars/,
	);
});

test.run();
