import * as assert from "uvu/assert";
import type { Io } from "../../../api/configuration.ts";
import { codeOf, sendBatch } from "../../../scripts/send/send-batch.ts";
import { manual } from "../../helpers/local.ts";
import { test } from "../../helpers/suite.ts";
import { type JsonAnswer, startJsonServer } from "../json-server.ts";

const accepted = { status: 201, body: {} };
const busy = { status: 503, body: { errors: ["busy"] } };
const again = "Run it again: what is done already is skipped";

/** Sends 20 layers to a service. @param answer gets the number of the request, from 1 */
async function sendTo(answer: (count: number, stop: () => void) => JsonAnswer, pausesMs = [1, 1, 1, 1]) {
	const ending = new AbortController();
	const printed: string[] = [];
	const keys: string[] = [];
	await using server = await startJsonServer(({ path }) => {
		keys.push(path.slice(path.lastIndexOf("/") + 1));
		return answer(keys.length, () => ending.abort());
	});
	const print = (line: string) => void printed.push(line.replace(server.url, "URL"));
	const io: Io = {
		print,
		warn: print,
		now: () => new Date(),
		ask: async () => null,
		interrupted: () => ending.signal,
	};
	const layers = new Map(Array.from({ length: 20 }, (_, at) => [`key-${at}`, JSON.parse(manual)]));
	const to = { url: server.url };
	const result = await sendBatch(layers, to, { sender: "jstest", secret: "x", place: "" }, io, pausesMs);
	return { code: codeOf(result), changed: result.changed.length, printed, keys };
}

test("a batch sends again what a service does not serve for a while", async () => {
	const answer = (count: number) => (count > 4 && count <= 20 ? busy : accepted);
	const { code, changed, printed, keys } = await sendTo(answer, Array(20).fill(1));
	assert.equal([code, changed, new Set(keys).size, keys.length], [0, 20, 20, 36]);
	assert.not.match(printed.join("\n"), "503", "a request that is sent again is no error");
});

test("a batch waits as long as the service asks", async () => {
	let endMs = 0;
	const { code, changed } = await sendTo(() => {
		endMs ||= performance.now() + 100;
		return performance.now() < endMs ? { ...busy, headers: { "Retry-After": "0.2" } } : accepted;
	}, [1]);
	assert.equal([code, changed], [0, 20]);
});

test("a batch to a service that stays unreachable says what was done, and why not all", async () => {
	const { code, changed, printed, keys } = await sendTo((count) => {
		if (count === 1) return { status: 403, body: { errors: ["not yours"] } };
		return count > 5 ? busy : accepted;
	});
	assert.equal([code, changed], [2, 4]);
	assert.is(printed.at(-1), `the service does not answer, or cannot serve now: 15 layers not sent. ${again}`);
	assert.is(printed.filter((line) => /^503 from URL\/register\/key-/.test(line)).length, 1, "once");
	assert.ok(printed.includes("the service: not yours"));
	assert.ok(new Set(keys).size < 20, "others are not tried");
});

test("Ctrl-C ends a batch, and the pause before another try", async () => {
	const { code, changed, printed, keys } = await sendTo((count, stop) => {
		if (count === 3) stop();
		return accepted;
	});
	assert.equal([code, changed], [2, keys.length]);
	assert.is(printed.at(-1), `interrupted: ${20 - keys.length} layers not sent. ${again}`);
	const paused = await sendTo(
		(count, stop) => {
			if (count === 8) stop();
			return busy;
		},
		[3_600_000],
	);
	assert.is(paused.code, 2);
	assert.match(paused.printed.at(-1) ?? "", `interrupted: 20 layers not sent. ${again}`);
});

test.run();
