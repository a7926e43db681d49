import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { temporaryFolder } from "../local.ts";
import { cleanEnvironment, root, ServerProcess } from "../process.ts";

const readme = await readFile(join(root, "README.md"), "utf8");

/** The fenced blocks of one language, in order. */
function blocks(language: string): string[] {
	return [...readme.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(
		(match) => match[1] as string,
	);
}

test("the PUT with openssl and curl works as the text has it, on the text's own registration", async () => {
	const folder = await temporaryFolder();
	// A secret with bytes that a shell or openssl could take for something else.
	const secret = "a secret: -x $é";
	const server = await ServerProcess.start({
		DATA_DIR: folder.path,
		SENDERS: JSON.stringify({ publisher: secret }),
	});
	await writeFile(join(folder.path, "layer.json"), blocks("json")[0] as string);
	const text = (blocks("sh")[1] as string).replace("http://127.0.0.1:8080", server.url);
	assert.match(text, server.url);
	const options = { cwd: folder.path, env: cleanEnvironment({ SECRET: secret }) };
	const { stdout } = await promisify(execFile)("sh", ["-c", text], options);
	const receipt = JSON.parse(stdout) as { smallkey: string; fragments: string[] };
	assert.is(receipt.smallkey, "my-layer");
	const fragment = await fetch(server.url + receipt.fragments[0]);
	assert.is(fragment.status, 200);
	assert.match(await fragment.text(), '"id":"rcs.my-layer.en"');
	await server.stop();
	await folder.remove();
});

test("the two commands stand on the first screen", () => {
	const screen = readme.split("\n").slice(0, 20).join("\n");
	assert.match(screen, "npm ci && npm start");
	assert.match(screen, "npm ci && npm test");
});

test("every npm script that the text names exists, and every variable is in the table", async () => {
	const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
		scripts: Record<string, string>;
	};
	for (const [, name] of readme.matchAll(/npm run (?:-s )?([a-z-]+)/g))
		assert.ok(scripts[name as string], name);
	const sources = await Promise.all(
		["scripts/service/settings.ts", "api/configuration.ts"].map((file) => readFile(join(root, file), "utf8")),
	);
	for (const [, name] of sources.join().matchAll(/\("([A-Z][A-Z_]+)",/g))
		assert.match(readme, `\`${name}\``, name);
});

test.run();
