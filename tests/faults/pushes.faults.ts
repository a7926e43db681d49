import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import * as assert from "uvu/assert";
import { installHook } from "../../store/hook/install.ts";
import { Local, wms } from "../helpers/local.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite } from "../helpers/world.ts";
import { Pusher } from "../store/hook/pusher.ts";

const count = 100_000;

const test = freshSuite("pushes of 100,000 files", async (use) => {
	const files = { "layers/on/one.json": wms("one") };
	const local = use(await Local.open({ files, guard: installHook }));
	return { local, pusher: use(await Pusher.of(local.repository)) };
});

/** Makes one commit of so many files on the clone's branch, each with the same text. */
async function commitMany(pusher: Pusher, pathOf: (index: number) => string, text: string): Promise<void> {
	const child = spawn("git", ["-C", pusher.clone.path, "fast-import", "--quiet"], {
		stdio: ["pipe", "inherit", "inherit"],
	});
	const ended = once(child, "close");
	const data = (content: string) => `data ${Buffer.byteLength(content)}\n${content}\n`;
	const who = "Ada <ada@example.org> 1700000000 +0000";
	child.stdin.write(`blob\nmark :1\n${data(text)}commit refs/heads/main\ncommitter ${who}\n${data("many")}`);
	child.stdin.write("from refs/heads/main^0\n");
	const lines = Array.from({ length: count }, (_, index) => `M 100644 :1 ${pathOf(index)}\n`);
	child.stdin.end(lines.join(""));
	assert.equal(await ended, [0, null]);
}

/** Pushes while somebody reads, and publishes until it comes to the branch itself; all are answered meanwhile. */
async function pushBeside({ local, pusher }: { local: Local; pusher: Pusher }) {
	let isOver = false;
	let isMine = false;
	let reads = 0;
	const others = (async () => {
		for (; !isOver; reads += 1) {
			assert.is(local.get("/v0.9/doc/en/one").status, 200);
			local.now += 1_000;
			if (isMine) await sleep(5);
			else assert.is((await local.put("one", wms(`turn ${reads}`))).status, 201);
		}
	})();
	const objects = await pusher.push("main:refs/heads/many");
	assert.ok(objects.isAccepted, objects.screen);
	isMine = true;
	// The publisher's last answer, and then nothing moves the branch but this push.
	const before = reads;
	await eventually(() => reads > before + 1);
	await pusher.clone.git("fetch", "-q", "origin");
	const merged = await pusher.commitTree(await mergedTree(pusher), ["origin/main", "origin/many"], "merge");
	const beside = reads;
	const pushed = await pusher.push(`${merged}:refs/heads/main`);
	isOver = true;
	await others;
	assert.ok(before > 0 && reads > beside, `${before}, ${beside} and ${reads}`);
	return { pushed };
}

/** The tree of both branches. */
async function mergedTree(pusher: Pusher): Promise<string> {
	return (
		(await pusher.clone.git("merge-tree", "--write-tree", "origin/main", "origin/many")).split("\n")[0] ?? ""
	);
}

test("100,000 wrong files are refused, with a message of bounded length", async (world) => {
	await commitMany(world.pusher, (index) => `layers/z${index % 10}/z${index % 10}-${index}.json`, "{}");
	const { pushed } = await pushBeside(world);
	assert.is(pushed.isAccepted, false);
	assert.match(pushed.screen, `in ${count} files in all`);
	assert.ok(pushed.screen.length < 20_000, String(pushed.screen.length));
	assert.is(world.local.get("/v0.9/doc/en/z0-0").status, 404);
	assert.equal(world.local.reported, []);
});

test.run();
