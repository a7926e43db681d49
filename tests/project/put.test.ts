import { readFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { sign } from "../../api/senders.ts";
import { wms } from "../helpers/local.ts";
import { root } from "../helpers/process.ts";
import { serve } from "../helpers/serving.ts";
import { test } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { temporaryFolder } from "../helpers/world.ts";

/** The files that the table of docs/architecture.md names for a PUT. */
function listedFiles(): string[] {
	const text = readFileSync(join(root, "docs/architecture.md"), "utf8");
	const [, section = ""] = /^### One PUT, file by file$(.*?)^##/ms.exec(text) ?? [];
	return Array.from(section.matchAll(/`([\w/.-]+\.ts)`/g), ([, file = ""]) => file);
}

/** The files of the project with a function that was called, by their places in the compiled modules. */
function calledFiles(scripts: readonly Profiler.ScriptCoverage[]): Set<string> {
	const files = new Set<string>();
	for (const { url, functions } of scripts) {
		if (!url.includes("/.cache/tests-")) continue;
		// esbuild writes a comment with the source's path before the code of each source.
		const sources = [...readFileSync(fileURLToPath(url), "utf8").matchAll(/^\/\/ ([a-z][\w./-]+\.ts)$/gm)];
		for (const { functionName, ranges } of functions) {
			const [range] = ranges;
			// A module itself is a function without a name.
			if (!range?.count || functionName === "") continue;
			const file = sources.findLast(({ index }) => index <= range.startOffset)?.[1];
			if (file && !file.startsWith("tests/")) files.add(file);
		}
	}
	return files;
}

test("a PUT of a new layer passes the files that docs/architecture.md lists, and no others", async () => {
	await using folder = await temporaryFolder();
	const senders = JSON.stringify({ ann: "secret" });
	const server = await serve({ DATA_DIR: folder.path, SENDERS: senders, SITE: "off" });
	const session = new Session();
	try {
		const signed = async (path: string) => {
			const [timestamp, body] = [new Date().toISOString(), new TextEncoder().encode(wms("one"))];
			const Authorization = await sign("secret", { path, sender: "ann", timestamp, body });
			const headers = { Authorization, TimeStamp: timestamp, Sender: "ann" };
			return () => fetch(`${server.url}${path}`, { method: "PUT", body, headers });
		};
		const [first, second] = [await signed("/register/first"), await signed("/register/second")];
		assert.is((await first()).status, 201);
		session.connect();
		await session.post("Profiler.enable");
		await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
		assert.is((await second()).status, 201);
		const called = new Set<string>();
		await eventually(async () => {
			const { result } = await session.post("Profiler.takePreciseCoverage");
			for (const file of calledFiles(result)) called.add(file);
			// The line of the log is written last.
			return called.has("service/log.ts");
		});
		assert.equal([...called].sort(), listedFiles().sort());
	} finally {
		session.disconnect();
		await server.end();
	}
});

test.run();
