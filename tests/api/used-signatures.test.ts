import { execFileSync } from "node:child_process";
import { appendFile, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { Local, manual, noon, type Write, wms } from "../helpers/local.ts";
import { descendantsWith, signalIfThere } from "../helpers/process.ts";
import { freshSuite, temporaryFolder } from "../helpers/world.ts";
import { openEmpty } from "../store/git-store.ts";

const test = freshSuite("used signatures", async (use) => ({
	local: use(await Local.open({ storeLimits: { silenceMs: 4_000 } })),
}));

const minuteMs = 60_000;

/** A request that is signed now and may be sent again later, as it is. */
function capture(local: Local, write: Omit<Write, "timestamp">): Write {
	return { ...write, timestamp: new Date(local.now).toISOString() };
}

/** Sends a request and checks its status, and that nothing has changed where it is refused. */
async function expect(local: Local, write: Write, status: number, why = ""): Promise<Response> {
	const before = await local.state();
	const answer = await local.write(write);
	assert.is(answer.status, status, `${why}: ${await answer.clone().text()}`);
	if (status >= 400) assert.is(await local.state(), before, why);
	return answer;
}

for (const restarts of [false, true]) {
	const when = restarts ? ", after a restart too" : "";
	const again = async (local: Local) => {
		local.now += 1_000;
		if (restarts) await local.restart();
	};

	test(`a PUT that changed nothing does not undo a later one${when}`, async ({ local }) => {
		await local.put("k", wms("one"));
		local.now += 1_000;
		const idle = capture(local, { target: "/register/k", body: wms("one") });
		await expect(local, idle, 201);
		local.now += 1_000;
		await local.put("k", wms("two"));
		await again(local);
		await expect(local, idle, 401);
	});

	test(`a DELETE that was 404 removes nothing later${when}`, async ({ local }) => {
		const early = capture(local, { method: "DELETE", target: "/register/k" });
		await expect(local, early, 404);
		await again(local);
		await expect(local, early, 404, "its first answer again");
		await local.put("k");
		await again(local);
		await expect(local, early, 401);
	});

	test(`a PUT that was 409 stores nothing later${when}`, async ({ local }) => {
		await local.put("Roads");
		const conflict = capture(local, { target: "/register/roads", body: manual });
		await expect(local, conflict, 409);
		await again(local);
		await expect(local, conflict, 409, "its first answer again");
		assert.is((await local.delete("Roads")).status, 204);
		await again(local);
		await expect(local, conflict, 401);
	});

	test(`an empty PUT that was refused works not as a DELETE${when}`, async ({ local }) => {
		await local.put("k");
		local.now += 1_000;
		const empty = capture(local, { target: "/register/k" });
		await expect(local, empty, 400);
		await again(local);
		await expect(local, { ...empty, method: "DELETE" }, 401);
		await expect(local, empty, 400, "its first answer again");
	});

	test(`a DELETE with a body that was refused works not as a PUT${when}`, async ({ local }) => {
		const full = capture(local, { method: "DELETE", target: "/register/k", body: manual });
		await expect(local, full, 400);
		await again(local);
		await expect(local, { ...full, method: "PUT" }, 401);
	});

	test(`what is sent twice gets its first answer twice, and has changed nothing then${when}`, async (scene) => {
		const { local } = scene;
		const put = capture(local, { target: "/register/k", body: manual });
		const first = (await (await expect(local, put, 201)).json()) as { changed: boolean };
		assert.is(first.changed, true);
		await local.put("other");
		await again(local);
		assert.equal(await (await expect(local, put, 201)).json(), { ...first, changed: false });
		const remove = capture(local, { method: "DELETE", target: "/register/k" });
		await expect(local, remove, 204);
		await again(local);
		await expect(local, remove, 204);
		await expect(local, put, 401, "now it would change something");
	});
}

test("the same DELETE twice at once: both hear that it is gone", async ({ local }) => {
	await local.put("k");
	local.now += 1_000;
	const remove = capture(local, { method: "DELETE", target: "/register/k" });
	const answers = await Promise.all([local.write(remove), local.write(remove), local.write(remove)]);
	assert.equal(
		answers.map(({ status }) => status),
		[204, 204, 204],
	);
	assert.is(await local.git("rev-list", "--count", "refs/heads/main"), "3");
});

test("what the sender may not change yet, it cannot change later with the same signature", async (scene) => {
	const { local } = scene;
	const narrow = capture(local, { target: "/register/other", body: manual, sender: "narrow" });
	await expect(local, narrow, 403);
	const settings = local.context.settings.senders;
	const sender = settings.get("narrow");
	assert.ok(sender);
	Object.assign(sender, { smallkeys: null });
	await expect(local, narrow, 401);
});

test("what was refused for a while is usable: 503", async ({ local }) => {
	await local.put("before");
	local.now += 1_000;
	const put = capture(local, { target: "/register/k", body: manual });
	for (const pid of descendantsWith(process.pid, local.folder, "update-ref")) signalIfThere(pid, "SIGSTOP");
	await expect(local, put, 503);
	await expect(local, put, 201, "as it was answered");
	await local.restart();
	local.now += 1_000;
	await expect(local, put, 201);
});

for (const restarts of [false, true]) {
	const how = restarts ? ", with restarts between" : "";
	test(`a clock that goes ahead and back reopens no request${how}`, async ({ local }) => {
		const start = local.now;
		const first = capture(local, { target: "/register/k", body: wms("one") });
		await expect(local, first, 201);
		local.now += 1_000;
		await local.put("k", wms("two"));
		for (const minutes of [10, 20, 30]) {
			local.now = start + minutes * minuteMs;
			await local.put("k", wms(`after ${minutes}`));
			if (restarts) await local.restart();
		}
		local.now = start + 2_000;
		await expect(local, first, 401);
		assert.is((await local.put("k", wms("signed anew"))).status, 201);
	});
}

for (const steps of [[-60], [60], [-60, 60], [60, -59.9], [-1.5, 1.5], [1.5, -1.5], [-60, 3, -2.999]]) {
	test(`a clock that steps by ${steps.join(" and ")} minutes reopens no request, and lets writes go on`, async (scene) => {
		const { local } = scene;
		const start = local.now;
		const first = capture(local, { target: "/register/k", body: wms("one") });
		await expect(local, first, 201);
		local.now += 1_000;
		await local.put("k", wms("two"));
		for (const [index, minutes] of steps.entries()) {
			local.now += minutes * minuteMs;
			await expect(local, first, 401, "after a step");
			assert.is((await local.put("k", wms(`step ${index}`))).status, 201);
			await local.restart();
			await expect(local, first, 401, "after a step and a restart");
		}
		local.now = start + 2_000;
		await expect(local, first, 401, "as before the steps");
		assert.is((await local.put("k", wms("signed anew"))).status, 201);
	});
}

test("what is forgotten stays refused where spans of time touch, lie in each other, or are many", async () => {
	const { path, remove } = await temporaryFolder();
	let now = noon + 1_000_000_000;
	const open = () => openEmpty(path, { now: () => new Date(now) });
	let requests = 0;
	let store = await open();
	const isFirst = (time: number) => {
		requests += 1;
		const request = requests.toString(16).padStart(64, "0");
		return store.remember({ request, method: "PUT", time, outcome: 404 });
	};
	// Each span is kept for itself, and forgotten an hour later.
	const spans = [
		[10, 20],
		[20, 30],
		[12, 15],
		[25, 40],
		[50, 60],
		[5, 8],
		[8, 9],
		...Array.from({ length: 80 }, (_, index) => [1_000 + 10 * index, 1_002 + 10 * index]),
	] as const;
	try {
		for (const [from, to] of spans) {
			for (const second of [from, to]) await isFirst(noon + second * 1_000);
			now += 3_600_000;
		}
		for (const hour of [1, 2]) {
			now += 3_600_000;
			assert.is(await isFirst(now), true, `what is signed now, ${hour}`);
		}
		for (const isAgain of [false, true]) {
			for (const [from, to] of spans) {
				for (const second of [from, (from + to) / 2, to]) {
					assert.is(await isFirst(noon + second * 1_000), false, `${second} s, ${isAgain}`);
				}
			}
			for (const second of [0, 4.999, 40.001, 49.999, 60.001, 999, 2_000]) {
				const request = `${second * 1_000 + 1}${Number(isAgain)}`.padStart(64, "a");
				const used = { request, method: "PUT", time: noon + second * 1_000, outcome: 404 };
				if (!isAgain) assert.is(await store.remember(used), true, `${second} s`);
			}
			await store.close();
			store = await open();
		}
	} finally {
		await store.close();
		await remove();
	}
});

test("a line of the request log that a full disk cut off spoils none that comes after it", async (scene) => {
	const { local } = scene;
	await local.put("before");
	await local.filesIdle();
	const folder = join(local.folder, "requests");
	const logs = await Promise.all((await readdir(folder)).map((name) => stat(join(folder, name))));
	const largest = Math.max(...logs.map(({ size }) => size));
	// No file of this process can grow further than some bytes into the next line (setrlimit(2), RLIMIT_FSIZE).
	const limitFiles = (bytes: number | "unlimited") =>
		execFileSync("prlimit", [`--pid=${process.pid}`, `--fsize=${bytes}:`]);
	const torn = capture(local, { method: "DELETE", target: "/register/torn" });
	limitFiles(largest + 40);
	try {
		await expect(local, torn, 503);
	} finally {
		limitFiles("unlimited");
	}
	local.now += 1_000;
	const gone = capture(local, { method: "DELETE", target: "/register/gone" });
	await expect(local, gone, 404);
	await expect(local, torn, 404, "it was usable");
	await local.restart();
	for (const smallkey of ["gone", "torn"]) await local.put(smallkey);
	await expect(local, gone, 401, "it is remembered");
	await expect(local, torn, 401, "and so is the one that was torn");
});

test("2,001 newer commits make no request usable", async ({ local }) => {
	const first = capture(local, { target: "/register/k", body: wms("one") });
	await expect(local, first, 201);
	local.now += 1_000;
	await local.put("k", wms("two"));
	let tip = await local.git("rev-parse", "refs/heads/main");
	const commits = Array.from({ length: 2_001 }, (_, index) => {
		const from = index === 0 ? `from ${tip}\n` : "";
		return `commit refs/heads/pushed\ncommitter a <a@b> ${index} +0000\ndata 1\nx\n${from}\n`;
	});
	const { runGit } = await import("../../system/git/run.ts");
	await runGit(local.repository, ["fast-import", "--quiet"], { input: commits.join("") });
	tip = await local.git("rev-parse", "refs/heads/pushed");
	await local.git("update-ref", "refs/heads/main", tip);
	await local.restart();
	await expect(local, first, 401);
});

test("a pushed commit's trailers count for nothing", async ({ local }) => {
	await local.put("k", wms("one"));
	local.now += 1_000;
	const put = capture(local, { target: "/register/k", body: wms("two") });
	// The trailer that its commit will have, which a spy may know before it arrives.
	const spy = await Local.open();
	spy.now = local.now;
	await spy.write(put);
	const request = await spy.git("log", "-1", "--format=%(trailers:key=Request,valueonly)", "refs/heads/main");
	await spy.end();
	const identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
	const message = `forged\n\nSender: jstest\nRequest: ${request}`;
	const tree = ["commit-tree", "refs/heads/main^{tree}", "-p", "refs/heads/main", "-m", message];
	await local.git("update-ref", "refs/heads/main", await local.git(...identity, ...tree));
	await local.restart();
	await expect(local, put, 201);
	assert.is((await local.store.read("k"))?.registration.includes('"two"'), true);
});

/** Takes the ends of all requests out of the journal, and the saved table: as if the process had been killed before both. */
async function forgetEnds(local: Local): Promise<void> {
	await rm(join(local.folder, "fragments"), { recursive: true, force: true });
	const folder = join(local.folder, "requests");
	for (const name of await readdir(folder)) {
		const lines = (await readFile(join(folder, name), "utf8")).split("\n");
		await rm(join(folder, name));
		await appendFile(join(folder, name), lines.filter((line) => / \?[0-9a-f]{40} /.test(line)).join("\n"));
		await appendFile(join(folder, name), "\n");
	}
}

test("a change that was made, but not answered when its process was killed, is used", async ({ local }) => {
	const first = capture(local, { target: "/register/k", body: wms("one") });
	await expect(local, first, 201);
	local.now += 1_000;
	await local.put("k", wms("two"));
	await local.stop();
	await forgetEnds(local);
	await local.start();
	await expect(local, first, 401);
});

test("a commit that reads as the service's in another encoding carries out no request", async ({ local }) => {
	const first = capture(local, { target: "/register/k", body: wms("one") });
	const base = await local.git("rev-parse", "refs/heads/main");
	await expect(local, first, 201);
	const message = await local.git("log", "-1", "--format=%B", "refs/heads/main");
	await local.stop();
	await forgetEnds(local);
	const recoded = [
		"user.name=fragment\x1b(B-publisher",
		"user.email=fragment\x1b(B-publisher@sender.invalid",
	];
	const settings = [...recoded, "i18n.commitEncoding=ISO-2022-JP"].flatMap((setting) => ["-c", setting]);
	const words = [...settings, "commit-tree", `${base}^{tree}`, "-p", base, "-m", message];
	await local.git("update-ref", "refs/heads/main", await local.git(...words));
	await local.start();
	await expect(local, first, 201);
	assert.match((await local.store.read("k"))?.registration ?? "", '"one"');
});

test("a change that was under way, and not made when its process was killed, is usable", async (scene) => {
	const { local } = scene;
	const first = capture(local, { target: "/register/k", body: wms("one") });
	const base = await local.git("rev-parse", "refs/heads/main");
	await expect(local, first, 201);
	await local.stop();
	await forgetEnds(local);
	await local.git("update-ref", "refs/heads/main", base);
	await local.start();
	await expect(local, first, 201);
});

test.run();
