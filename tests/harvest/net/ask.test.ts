import * as assert from "uvu/assert";
import { Trouble } from "../../../harvest/finding.ts";
import { type Answer, createAsk } from "../../../harvest/net/ask.ts";
import { FetchFailure } from "../../../harvest/net/failure.ts";
import { causeOf } from "../../../registry/causes.ts";
import { test } from "../../helpers/suite.ts";

/** An ask whose services answer from a list, each URL's answers in turn; its waits are noted and take no time. */
function scripted(answers: Record<string, (() => Response | Promise<Response>)[]>) {
	const asked: string[] = [];
	const waits: number[] = [];
	const clock = { now: 0 };
	const fetch = (async (input: string) => {
		asked.push(input);
		const next = answers[input]?.shift();
		if (!next) throw new Error(`unexpected request: ${input}`);
		return next();
	}) as unknown as typeof globalThis.fetch;
	const sleep = async (ms: number) => {
		waits.push(ms);
	};
	return { ask: createAsk({ fetch, sleep, now: () => clock.now }), asked, waits, clock };
}

function assertTrouble(answer: Answer, state: string, text: string, code: number | null): void {
	assert.ok(answer instanceof Trouble);
	const { message, status, tooLarge } = answer;
	assert.equal([answer.state, message, status, tooLarge], [state, text, code, false]);
}

const ok = () => new Response("{}");
const refuse =
	(status: number, headers: Record<string, string> = {}) =>
	() =>
		new Response("", { status, headers });
const dead = () => {
	throw new FetchFailure("connect", causeOf("refused"));
};
const reset = () => {
	throw new FetchFailure("network", causeOf("broken-off"));
};
const slow = () => {
	throw new FetchFailure("time", causeOf("slow", 10));
};

test("a busy service is asked three times, after longer and longer pauses", async () => {
	const { ask, asked, waits } = scripted({ "http://a.example/": [refuse(503), refuse(500), ok] });
	assert.ok((await ask("http://a.example/")).ok);
	assert.is(asked.length, 3);
	assert.equal(waits, [1000, 2000]);
	const never = scripted({ "http://a.example/": [refuse(502), refuse(502), refuse(502)] });
	const answer = await never.ask("http://a.example/");
	assertTrouble(answer, "down", "answers with status 502", 502);
	assert.is(never.asked.length, 3);
});

test("a pause that the service asks for is kept, within bounds", async () => {
	const later = (seconds: string) => refuse(429, { "Retry-After": seconds });
	const { ask, waits } = scripted({ "http://a.example/": [later("7"), later("9999"), ok] });
	assert.ok((await ask("http://a.example/")).ok);
	assert.equal(waits, [7000, 30000]);
	const odd = scripted({ "http://a.example/": [later("Wed, 21 Oct 2026 07:28:00 GMT"), later("-5"), ok] });
	assert.ok((await odd.ask("http://a.example/")).ok);
	assert.equal(odd.waits, [1000, 2000]);
});

test("an address that is 404 is requested once, and is the registration's fault", async () => {
	for (const [status, state] of [
		[404, "wrong"],
		[410, "wrong"],
		[403, "down"],
		[401, "down"],
	] as const) {
		const { ask, asked } = scripted({ "http://a.example/": [refuse(status)] });
		assertTrouble(await ask("http://a.example/"), state, `answers with status ${status}`, status);
		assert.is(asked.length, 1);
	}
});

test("a connection that breaks off and an answer that is late are asked for once more", async () => {
	for (const failing of [reset, slow]) {
		const { ask, asked, waits } = scripted({ "http://a.example/": [failing, ok] });
		assert.ok((await ask("http://a.example/")).ok);
		assert.is(asked.length, 2);
		assert.equal(waits, [1000]);
		const never = scripted({ "http://a.example/": [failing, failing] });
		assert.not((await never.ask("http://a.example/")).ok);
		assert.is(never.asked.length, 2);
	}
});

test("an answer that breaks off while it is read is asked for once more", async () => {
	const broken = () => {
		const body = new ReadableStream({
			pull: (stream) => stream.error(new FetchFailure("network", causeOf("broken-off"))),
		});
		return new Response(body);
	};
	const { ask, asked } = scripted({ "http://a.example/": [broken, ok] });
	assert.ok((await ask("http://a.example/")).ok);
	assert.is(asked.length, 2);
});

test("one slow path does not suspend its host; three failures in a row do", async () => {
	const urlOf = (path: number) => `http://a.example/${path}`;
	const { ask, asked, clock } = scripted({
		[urlOf(1)]: [slow, slow],
		[urlOf(2)]: [reset, slow],
		[urlOf(3)]: [refuse(404)],
		[urlOf(4)]: [slow, slow],
		[urlOf(5)]: [slow, slow],
		[urlOf(6)]: [reset, reset],
		[urlOf(7)]: [ok],
	});
	for (const path of [1, 2, 3, 4, 5, 6]) {
		assert.not((await ask(urlOf(path))).ok);
		assert.ok(asked.includes(urlOf(path)), `${path} was asked for`);
	}
	assert.not((await ask(urlOf(7))).ok);
	assert.not(asked.includes(urlOf(7)));
	clock.now = 60_001;
	assert.ok((await ask(urlOf(7))).ok);
});

test("addresses at which a host hangs do not keep its others from being asked", async () => {
	const urlOf = (path: string | number) => `http://a.example/${path}`;
	const hanging = [1, 2, 3, 4, 5].map(urlOf);
	const late = Object.fromEntries(hanging.map((url) => [url, Array(20).fill(slow)]));
	const { ask, asked, clock } = scripted({ ...late, [urlOf("well")]: [ok, ok] });
	const round = async () => {
		const answers: Answer[] = [];
		for (const url of [...hanging, urlOf("well")]) answers.push(await ask(url));
		clock.now += 60_001;
		return answers.map((answer) => (answer.ok ? "well" : (answer as Trouble).message));
	};
	const own = "did not answer completely within 10 s";
	const other = `was not asked yet, since its host failed for another address: ${own}`;
	assert.equal(await round(), [own, own, own, other, other, other]);
	assert.equal(await round(), [own, own, own, own, own, "well"], "each with its own state");
	assert.equal([...new Set(asked)], [...hanging, urlOf("well")]);
	assert.is(asked.length, 2 * 5 + 1, "those that hang wait");
	assert.is((await round())[0], own);
	assert.is(asked.filter((url) => url === hanging[0]).length, 4, "and are asked again, later");
});

test("an address that hangs does not wait for ever for one that is not asked for again", async () => {
	const urlOf = (path: number) => `http://a.example/${path}`;
	const hanging = [1, 2, 3].map(urlOf);
	const late = Object.fromEntries(hanging.map((url) => [url, [slow, slow, ok]]));
	const { ask, clock } = scripted(late);
	for (const url of [...hanging, urlOf(9)]) assert.not((await ask(url)).ok);
	clock.now = 60_001;
	assert.not((await ask(urlOf(1))).ok);
	clock.now = 1_800_002;
	assert.ok((await ask(urlOf(1))).ok);
});

test("a host that does not answer is left alone for a minute, its neighbours are not", async () => {
	const { ask, asked, clock } = scripted({
		"http://dead.example/1": [dead, ok],
		"http://alive.example/": [ok],
	});
	assert.not((await ask("http://dead.example/1")).ok);
	const second = await ask("http://dead.example/2");
	const reason = "was not asked yet, since its host failed for another address: refuses the connection";
	assertTrouble(second, "down", reason, null);
	assert.ok((await ask("http://alive.example/")).ok);
	assert.equal(asked, ["http://dead.example/1", "http://alive.example/"]);
	clock.now = 60_001;
	assert.ok((await ask("http://dead.example/1")).ok);
});

test("at most four requests at a time, and one of each host", async () => {
	const underWay = new Map<string, number>();
	let most = 0;
	const fetch = (async (input: string) => {
		const { host } = new URL(input);
		underWay.set(host, (underWay.get(host) ?? 0) + 1);
		assert.is(underWay.get(host), 1, `two requests to ${host}`);
		most = Math.max(most, underWay.size);
		for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
		underWay.delete(host);
		return ok();
	}) as unknown as typeof globalThis.fetch;
	const ask = createAsk({ fetch });
	// Six of one host after the other: more than four requests could go to it at once.
	const hostOf = (index: number) => `host${Math.floor(index / 6)}.example`;
	const addresses = Array.from({ length: 60 }, (_, index) => `http://${hostOf(index)}/${index}`);
	const answers = await Promise.all(addresses.map((address) => ask(address)));
	assert.ok(answers.every((answer) => answer.ok));
	assert.is(most, 4);
});

test("an abort ends the asking, also between two attempts", async () => {
	const caller = new AbortController();
	const abort = () => {
		caller.abort();
		return refuse(503)();
	};
	const { ask, asked } = scripted({ "http://a.example/": [abort, ok] });
	assert.not((await ask("http://a.example/", caller.signal)).ok);
	assert.is(asked.length, 1);
});

test("an error of the program is not taken for an answer", async () => {
	await scripted({})
		.ask("http://a.example/")
		.then(
			() => assert.unreachable(),
			(error) => assert.match(error.message, "unexpected request"),
		);
});

test.run();
