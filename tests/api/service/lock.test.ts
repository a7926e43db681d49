import { once } from "node:events";
import { readdirSync } from "node:fs";
import files, { link } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import * as assert from "uvu/assert";
import { lockFolder } from "../../../api/service/lock.ts";
import { eventually } from "../../helpers/wait.ts";
import { folderSuite } from "../../helpers/world.ts";

const test = folderSuite("the lock of a folder");

async function assertTaken(folder: string): Promise<void> {
	const error = await lockFolder(folder, { maxWaitMs: 0 }).catch(String);
	assert.match(
		String(error),
		`DATA_DIR: another process works in ${folder}; end it first, or choose another folder`,
	);
}

test("a second service says at once what it waits for, and takes over when the first one ends", async ({
	folder,
}) => {
	const first = await lockFolder(folder);
	const said: string[] = [];
	const second = lockFolder(folder, { waiting: (line) => said.push(line), maxWaitMs: 60_000 });
	await eventually(() => said.length > 0);
	assert.equal(said, [`DATA_DIR: another process works in ${folder}; waiting 60 s for its end`]);
	await first.release();
	await (await second).release();
	assert.is(said.length, 1);
});

/** Mixes the order of calls: each first waits for some turns of the event loop. */
function disorder(): Disposable {
	const calls = { link: files.link, readdir: files.readdir, rename: files.rename, rm: files.rm };
	const delayed = Object.entries(calls).map(([name, call]) => {
		const later = async (...args: unknown[]) => {
			for (let turns = 100 * Math.random() ** 4; turns > 0; turns -= 1) await turn();
			return (call as (...args: unknown[]) => unknown)(...args);
		};
		return [name, later];
	});
	Object.assign(files, Object.fromEntries(delayed));
	return { [Symbol.dispose]: () => Object.assign(files, calls) };
}

for (const isStale of [false, true]) {
	const what = isStale ? "what a killed process left" : "an empty folder";
	test(`of many that come to ${what} at the same moment, one gets the lock`, async ({ folder }) => {
		using _ = disorder();
		for (let round = 0; round < 5; round += 1) {
			if (isStale) await leaveSocket(join(folder, `publisher.lock.${2 * round + 100}`));
			const attempts = Array.from({ length: 8 }, () => lockFolder(folder, { maxWaitMs: 0 }));
			const held = (await Promise.allSettled(attempts)).flatMap((attempt) =>
				attempt.status === "fulfilled" ? [attempt.value] : [],
			);
			assert.is(held.length, 1);
			assert.is(readdirSync(folder).length, 1);
			await held[0]?.release();
		}
	});
}

test("a lock that was won is held, although what a killed process left cannot be removed", async ({
	folder,
}) => {
	await leaveSocket(join(folder, "publisher.lock.7"));
	const { rm } = files;
	files.rm = async (path, ...options) => {
		if (String(path).endsWith(".7")) throw Object.assign(new Error("no room"), { code: "ENOSPC" });
		return rm(path, ...options);
	};
	using _ = { [Symbol.dispose]: () => Object.assign(files, { rm }) };
	const said: string[] = [];
	const first = await lockFolder(folder, { waiting: (line) => said.push(line) });
	assert.equal(said, []);
	await assertTaken(folder);
	await first.release();
});

test("a start that was overtaken by a later one gets no lock", async ({ folder }) => {
	const later = createServer();
	files.link = async (from, to) => {
		files.link = link;
		await once(later.listen(join(folder, "publisher.lock.9")), "listening");
		return link(from, to);
	};
	await assertTaken(folder);
	assert.equal(readdirSync(folder), ["publisher.lock.9"]);
	await new Promise((resolve) => later.close(resolve));
});

async function leaveSocket(path: string): Promise<void> {
	const server = createServer().listen(`${path}.own`);
	await once(server, "listening");
	await link(`${path}.own`, path);
	await new Promise((resolve) => server.close(resolve));
}

const unlessRoot = process.getuid?.() === 0 ? test.skip : test;

unlessRoot("a folder of another user is named with the way out", async () => {
	const text = "DATA_DIR: this user may not write in /: run this as the user of the service, who owns it";
	assert.is(await lockFolder("/", { maxWaitMs: 0 }).catch((error) => error.message), text);
});

test.run();
