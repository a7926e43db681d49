import * as assert from "uvu/assert";
import { codeOf, sendBatch } from "../../../scripts/publish/send-batch.ts";
import type { Io } from "../../../system/terminal/io.ts";
import { manual } from "../../helpers/local.ts";
import { test } from "../../helpers/suite.ts";
import { type JsonAnswer, startJsonServer } from "../json-server.ts";

const accepted = { status: 201, body: {} };
const busy = { status: 503, body: { errors: ["busy"] } };

/**
 * Sends 20 layers to a service.
 * @param answer gets the number of the request, from 1
 */
async function sendTo(
	answer: (count: number, stop: () => void) => JsonAnswer | Promise<JsonAnswer>,
	pausesMs = [1, 1, 1, 1],
) {
	const ending = new AbortController();
	const printed: string[] = [];
	const keys: string[] = [];
	const stop = () => ending.abort();
	await using server = await startJsonServer(({ path }) => {
		keys.push(path.slice(path.lastIndexOf("/") + 1));
		return answer(keys.length, stop);
	});
	const io: Io = {
		print: (line) => void printed.push(line.replace(server.url, "URL")),
		warn: (line) => void printed.push(line.replace(server.url, "URL")),
		now: () => new Date(),
		ask: async () => null,
		interrupted: () => ending.signal,
	};
	const layers = new Map(Array.from({ length: 20 }, (_, at) => [`key-${at}`, Buffer.from(manual)]));
	const to = { url: server.url, sender: "jstest" };
	const result = await sendBatch(layers, to, { SENDER_SECRET: "x" }, io, { pausesMs, noteMs: 1 });
	return { code: codeOf(result), result, printed, keys };
}

const again = "Run it again: what is done already is skipped";

test("a batch says how far it is, and sends again what a service does not serve for a while", async () => {
	const { code, result, printed, keys } = await sendTo(async (count) => {
		if (count > 4 && count <= 20) return busy;
		await new Promise((resolve) => setTimeout(resolve, 5));
		return accepted;
	}, Array(20).fill(1));
	assert.is(code, 0);
	assert.is(result.changed.length, 20);
	assert.ok(printed.some((line) => /^\d+ of 20 sent$/.test(line)));
	assert.not.match(printed.join("\n"), "503", "a request that is sent again is no error");
	assert.is(new Set(keys).size, 20);
	assert.is(keys.length, 36);
});

test("a batch to a service that stays unreachable ends with what was done, what was not, and why", async () => {
	const { code, result, printed, keys } = await sendTo((count) => {
		if (count === 1) return { status: 403, body: { errors: ["not yours"] } };
		return count > 5 ? busy : accepted;
	});
	assert.is(code, 2);
	assert.is(result.changed.length, 4);
	assert.is(printed.at(-1), `the service does not answer, or cannot serve now: 15 layers not sent. ${again}`);
	assert.is(printed.filter((line) => /^503 from URL\/register\/key-/.test(line)).length, 1, "once");
	assert.ok(printed.includes("the service: not yours"));
	assert.ok(new Set(keys).size < 20, "others are not tried");
});

test("a batch that is interrupted ends with what was done and what was not", async () => {
	const { code, result, printed, keys } = await sendTo((count, stop) => {
		if (count === 3) stop();
		return accepted;
	});
	assert.is(code, 2);
	const done = keys.length;
	assert.ok(done >= 3 && done < 20);
	const left = `${20 - done} layers not sent. ${again}`;
	assert.is(result.changed.length, done);
	assert.is(printed.at(-1), `interrupted: ${left}`);
});

test("Ctrl-C ends the pause before another try", async () => {
	const { code, printed } = await sendTo(
		(count, stop) => {
			if (count === 8) stop();
			return busy;
		},
		[3_600_000],
	);
	assert.is(code, 2);
	assert.match(printed.at(-1) ?? "", `interrupted: 20 layers not sent. ${again}`);
});

test.run();
