import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as assert from "uvu/assert";
import { openGithubService } from "../../service/github-composition.ts";
import { readConfiguration } from "../../service/settings.ts";
import { suite } from "../helpers/suite.ts";
import { temporaryFolder } from "../helpers/world.ts";

const test = suite("a service that writes to GitHub");

test("reads are those of the last build in the working folder, as it is now", async () => {
	await using folder = await temporaryFolder();
	const before = process.cwd();
	process.chdir(folder.path);
	try {
		const environment = { GITHUB_REPOSITORY: "maps/layers", GITHUB_TOKEN: "a token", DATA_DIR: folder.path };
		const service = await openGithubService(readConfiguration(environment), new Map());
		assert.is(service.layers(), 0);
		assert.is(service.fragments("v0.9", "en", "built"), null);
		const path = join(folder.path, "dist/v0.9/doc/en/built");
		await mkdir(dirname(path), { recursive: true });
		await writeFile(path, '{"a":1}');
		const found = service.fragments("v0.9", "en", "built");
		assert.is(Buffer.from(found?.body ?? []).toString(), '{"a":1}');
		assert.match(found?.etag ?? "", /^"[0-9a-f]{16}"$/);
		assert.is(service.fragments("v0.9", "fr", "built"), null);
		assert.is(service.layers(), 1);
	} finally {
		process.chdir(before);
	}
});

test.run();
