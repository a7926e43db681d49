import * as assert from "uvu/assert";
import { type Answer, createAsk, type Trouble } from "../../../extensions/harvest/ask.ts";
import { FetchFailure } from "../../../extensions/harvest/net/failure.ts";
import { causeOf } from "../../../site/data/health.ts";
import { test } from "../../helpers/suite.ts";

type Step = number | [status: number, retryAfter: string] | "refused" | "reset" | "slow";

const failures = {
	refused: () => new FetchFailure("connect", causeOf("refused")),
	reset: () => new FetchFailure("network", causeOf("unreachable")),
	slow: () => new FetchFailure("time", causeOf("slow", 10)),
};

function scriptAnswers(steps: Record<string, Step[]>) {
	const [asked, waits, clock] = [[] as string[], [] as number[], { now: 0 }];
	const fetch = (async (input: string) => {
		const { pathname, host } = new URL(input);
		const name = host === "a.example" ? pathname.slice(1) : host;
		asked.push(name);
		const step = steps[name]?.shift();
		if (step === undefined) throw new Error(`unexpected request: ${input}`);
		if (typeof step === "string") throw failures[step]();
		const [status, after] = typeof step === "number" ? [step] : step;
		return new Response("{}", { status, headers: after === undefined ? {} : { "Retry-After": after } });
	}) as unknown as typeof globalThis.fetch;
	const ask = createAsk({ fetch, sleep: async (ms) => void waits.push(ms), now: () => clock.now });
	const at = async (name: string, signal?: AbortSignal) => {
		const answer = await ask(name.includes(".") ? `http://${name}/` : `http://a.example/${name}`, { signal });
		return answer.ok ? "ok" : `${answer.state}: ${(answer as Trouble).message}`;
	};
	return { ask, at, asked, waits, clock };
}

test("a busy service is asked three times, a broken one twice, any other once", async () => {
	const late = "down: did not answer completely within 10 s";
	type Row = [steps: Step[], outcome: string, waits?: number[]];
	const rows: Row[] = [
		[[503, 500, 200], "ok", [1000, 2000]],
		[[502, 502, 502], "down: answers with status 502", [1000, 2000]],
		[[[429, "7"], [429, "9999"], 200], "ok", [7000, 30000]],
		[[[429, "Wed, 21 Oct 2026 07:28:00 GMT"], [429, "-5"], 200], "ok", [1000, 2000]],
		[["reset", 200], "ok", [1000]],
		[["slow", 200], "ok", [1000]],
		[["slow", "slow"], late, [1000]],
		[["refused"], "down: refuses the connection"],
		...[404, 410].map((status): Row => [[status], `wrong: answers with status ${status}`]),
		...[401, 403].map((status): Row => [[status], `down: answers with status ${status}`]),
	];
	for (const [steps, outcome, waits = []] of rows) {
		const count = steps.length;
		const script = scriptAnswers({ x: steps });
		assert.equal([await script.at("x"), script.waits, script.asked.length], [outcome, waits, count]);
	}
	const caller = new AbortController();
	const aborting = createAsk({
		fetch: (async () => {
			caller.abort();
			return new Response("", { status: 503 });
		}) as unknown as typeof fetch,
	});
	assert.not(
		(await aborting("http://a.example/", { signal: caller.signal })).ok,
		"an abort ends the attempts",
	);
});

test("a host that misses three requests in a row is not asked for a minute", async () => {
	const steps: Record<string, Step[]> = { 1: ["refused"], 2: ["slow", "slow"], 3: ["refused"], 4: [200] };
	const { at, asked, clock } = scriptAnswers({ ...steps, "b.example": [200] });
	for (const name of ["1", "2", "3"]) assert.not.match(await at(name), "was not checked");
	clock.now = 59_999;
	assert.is(
		await at("4"),
		"down: was not checked, since its host failed for another address: refuses the connection",
	);
	assert.is(await at("b.example"), "ok");
	clock.now = 60_000;
	assert.equal([await at("4"), asked], ["ok", ["1", "2", "2", "3", "b.example", "4"]]);
});

test("at most four requests at a time, and one of each host", async () => {
	const running = new Map<string, number>();
	let most = 0;
	const ask = createAsk({
		fetch: (async (input: string) => {
			const { host } = new URL(input);
			running.set(host, (running.get(host) ?? 0) + 1);
			assert.is(running.get(host), 1, `two requests to ${host}`);
			most = Math.max(most, running.size);
			for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
			running.delete(host);
			return new Response("{}");
		}) as unknown as typeof fetch,
	});
	const addresses = Array.from({ length: 60 }, (_, at) => `http://host${Math.floor(at / 6)}.example/${at}`);
	const answers: Answer[] = await Promise.all(addresses.map((address) => ask(address)));
	assert.equal([answers.every(({ ok }) => ok), most], [true, 4]);
});

test.run();
