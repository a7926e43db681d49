import { appendFile, cp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { readGuidePages, securityFile, securityPage } from "../../catalogue/guide/guide.ts";
import { hasCatalogue } from "../../catalogue/output.ts";
import { namesIn, pageFiles, readState } from "../../catalogue/state.ts";
import { filesStamp } from "../../files/cache.ts";
import { temporaryFolder } from "../local.ts";
import { root } from "../process.ts";

test("a change of any page of the guide, or of a module that makes pages, is another stamp", async () => {
	const folder = await temporaryFolder();
	try {
		for (const name of ["site", "catalogue", "catalogue/guide", "docs", securityFile]) {
			await cp(join(root, name), join(folder.path, name), { recursive: true });
		}
		const stamps = [await filesStamp(pageFiles, root), await filesStamp(pageFiles, folder.path)];
		assert.is(stamps[0], stamps[1]);
		const pages = readGuidePages().map(({ path }) => (path === securityPage ? securityFile : `docs/${path}`));
		assert.ok(pages.includes("SECURITY.md") && pages.includes("docs/fr/publish.md"));
		for (const path of [
			...pages,
			"site/page/page.ts",
			"catalogue/guide/guide.ts",
			"catalogue/static/styles.css",
		]) {
			await appendFile(join(folder.path, path), "\n");
			const stamp = await filesStamp(pageFiles, folder.path);
			assert.not(stamps.includes(stamp), path);
			stamps.push(stamp);
		}
	} finally {
		await folder.remove();
	}
});

test("what is not there, or was cut off, is no catalogue; what cannot be read is a fault", async () => {
	const folder = await temporaryFolder();
	const out = join(folder.path, "dist");
	try {
		const found = () => [readState(out), namesIn(out, "index"), hasCatalogue(out)];
		assert.equal(found(), [null, [], false]);
		for (const text of ['{"stamp":', "null", "{}", ""]) {
			await writeFile(`${out}.catalogue`, text);
			assert.is(readState(out), null, text);
		}
		await writeFile(out, "a file in its place");
		assert.equal(found(), [null, [], false]);
		await rm(out);
		await mkdir(join(out, "index"), { recursive: true });
		await writeFile(join(out, "index/index.json"), "{}");
		assert.equal(found(), [null, ["index.json"], true]);
		await rm(`${out}.catalogue`);
		await mkdir(`${out}.catalogue`);
		assert.throws(() => readState(out), `${out}.catalogue: cannot be read`);
		// A link to itself is there, and cannot be followed.
		await rm(out, { recursive: true });
		await symlink(out, out);
		assert.throws(() => hasCatalogue(out), `${out}: cannot be read`);
		assert.throws(() => namesIn(out, "index"), `${join(out, "index")}: cannot be read`);
	} finally {
		await folder.remove();
	}
});

test.run();
