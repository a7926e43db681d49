import * as assert from "uvu/assert";
import { createHarvestProcess } from "../../../../extensions/harvest/harvester/process.ts";
import { test } from "../../../helpers/suite.ts";
import { eventually } from "../../../helpers/wait.ts";
import { featureAt } from "../../../viewer/viewer.ts";

function open(limits: object = {}, file = "odd-child.mjs") {
	const { PATH } = process.env;
	const { lookAt, close } = createHarvestProcess(new URL(file, import.meta.url), { PATH }, limits);
	const at = (path: string) => featureAt(`http://map.example${path}`);
	const textsOf = async (path: string) =>
		(await lookAt(at(path), null)).harvested.findings.map(({ text }) => text);
	return { at, lookAt, textsOf, [Symbol.dispose]: close };
}

const tooMuch = "sent a document that cannot be read: too much time or memory";

for (const [path, words, limits] of [
	["/exits", tooMuch],
	["/eats", tooMuch, { maxHeapMb: 24 }],
	["/loops", tooMuch, { timeoutMs: 2_000 }],
	["/fails", "sent a document that cannot be read: a fault of the program"],
] as const) {
	test(`${path}: a layer that ${words} has the finding alone, and the other is harvested`, async () => {
		using processes = open(limits);
		const { textsOf } = processes;
		const [odd, other = []] = await Promise.all([path, "/waits"].map(textsOf));
		assert.equal(odd, Array(2).fill(`http://map.example${path}: ${words}`));
		for (const text of other) assert.match(text, /^process \d+$/);
	});
}

test("a process that was ended for one layer is not used for the next", async () => {
	using processes = open({ timeoutMs: 2_000 });
	const { textsOf } = processes;
	const [odd, next] = [await textsOf("/loops"), await textsOf("/good")];
	assert.match(odd.join(), tooMuch);
	for (const text of next) assert.match(text, /^process \d+$/);
});

test("the process is kept for further layers, and ended when it is idle", async () => {
	using processes = open({ idleMs: 50 });
	const { textsOf } = processes;
	const [[first = ""], [second]] = [await textsOf("/good"), await textsOf("/good")];
	assert.is(first, second);
	const pid = Number(first.replace("process ", ""));
	const isAlive = () => {
		try {
			return process.kill(pid, 0);
		} catch {
			return false;
		}
	};
	await eventually(() => !isAlive());
	assert.is.not((await textsOf("/good"))[0], first);
});

test("an idle process does not delay the end of the service", async () => {
	using processes = open();
	await processes.textsOf("/good");
	assert.not.ok(process.getActiveResourcesInfo().includes("Timeout"));
});

test("a process that does not start is no fault of the service that is asked", async () => {
	using processes = open({}, "none.mjs");
	const start = () => processes.lookAt(processes.at("/good"), null).catch(({ message }) => message);
	const failure = "the harvest's process does not start: 1";
	assert.equal([await start(), await start()], [failure, failure], "so that it can be logged once");
});

test("a process that is never ready is ended, and its layer tried again", async () => {
	using processes = open({ startMs: 500 }, "silent-child.mjs");
	const ended = await processes.lookAt(processes.at("/good"), null).catch(({ message }) => message);
	assert.is(ended, "the harvest's process does not start: time-out");
});

test("the end of the service ends a harvest", async () => {
	const { at, lookAt, [Symbol.dispose]: close } = open();
	const ending = new AbortController();
	const running = lookAt(at("/loops"), null, ending.signal).then(
		() => "harvested",
		() => "ended",
	);
	ending.abort(new Error("the service ends"));
	close();
	assert.is(await running, "ended");
});

test.run();
