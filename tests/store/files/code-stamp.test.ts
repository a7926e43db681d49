import { join } from "node:path";
import * as assert from "uvu/assert";
import { codeStamp } from "../../../store/files/version.ts";
import { type Files, folderSuite, writeFiles } from "../../helpers/world.ts";

const test = folderSuite("the stamp of the code");

const files: Files = {
	"package.json": '{"files":["code","GUIDE.md"]}',
	"GUIDE.md": "text",
	"code/a.ts": "1",
	"code/below/b.css": "2",
};

function stampOf(checkout: string, changed: Files = {}): string {
	writeFiles(checkout, { ...files, ...changed });
	return codeStamp(checkout);
}

test("changes with the content and the name of each file that it covers", ({ folder }) => {
	const changes: Files[] = [
		{},
		{ "package.json": '{"files":["code","GUIDE.md"],"version":"2"}' },
		{ "GUIDE.md": "other" },
		{ "code/a.ts": "3" },
		{ "code/below/b.css": "4" },
		{ "code/a.ts": null, "code/c.ts": "1" },
		{ "code/a.ts": "12", "code/below/b.css": "" },
	];
	const stamps = changes.map((changed, index) => stampOf(join(folder, String(index)), changed));
	assert.is(new Set(stamps).size, changes.length);
});

test("is the same for the same files, whatever other files there are", ({ folder }) => {
	const stamp = stampOf(join(folder, "same"));
	assert.is(stampOf(join(folder, "other"), { "foreign.txt": "x" }), stamp);
});

test.run();
