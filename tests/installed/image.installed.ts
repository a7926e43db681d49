import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { root } from "../helpers/process.ts";
import { runBound } from "./base.ts";
import { Container, secretWords } from "./container.ts";
import { scenesOn } from "./scenes.ts";

const page = readFileSync(join(root, "docs/one-machine.md"), "utf8");

/** The commands that the page runs in the container, each as its words. */
const onPage = [...page.matchAll(/^ {4}docker exec fragments (.+)$/gm)].map(([, words = ""]) =>
	words.split(" ").map((word) => word.replaceAll("'", "")),
);

/** How long the page lets the container end, in milliseconds. */
const stopMs = 1_000 * Number(/--stop-timeout (\d+)/.exec(page)?.[1]);

/** What a reader in the container gets. */
function read(container: Container, path: string): Promise<string> {
	const script = `const answer = await fetch("http://127.0.0.1:8080${path}");
		if (!answer.ok) throw new Error(String(answer.status));
		console.log(await answer.text());`;
	return container.run("node", "--input-type=module", "-e", script);
}

/** Registers a layer by the command that the log has, which sends what the log names. */
async function putByLog(container: Container): Promise<void> {
	const log = await container.journal();
	const [, command = ""] = /^ +((?:DATA_DIR=\S+ )?npx fragment-publisher put .*)$/m.exec(log) ?? [];
	assert.ok(command, log);
	// As the page says; and the image has no curl: the fragment is read from outside.
	const [put = ""] = command.replace("npx fragment-publisher", "node scripts/fragments.cjs").split(" && ");
	await container.run("bash", "--norc", "-euc", put);
}

let before = "";

await scenesOn(Container.build, "The image", {
	"buildah builds it from deploy/Dockerfile": async () => {
		const [buildah = ""] = /[\d.]+/.exec(await runBound(["buildah", "--version"])) ?? [];
		return `buildah ${buildah}`;
	},
	"it has no secret, no history and no example": async ({ files, configuration }) => {
		const names = [".git", ".env", ".data", "senders.json", "fragments.env"];
		const named = names.flatMap((name) => ["-o", "-name", name]).slice(1);
		const found = await runBound(["find", join(files, "app"), "(", ...named, ")"]);
		assert.is(found, "");
		await runBound(["test", "!", "-e", join(files, "app/layers")]);
		for (const word of secretWords) {
			assert.not.match(JSON.stringify(configuration), word);
			const search = ["sh", "-c", `! grep -rlF ${word} "$1"`, "sh", join(files, "app")];
			assert.is(await runBound(search), "");
		}
	},
	"its command starts as the user node, and the command of its health check ends with 0": async (
		container,
	) => {
		await container.start();
		assert.is((await container.run("id", "-un")).trim(), "node");
		const [kind, ...words] = container.configuration.Healthcheck.Test;
		assert.is(kind, "CMD");
		await container.run(...words);
		await container.run("sh", "-c", "! touch /app/file 2>/dev/null");
	},
	"the commands of the page run in it, and a layer is registered by the command of its log": async (
		container,
	) => {
		assert.ok(onPage.length > 1);
		for (const words of onPage) await container.run(...words);
		await putByLog(container);
		before = await read(container, "/v0.9/doc/en/my-layer");
	},
	"it ends by SIGTERM, as the first process of its container, within the time of the page": async (
		container,
	) => {
		assert.is(await container.stop(stopMs), 0, await container.journal());
	},
	"after a start on the same volume it serves the same layers, with the same senders": async (container) => {
		await container.start();
		assert.is(await read(container, "/v0.9/doc/en/my-layer"), before);
		assert.match(await container.run("node", "scripts/fragments.cjs", "sender", "list"), /^energy\b/m);
		assert.is(await container.stop(stopMs), 0, await container.journal());
	},
});
