import files, { chmod, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { replaceFile } from "../../../store/files/files.ts";
import { freshSuite, temporaryFolder } from "../../helpers/world.ts";

type Calls = Pick<typeof files, "open" | "rename" | "stat">;

const test = freshSuite("the replacement of a file", async (use) => {
	const folder = use(await temporaryFolder()).path;
	const { open, rename, stat } = files;
	use(() => void Object.assign(files, { open, rename, stat }));
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

for (const name of ["writeFile", "sync", "rename"] as const) {
	test(`a ${name} that fails leaves the file as it was, and nothing beside it`, async ({ folder, path }) => {
		await replaceFile(path, "every secret");
		const full = failing("ENOSPC");
		if (name === "rename") replaceCalls({ rename: full });
		else
			onOpen((file) => {
				const write = file.writeFile.bind(file);
				const half = (text: string) => write(text.slice(0, text.length / 2)).then(full);
				return name === "sync" ? { sync: full } : { writeFile: half };
			});
		const error = await replaceFile(path, "every secret, and one more").catch((reason) => reason);
		assert.is(error.code, "ENOSPC");
		assert.is(error.message, `${path}: there is no room on the disk, and the file stays as it was`);
		assert.is(await readFile(path, "utf8"), "every secret");
		assert.equal(await readdir(folder), ["senders.json"]);
	});
}

/** As if another user had the folder and its files. */
function giveToOther(chown: (uid: number, gid: number) => Promise<void>): void {
	replaceCalls({
		stat: (async (path: string) => ({ ...(await stat(path)), uid: 4711, gid: 4712 })) as never,
	});
	onOpen(() => ({ chown }));
}

test("a file keeps its owner, group and mode, and a new one has its folder's owner", async ({ path }) => {
	const given: number[] = [];
	giveToOther(async (uid, gid) => void given.push(uid, gid));
	for (const [text, mode] of [
		["new", 0o600],
		["changed", 0o640],
	] as const) {
		if (text === "changed") await chmod(path, mode);
		await replaceFile(path, text);
		assert.equal(given.splice(0), [4711, 4712]);
		assert.is((await stat(path)).mode & 0o777, mode);
	}
});

test("another user than its owner is refused, and the file stays as it was", async ({ folder, path }) => {
	await replaceFile(path, "before");
	giveToOther(failing("EPERM"));
	const error = await replaceFile(path, "after").catch((reason) => reason);
	assert.match(error.message, /json: belongs to the user 4711, and only that user or root may change it$/);
	assert.is(await readFile(path, "utf8"), "before");
	assert.equal(await readdir(folder), ["senders.json"]);
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
