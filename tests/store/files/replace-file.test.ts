import { execFileSync } from "node:child_process";
import files, { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { replaceFile } from "../../../store/files/files.ts";
import { freshSuite, temporaryFolder } from "../../helpers/world.ts";

type Calls = Pick<typeof files, "open" | "rename">;

const test = freshSuite("the replacement of a file", async (use) => {
	const folder = use(await temporaryFolder()).path;
	const { open, rename } = files;
	use(() => void Object.assign(files, { open, rename }));
	return { folder, path: join(folder, "senders.json") };
});

/** Replaces calls of the file system until the end of a test. */
const replaceCalls = (calls: Partial<Calls>): void => void Object.assign(files, calls);

/** Changes each file that is opened. */
function onOpen(change: (file: files.FileHandle, path: string) => object): void {
	const { open } = files;
	replaceCalls({
		open: async (path, ...args) => {
			const file = await open(path, ...args);
			return Object.assign(file, change(file, String(path)));
		},
	});
}

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

for (const name of ["writeFile", "rename"] as const) {
	test(`a ${name} that fails leaves the file as it was, and nothing beside it`, async ({ folder, path }) => {
		await replaceFile(path, "every secret");
		const full = failing("ENOSPC");
		if (name === "rename") replaceCalls({ rename: full });
		else
			onOpen((file) => {
				const write = file.writeFile.bind(file);
				return { writeFile: (text: string) => write(text.slice(0, text.length / 2)).then(full) };
			});
		const error = await replaceFile(path, "every secret, and one more").catch((reason) => reason);
		assert.is(error.code, "ENOSPC");
		assert.is(error.message, `${path}: there is no room on the disk, and the file stays as it was`);
		assert.is(await readFile(path, "utf8"), "every secret");
		assert.equal(await readdir(folder), ["senders.json"]);
	});
}

test("what is no plain file, such as /dev/null, stays", async ({ path }) => {
	execFileSync("mkfifo", [path]);
	assert.is(String(await replaceFile(path, "x").catch(String)), `Error: ${path}: must be a plain file`);
	assert.ok((await stat(path)).isFIFO());
});

test("the text is on the disk before it takes the name, and then the name", async ({ folder, path }) => {
	const order: string[] = [];
	const { rename } = files;
	onOpen((file, name) => {
		const sync = file.sync.bind(file);
		return {
			sync: () => {
				order.push(`sync ${name === folder ? "folder" : "file"}`);
				return sync();
			},
		};
	});
	replaceCalls({
		rename: (from, to) => {
			order.push("rename");
			return rename(from, to);
		},
	});
	await replaceFile(path, "text");
	assert.equal(order, ["sync file", "rename", "sync folder"]);
});

test.run();
