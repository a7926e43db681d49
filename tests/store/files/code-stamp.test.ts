import { join } from "node:path";
import * as assert from "uvu/assert";
import { codeStamp } from "../../../store/files/version.ts";
import { test } from "../../helpers/suite.ts";
import { type Files, temporaryFolder, writeFiles } from "../../helpers/world.ts";

test("the stamp changes with the content and the name of each file that it covers", async () => {
	await using folder = await temporaryFolder();
	const files: Files = {
		...{ "package.json": '{"files":["code","GUIDE.md"]}', "GUIDE.md": "text" },
		...{ "code/a.ts": "1", "code/below/b.css": "2" },
	};
	const changes: Files[] = [
		{},
		{ "package.json": '{"files":["code","GUIDE.md"],"version":"2"}' },
		{ "GUIDE.md": "other" },
		{ "code/a.ts": "3" },
		{ "code/below/b.css": "4" },
		{ "code/a.ts": null, "code/c.ts": "1" },
		{ "code/a.ts": "12", "code/below/b.css": "" },
	];
	const stamps = changes.map((change, at) => {
		const checkout = join(folder.path, String(at));
		writeFiles(checkout, { ...files, ...change });
		return codeStamp(checkout);
	});
	assert.is(new Set(stamps).size, changes.length);
	const [checkout, same] = [join(folder.path, "same"), join(folder.path, "other")];
	const foreign = (path: string) => ({ "foreign.txt": path, "code/dist/built.mjs": path });
	for (const path of [checkout, same]) writeFiles(path, { ...files, ...foreign(path) });
	assert.equal([codeStamp(checkout), codeStamp(same)], [stamps[0], stamps[0]]);
});

test.run();
