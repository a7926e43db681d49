// A process that sends signed PUTs as fast as a service answers. It reads an `Order` as JSON, and prints a `Sent` as JSON.
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { sign } from "../../api/signature.ts";
import { generateLayers } from "../layers.ts";

/** What to send. The secret is in here and not on the command line, which other users can see. */
export interface Order {
	url: string;
	sender: string;
	secret: string;
	/** Number of this order. It is written into the registrations, so that every PUT changes something. */
	order: number;
	count: number;
	/** Concurrent publishers, each on a connection of its own. */
	publishers: number;
}

/** The measured times. */
export interface Sent {
	/** Time from the first PUT to the last answer. */
	seconds: number;
	/** Time of each PUT until its answer, in the order of the answers. */
	milliseconds: number[];
}

/** A smallkey from a number's digits in reverse order, so that the smallkeys spread over the folders. */
function keyOf(index: number): string {
	return `${[...index.toString(36).padStart(4, "0")].reverse().join("")}-put`;
}

/** Signs and sends one PUT as a publisher does. @returns milliseconds until its answer */
async function put(agent: Agent, order: Order, registration: object, smallkey: string): Promise<number> {
	const { url, sender, secret } = order;
	const path = `/register/${smallkey}`;
	const timestamp = new Date().toISOString();
	const body = Buffer.from(JSON.stringify(registration));
	const signature = await sign(secret, { path, sender, timestamp, body });
	const headers = {
		Authorization: signature,
		TimeStamp: timestamp,
		Sender: sender,
		"Content-Length": body.length,
	};
	const start = performance.now();
	const sending = request(url + path, { agent, method: "PUT", headers });
	sending.end(body);
	const [answer] = (await once(sending, "response")) as [IncomingMessage];
	const answerText = await text(answer);
	if (answer.statusCode !== 201) throw new Error(`${smallkey}: ${answer.statusCode} ${answerText}`);
	return performance.now() - start;
}

async function send(order: Order): Promise<Sent> {
	const layers = [...generateLayers(order.count)];
	const milliseconds: number[] = [];
	let next = 0;
	const publish = async () => {
		const agent = new Agent({ keepAlive: true, maxSockets: 1 });
		for (let index = next++; index < layers.length; index = next++) {
			const { registration } = layers[index] as (typeof layers)[number];
			const en = { ...registration.en, service_name: `Published in order ${order.order}.` };
			milliseconds.push(await put(agent, order, { ...registration, en }, keyOf(index)));
		}
		agent.destroy();
	};
	const start = performance.now();
	await Promise.all(Array.from({ length: order.publishers }, publish));
	return { seconds: (performance.now() - start) / 1000, milliseconds };
}

process.stdout.write(JSON.stringify(await send(JSON.parse(await text(process.stdin)) as Order)));
