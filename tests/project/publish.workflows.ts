import { readFile } from "node:fs/promises";
import * as assert from "uvu/assert";
import { manual } from "../helpers/local.ts";
import { prints, runProgram } from "../helpers/process.ts";
import { serve } from "../helpers/serving.ts";
import { sharedSuite, temporaryFolder, writeFiles } from "../helpers/world.ts";

const page = await readFile("docs/publish.md", "utf8");

const secret = "a secret: -x $é that is longer than sixteen bytes";

const test = sharedSuite("the clients of docs/publish.md", async (use) => {
	const { path: folder } = use(await temporaryFolder());
	const server = use(
		await serve({ DATA_DIR: folder, SITE: "off", SENDERS: JSON.stringify({ publisher: secret }) }),
	);
	writeFiles(folder, { "layer.json": manual });
	return { folder, server };
});

interface Client {
	language: string;
	command: string[];
	removing: (text: string) => string;
}

const clients: Client[] = [
	{
		language: "sh",
		command: ["sh", "-c"],
		removing: (text) =>
			text.replace("METHOD=PUT", "METHOD=DELETE").replace("BODY=layer.json", "BODY=/dev/null"),
	},
	{
		language: "python",
		command: ["python3", "-c"],
		removing: (text) => text.replace('method = "PUT"', 'method = "DELETE"'),
	},
];

for (const { language, command, removing } of clients) {
	test(`the client in ${language} registers, is refused, and removes`, async ({ server, folder }) => {
		const block = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(page)?.[1] ?? "";
		// A key of its own: two clients that sign the same in one second would have the same signature.
		const key = `my-layer-${language}`;
		const [program = "", ...words] = command;
		const run = (text: string, secret?: string) =>
			runProgram(program, [...words, text], secret === undefined ? {} : { SENDER_SECRET: secret }, folder);
		const text = block.replace("http://127.0.0.1:8080", server.url).replace("my-layer", key);
		assert.is.not(text, block);
		const layer = `${server.url}/v0.9/doc/en/${key}`;
		const unset = await run(text);
		assert.is.not(unset.code, 0);
		assert.match(unset.stderr, "is not set: it holds the secret of the sender");
		assert.is((await fetch(layer)).status, 404);

		await prints(run(text, secret), 0, `"smallkey":"${key}"`, "201");
		assert.match(await (await fetch(layer)).text(), `"id":"rcs.${key}.en"`);

		const refused = await run(text, "another secret");
		assert.is.not(refused.code, 0);
		assert.match(refused.stdout + refused.stderr, "401");
		assert.match(refused.stdout + refused.stderr, '{"errors":["');

		const removal = removing(text);
		assert.is.not(removal, text);
		await prints(run(removal, secret), 0, "204");
		assert.is((await fetch(layer)).status, 404);
	});
}

test.run();
