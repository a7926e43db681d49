// A process that sends signed PUTs as fast as a service takes them. Reads one JSON document, prints one.
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { sign } from "../../api/signature.ts";
import { generateLayers } from "../layers.ts";
import { Connection } from "./connection.ts";

/** What to send. The secret comes this way and not as a word of the command line, which others can see. */
export interface Order {
	url: string;
	sender: string;
	secret: string;
	/** Number of this order, which is part of the registrations, so that every PUT changes something. */
	order: number;
	count: number;
	/** Publishers at once, each on a connection of its own. */
	publishers: number;
	/** Whether each is read at once after its 201. */
	readBack: boolean;
	/** Whether each is signed as it is sent, with Node's own client, as a publisher does; otherwise all ahead. */
	signsAsItSends?: boolean;
}

/** What came of it. */
export interface Sent {
	/** From the first PUT to the last answer. */
	seconds: number;
	/** Of each PUT until its answer, in milliseconds, in the order of the answers. */
	milliseconds: number[];
	/** Number of PUTs whose new fragment was not there after the 201. */
	misses: number;
}

type GeneratedLayer = ReturnType<typeof generateLayers> extends Generator<infer Layer> ? Layer : never;

/** A PUT that gets signed. */
interface SignedPut {
	smallkey: string;
	path: string;
	headers: Record<string, string>;
	body: Uint8Array;
}

interface Put {
	smallkey: string;
	/** The whole request as it is sent. */
	request: Uint8Array;
}

/** Smallkeys that spread over the folders as the catalogue's do: the digits of a number, turned round. */
function keyOf(index: number): string {
	return `${[...index.toString(36).padStart(4, "0")].reverse().join("")}-put`;
}

function nameOf(order: Order): string {
	return `Published in order ${order.order}.`;
}

/** What one PUT says, signed now. */
async function signPut(order: Order, { registration }: GeneratedLayer, index: number): Promise<SignedPut> {
	const smallkey = keyOf(index);
	const path = `/register/${smallkey}`;
	const timestamp = new Date().toISOString();
	const en = { ...registration.en, service_name: nameOf(order) };
	const body = Buffer.from(JSON.stringify({ ...registration, en }));
	const authorization = await sign(order.secret, { path, sender: order.sender, timestamp, body });
	const headers = {
		Authorization: authorization,
		TimeStamp: timestamp,
		Sender: order.sender,
		"Content-Length": String(body.length),
	};
	return { smallkey, path, headers, body };
}

/** Signs all of them ahead: the publishers share this machine with the service. */
async function signPuts(order: Order): Promise<Put[]> {
	const { host } = new URL(order.url);
	const puts: Put[] = [];
	for (const layer of generateLayers(order.count)) {
		const { smallkey, path, headers, body } = await signPut(order, layer, puts.length);
		const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
		const head = [`PUT ${path} HTTP/1.1`, `Host: ${host}`, ...lines];
		puts.push({ smallkey, request: Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]) });
	}
	return puts;
}

/** Sends one PUT as a publisher does; its status. */
async function sendPut(agent: Agent, url: string, { path, headers, body }: SignedPut): Promise<number> {
	const sending = request(url + path, { agent, method: "PUT", headers });
	sending.end(body);
	const [answer] = (await once(sending, "response")) as [IncomingMessage];
	await text(answer);
	return answer.statusCode ?? 0;
}

/** Sends PUTs that are signed one by one. */
async function sendSigning(order: Order): Promise<Sent> {
	const layers = [...generateLayers(order.count)];
	const milliseconds: number[] = [];
	let next = 0;
	const publish = async () => {
		const agent = new Agent({ keepAlive: true, maxSockets: 1 });
		for (let index = next++; index < layers.length; index = next++) {
			const put = await signPut(order, layers[index] as GeneratedLayer, index);
			const start = performance.now();
			const status = await sendPut(agent, order.url, put);
			milliseconds.push(performance.now() - start);
			if (status !== 201) throw new Error(`${put.smallkey}: ${status}`);
		}
		agent.destroy();
	};
	const start = performance.now();
	await Promise.all(Array.from({ length: order.publishers }, publish));
	return { seconds: (performance.now() - start) / 1000, milliseconds, misses: 0 };
}

async function send(order: Order): Promise<Sent> {
	const puts = await signPuts(order);
	const connections = await Promise.all(
		Array.from({ length: order.publishers }, () => Connection.open(order.url)),
	);
	const milliseconds: number[] = [];
	let misses = 0;
	let next = 0;
	const publish = async (connection: Connection) => {
		for (let put = puts[next++]; put; put = puts[next++]) {
			const start = performance.now();
			const { status, body } = await connection.send(put.request);
			milliseconds.push(performance.now() - start);
			if (status !== 201) throw new Error(`${put.smallkey}: ${status} ${body}`);
			if (order.readBack && !(await isThere(connection, put.smallkey, order))) misses += 1;
		}
	};
	const start = performance.now();
	await Promise.all(connections.map(publish));
	const seconds = (performance.now() - start) / 1000;
	for (const connection of connections) connection.close();
	return { seconds, milliseconds, misses };
}

async function isThere(connection: Connection, smallkey: string, order: Order): Promise<boolean> {
	const head = `GET /v0.9/doc/en/${smallkey} HTTP/1.1\r\nHost: ${new URL(order.url).host}\r\n\r\n`;
	const { status, body } = await connection.send(Buffer.from(head));
	return status === 200 && body.includes(`"${nameOf(order)}"`);
}

async function main(): Promise<void> {
	const order = JSON.parse(await text(process.stdin)) as Order;
	const sent = await (order.signsAsItSends ? sendSigning(order) : send(order));
	if (!process.stdout.write(JSON.stringify(sent))) await once(process.stdout, "drain");
}

main().catch((error: Error) => {
	console.error(error.message);
	process.exitCode = 1;
});
