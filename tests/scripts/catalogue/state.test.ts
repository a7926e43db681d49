import { appendFile, cp } from "node:fs/promises";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { pagesStamp } from "../../../scripts/catalogue/state.ts";
import { readGuidePages } from "../../../scripts/guide/guide.ts";
import { securityFile, securityPage } from "../../../scripts/guide/render.ts";
import { temporaryFolder } from "../../local.ts";
import { root } from "../../process.ts";

test("a change of any page of the guide, or of a module that makes pages, is another stamp", async () => {
	const folder = await temporaryFolder();
	try {
		for (const name of ["site", "scripts/catalogue", "scripts/guide", "docs", securityFile]) {
			await cp(join(root, name), join(folder.path, name), { recursive: true });
		}
		const stamps = [pagesStamp(root), pagesStamp(folder.path)];
		assert.is(stamps[0], stamps[1]);
		const pages = readGuidePages().map(({ path }) => (path === securityPage ? securityFile : `docs/${path}`));
		assert.ok(pages.includes("SECURITY.md") && pages.includes("docs/fr/publish.md"));
		for (const path of [...pages, "site/page/page.ts", "scripts/guide/render.ts", "site/static/styles.css"]) {
			await appendFile(join(folder.path, path), "\n");
			const stamp = pagesStamp(folder.path);
			assert.not(stamps.includes(stamp), path);
			stamps.push(stamp);
		}
	} finally {
		await folder.remove();
	}
});

test.run();
