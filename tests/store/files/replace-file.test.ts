import * as promises from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { type FileCalls, replaceFile } from "../../../store/files/files.ts";
import { test } from "../../helpers/suite.ts";
import { temporaryFolder } from "../../helpers/world.ts";

function failing(name: "writeFile" | "sync" | "rename"): FileCalls {
	const full = () => Promise.reject(Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" }));
	if (name === "rename") return { ...promises, rename: full };
	const open: FileCalls["open"] = async (...args) => {
		const file = await promises.open(...args);
		const write = file.writeFile.bind(file);
		const half = async (text: unknown) => {
			await write(String(text).slice(0, String(text).length / 2));
			return full();
		};
		return Object.assign(file, name === "sync" ? { sync: full } : { writeFile: half });
	};
	return { ...promises, open };
}

for (const name of ["writeFile", "sync", "rename"] as const) {
	test(`a ${name} that fails leaves the file as it was, and nothing beside it`, async () => {
		await using folder = await temporaryFolder();
		const path = join(folder.path, "senders.json");
		await replaceFile(path, "every secret");
		const error = await replaceFile(path, "every secret, and one more", failing(name)).catch((one) => one);
		assert.is(error.code, "ENOSPC");
		assert.is(error.message, `${path}: there is no room on the disk, and the file stays as it was`);
		assert.is(await promises.readFile(path, "utf8"), "every secret");
		assert.equal(await promises.readdir(folder.path), ["senders.json"]);
	});
}

function foreign(given: number[], chown: () => Promise<void>): FileCalls {
	return {
		...promises,
		stat: (async (path: string) =>
			Object.assign(await promises.stat(path), { uid: 4711, gid: 4712 })) as never,
		open: async (...args) => {
			const file = await promises.open(...args);
			file.chown = async (uid, gid) => {
				given.push(uid, gid);
				await chown();
			};
			return file;
		},
	};
}

test("a file keeps its owner, group and mode, and a new one has its folder's owner", async () => {
	await using folder = await temporaryFolder();
	const path = join(folder.path, "senders.json");
	const given: number[] = [];
	const calls = foreign(given, async () => undefined);
	await replaceFile(path, "new", calls);
	assert.equal(given.splice(0), [4711, 4712]);
	assert.is((await promises.stat(path)).mode & 0o777, 0o600);
	await promises.chmod(path, 0o640);
	await replaceFile(path, "changed", calls);
	assert.equal(given.splice(0), [4711, 4712]);
	assert.is((await promises.stat(path)).mode & 0o777, 0o640);
});

test("another user than its owner is refused, and the file stays as it was", async () => {
	await using folder = await temporaryFolder();
	const path = join(folder.path, "senders.json");
	await replaceFile(path, "before");
	const refuse = () => Promise.reject(Object.assign(new Error("EPERM"), { code: "EPERM" }));
	const error = await replaceFile(path, "after", foreign([], refuse)).catch((one) => one);
	assert.match(
		error.message,
		/senders\.json: belongs to the user 4711, and only that user or root may change it$/,
	);
	assert.is(await promises.readFile(path, "utf8"), "before");
	assert.equal(await promises.readdir(folder.path), ["senders.json"]);
});

test("the text is on the disk before it takes the name, and its name afterwards", async () => {
	await using folder = await temporaryFolder();
	const path = join(folder.path, "senders.json");
	const order: string[] = [];
	await replaceFile(path, "text", {
		...promises,
		open: async (name, ...args) => {
			const file = await promises.open(name, ...args);
			const sync = file.sync.bind(file);
			file.sync = () => {
				order.push(`sync ${name === folder.path ? "folder" : "file"}`);
				return sync();
			};
			return file;
		},
		rename: (from, to) => {
			order.push("rename");
			return promises.rename(from, to);
		},
	});
	assert.equal(order, ["sync file", "rename", "sync folder"]);
});

test.run();
