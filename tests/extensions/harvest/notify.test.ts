import * as assert from "uvu/assert";
import { messageOf, verify } from "../../../api/senders.ts";
import { createNotifier, type Notice } from "../../../extensions/harvest/harvester/health-checks.ts";
import { test } from "../../helpers/suite.ts";

const secret = "notify-secret";
const target = { url: "https://hooks.example.org/maps/notices", secret };
const now = () => new Date("2026-03-04T12:00:00Z");
const sick: Notice = { event: "sick", layers: [{ smallkey: "roads", state: "down", since: "2026-W10" }] };

interface Sent {
	url: string;
	method: string | undefined;
	headers: Record<string, string>;
	body: Uint8Array;
}

/** A notifier whose requests get these statuses in turn; 0: no answer. */
function notifierWith(statuses: number[]) {
	const [sent, pauses, warned] = [[] as Sent[], [] as number[], [] as string[]];
	const notifier = createNotifier({
		...{ target, now },
		warn: (line) => warned.push(line),
		pause: async (ms) => pauses.push(ms),
		fetch: async (url, { method, headers, body } = {}) => {
			sent.push({ url: String(url), method, headers: headers as Sent["headers"], body: body as Uint8Array });
			const status = statuses.shift() ?? 0;
			if (status === 0) throw new Error("refuses the connection");
			return new Response(null, { status });
		},
	});
	return { notifier, sent, pauses, warned };
}

test("a notice is signed as a PUT is, and small", async () => {
	const { notifier, sent, warned } = notifierWith([204]);
	await notifier.notify(sick);
	const [{ url, method, headers, body } = {} as Sent] = sent;
	assert.equal([url, method, sent.length], [target.url, "POST", 1]);
	assert.equal(JSON.parse(new TextDecoder().decode(body)), sick);
	const { Authorization: signature = "", TimeStamp: timestamp = "", Sender: sender = "" } = headers;
	const message = messageOf({ path: "/maps/notices", sender, timestamp, body });
	assert.ok(await verify(secret, message, signature));
	assert.equal([timestamp, sender, warned], ["2026-03-04T12:00:00.000Z", "fragment-publisher", []]);
	const layers = Array.from({ length: 5_000 }, (_, at) => ({ smallkey: `k${at}`, since: "2026-03-04" }));
	const many = notifierWith([200]);
	await many.notifier.notify({ event: "proof", layers });
	assert.is(JSON.parse(new TextDecoder().decode(many.sent[0]?.body)).layers.length, 100);
});

test("a notice without an answer is tried again, and the others follow in order", async () => {
	const { notifier, sent, pauses, warned } = notifierWith([503, 0, 200, 200]);
	const repairs = [{ branch: "repair/roads", sure: "same" as const, smallkeys: ["roads"] }];
	await Promise.all([notifier.notify(sick), notifier.notify({ event: "repair", repairs })]);
	const events = sent.map(({ body }) => JSON.parse(new TextDecoder().decode(body)).event);
	assert.equal(events, ["sick", "sick", "sick", "repair"]);
	assert.equal([pauses, warned], [[1_000, 10_000], []]);
});

test("a notice that is never delivered is a line in the log without the address", async () => {
	const { notifier, sent, warned } = notifierWith([404, 404, 404, 404, 0]);
	await notifier.notify(sick);
	assert.is(sent.length, 5);
	assert.equal(warned, ["NOTIFY_URL: a notice (sick) was not delivered: refuses the connection"]);
	await notifier.notify({ event: "sick", layers: [] });
	notifier.close();
	await notifier.notify(sick);
	assert.is(sent.length, 5, "nothing is sent about nothing, or after the end");
});

test.run();
