import { appendFile, open, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as assert from "uvu/assert";
import { joinRanges, openUsedRequests, type UsedRequests } from "../../store/git/used-requests.ts";
import type { UsedRequest } from "../../store/store.ts";
import { noon } from "../helpers/local.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite, temporaryFolder, words } from "../helpers/world.ts";

const windowMs = 120_000;
const hourMs = 3_600_000;

/** Requests in a folder, with a clock that tests move. */
class Fixture {
	now = noon;
	requests!: UsedRequests;
	/** The commit that the branch has, and what its commits tell of requests. */
	head = "a".repeat(40);
	commits: UsedRequest[] = [];
	/** The commits behind which others were read, at each start. */
	readonly readSince: (string | null)[] = [];
	/** Puts the names in a folder on the disk. */
	sync: (folder: string) => Promise<void> = async () => undefined;

	constructor(readonly folder: string) {}

	async open(): Promise<void> {
		const { folder, commits } = this;
		const outside = { now: () => this.now, sync: (folder: string) => this.sync(folder) };
		const base = { ...outside, repository: join(dirname(folder), "repository.git") };
		this.requests = await openUsedRequests(base, this.head, async (_, since) => {
			this.readSince.push(since);
			return commits;
		});
	}

	/** As a process that is killed and started again. */
	async restart(): Promise<void> {
		await this.requests.close();
		await this.open();
	}

	async use(request: string, parts: Partial<UsedRequest> = {}): Promise<void> {
		await this.requests.keep([{ request, method: "PUT", time: this.now, outcome: "c".repeat(40), ...parts }]);
	}

	files(): Promise<string[]> {
		return readdir(this.folder);
	}
}

const id = (number: number): string => number.toString(16).padStart(64, "0");

const test = freshSuite("used requests", async (use) => {
	const fixture = new Fixture(join(use(await temporaryFolder()).path, "requests"));
	await fixture.open();
	use(() => fixture.requests.close());
	return { fixture };
});

test("a request signed with microseconds is found by the process after, and forgotten with its time", async (scene) => {
	const { fixture } = scene;
	const time = noon + 0.456;
	await fixture.use(id(1), { time });
	await fixture.restart();
	assert.is(fixture.requests.find(id(1))?.time, noon);
	fixture.now += hourMs;
	await fixture.restart();
	assert.is(fixture.requests.find(id(1)), null);
	assert.is(fixture.requests.isForgotten(time), true);
	assert.is(fixture.requests.isForgotten(noon + 1), false);
});

test("what commits tell of is found, also by the process after, without a line in the log", async (scene) => {
	const { fixture } = scene;
	const use = { request: id(1), method: "", time: noon, outcome: "d".repeat(40) };
	fixture.requests.noteCommitted([use]);
	assert.equal(fixture.requests.find(id(1)), use);
	await fixture.restart();
	assert.is(fixture.requests.find(id(1)), null);
	fixture.commits = [use];
	await fixture.restart();
	assert.equal(fixture.requests.find(id(1)), use);
});

test("commits are read behind the last one whose requests a log has", async ({ fixture }) => {
	assert.equal(fixture.readSince, [null], "there is no log yet");
	fixture.now += 200_000;
	fixture.head = "b".repeat(40);
	await fixture.restart();
	assert.is(fixture.readSince.at(-1), "a".repeat(40));
	const use = { request: id(1), method: "", time: fixture.now, outcome: "d".repeat(40) };
	fixture.requests.noteCommitted([use], "e".repeat(40));
	await fixture.restart();
	assert.is(fixture.readSince.at(-1), "b".repeat(40), "the log is as old as the commit before");
	fixture.requests.noteCommitted([use], "e".repeat(40));
	fixture.now += 61_000;
	await fixture.use(id(2));
	await fixture.restart();
	assert.is(fixture.readSince.at(-1), "e".repeat(40));
	assert.equal(fixture.requests.find(id(1)), use, "a new log has it");
});

test("logs of earlier versions are read, and replaced", async ({ fixture }) => {
	await fixture.requests.close();
	const lines = [
		`forgotten ${noon - 9} ${noon - 5}`,
		`head ${"f".repeat(40)}`,
		`${id(1)} PUT 409 ${noon} ${noon}`,
	];
	await writeFile(join(fixture.folder, "000007.log"), `${lines.join("\n")}\n`);
	await fixture.open();
	for (const isAgain of [false, true]) {
		assert.is(fixture.requests.find(id(1))?.outcome, 409);
		assert.ok(fixture.requests.isForgotten(noon - 7));
		assert.equal(await fixture.files(), ["requests.log"]);
		if (!isAgain) await fixture.restart();
	}
});

for (const bytes of [1, 3, 20, 90])
	test(`a line that a power cut has cut off by ${bytes} bytes is ignored, and spoils no other`, async (scene) => {
		const { fixture } = scene;
		await fixture.use(id(1));
		await fixture.use(id(2));
		const path = join(fixture.folder, "requests.log");
		const text = await readFile(path, "utf8");
		await writeFile(path, text.slice(0, -bytes));
		await fixture.restart();
		assert.ok(fixture.requests.find(id(1)));
		assert.is(fixture.requests.find(id(2)), null);
		await fixture.use(id(3));
		await appendFile(join(fixture.folder, "stray.txt"), "not one of ours");
		await fixture.restart();
		assert.ok(fixture.requests.find(id(3)));
	});

test("files go once no request in them can be timely, and their number stays bounded", async (scene) => {
	const { fixture } = scene;
	for (let minute = 0; minute < 30; minute += 1) {
		await fixture.use(id(minute));
		fixture.now += 61_000;
	}
	await eventually(async () => (await fixture.files()).length <= 5);
	assert.ok(fixture.requests.find(id(29)));
	assert.is(fixture.requests.find(id(0)), null);
	await fixture.restart();
	assert.is(fixture.requests.find(id(0)), null);
});

test("a new log has its name on the disk before its uses are answered", async ({ fixture }) => {
	const path = join(fixture.folder, "requests.log");
	const seen: string[] = [];
	fixture.sync = async (folder) => {
		assert.is(folder, fixture.folder);
		seen.push(await readFile(path, "utf8"));
	};
	fixture.now += 61_000;
	await fixture.use(id(1));
	assert.is(seen.length, 1);
	assert.match(seen[0] ?? "", id(1));
});

test("a use is on the disk before it is answered", async ({ fixture }) => {
	const path = join(fixture.folder, "requests.log");
	const handle = await open(path);
	const prototype = Object.getPrototypeOf(handle);
	await handle.close();
	const { datasync } = prototype;
	const synced: string[] = [];
	prototype.datasync = async function (...args: unknown[]) {
		synced.push(await readFile(path, "utf8"));
		return datasync.apply(this, args);
	};
	try {
		await fixture.use(id(1));
		assert.is(synced.length, 1);
		assert.match(synced[0] ?? "", id(1));
	} finally {
		prototype.datasync = datasync;
	}
});

test("a use that cannot be written is not remembered, and can be written later", async ({ fixture }) => {
	fixture.sync = async () => {
		throw new Error("EIO: i/o error, fsync");
	};
	fixture.now += 61_000;
	const error = await fixture.use(id(1)).catch((reason) => reason);
	assert.match(String(error), "EIO");
	assert.is(fixture.requests.find(id(1)), null);
	fixture.sync = async () => undefined;
	await fixture.use(id(1), { outcome: 409 });
	assert.is(fixture.requests.find(id(1))?.outcome, 409);
	await fixture.restart();
	assert.is(fixture.requests.find(id(1))?.outcome, 409);
});

test("a clock that went back does not stop old requests from being forgotten", async ({ fixture }) => {
	await fixture.use(id(99));
	fixture.now -= 2 * hourMs;
	for (let minute = 0; minute < 30; minute += 1) {
		await fixture.use(id(minute), { time: fixture.now });
		fixture.now += 61_000;
	}
	await fixture.use(id(30), { time: fixture.now });
	assert.is(fixture.requests.find(id(0)), null);
	assert.ok(fixture.requests.isForgotten(noon - 2 * hourMs));
	assert.ok(fixture.requests.find(id(29)));
	assert.ok(fixture.requests.find(id(99)), "its time is not over");
});

test("what is signed ahead of the clock is kept until its own time is over", async ({ fixture }) => {
	await fixture.use(id(1), { time: noon + windowMs - 1 });
	fixture.now = noon + windowMs;
	await fixture.use(id(2));
	fixture.now = noon + 2 * windowMs - 2;
	await fixture.use(id(3));
	assert.ok(fixture.requests.find(id(1)));
});

test("times that touch are one range, and of too many the nearest become one", () => {
	const rangesOf = (text: string) =>
		words(text).map((range) => range.split("-").map(Number) as [number, number]);
	const joined = (text: string, most?: number) =>
		joinRanges(rangesOf(text), most)
			.map(([from, to]) => `${from}-${to}`)
			.join(" ");
	assert.is(joined("5-9 0-4 20-30 25-40 21-22"), "0-9 20-40");
	assert.is(joined("0-4 6-9"), "0-4 6-9");
	assert.is(joined("0-1 10-11 13-14 30-31", 3), "0-1 10-14 30-31");
	assert.equal(joinRanges([]), []);
});

test("many at once share their turns at the disk", async ({ fixture }) => {
	await Promise.all(Array.from({ length: 200 }, (_, index) => fixture.use(id(index))));
	await fixture.restart();
	for (let index = 0; index < 200; index += 1) assert.ok(fixture.requests.find(id(index)), String(index));
});

test.run();
