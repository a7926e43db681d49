// A process that sends signed PUTs as fast as a service takes them. Reads one JSON document, prints one.
import { once } from "node:events";
import { text } from "node:stream/consumers";
import pMap from "p-map";
import { Pool } from "undici";
import { sign } from "../../api/signature.ts";
import { generateLayers } from "../layers.ts";

/** What to send. The secret comes this way and not as a word of the command line, which others can see. */
export interface Order {
	url: string;
	sender: string;
	secret: string;
	/** Number of this order: it stands in what is registered, so that every PUT changes something. */
	order: number;
	count: number;
	/** Publishers at once, each on a connection of its own. */
	publishers: number;
	/** Whether each is read at once after its 201. */
	readBack: boolean;
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

interface Put {
	smallkey: string;
	path: string;
	headers: Record<string, string>;
	body: string;
}

/** Smallkeys that spread over the folders as the catalogue's do: the digits of a number, turned round. */
function keyOf(index: number): string {
	return `${[...index.toString(36).padStart(4, "0")].reverse().join("")}-put`;
}

function nameOf(order: Order): string {
	return `Published in order ${order.order}.`;
}

/** Signs all of them ahead: the sender shares this machine with the service. */
async function makePuts(order: Order): Promise<Put[]> {
	const encoder = new TextEncoder();
	const puts: Put[] = [];
	for (const { registration } of generateLayers(order.count)) {
		const smallkey = keyOf(puts.length);
		const path = `/register/${smallkey}`;
		const timestamp = new Date().toISOString();
		const en = { ...registration.en, service_name: nameOf(order) };
		const body = JSON.stringify({ ...registration, en });
		const signed = { path, sender: order.sender, timestamp, body: encoder.encode(body) };
		const authorization = await sign(order.secret, signed);
		puts.push({ smallkey, path, headers: { authorization, timestamp, sender: order.sender }, body });
	}
	return puts;
}

async function send(order: Order): Promise<Sent> {
	const puts = await makePuts(order);
	const pool = new Pool(order.url, { connections: order.publishers, pipelining: 1 });
	const milliseconds: number[] = [];
	let misses = 0;
	const publish = async (put: Put) => {
		const start = performance.now();
		const answer = await pool.request({
			method: "PUT",
			path: put.path,
			headers: put.headers,
			body: put.body,
		});
		const receipt = await answer.body.text();
		milliseconds.push(performance.now() - start);
		if (answer.statusCode !== 201) throw new Error(`${put.path}: ${answer.statusCode} ${receipt}`);
		if (order.readBack && !(await isThere(pool, put.smallkey, nameOf(order)))) misses += 1;
	};
	const start = performance.now();
	await pMap(puts, publish, { concurrency: order.publishers });
	const seconds = (performance.now() - start) / 1000;
	await pool.close();
	return { seconds, milliseconds, misses };
}

async function isThere(pool: Pool, smallkey: string, name: string): Promise<boolean> {
	const { statusCode, body } = await pool.request({ method: "GET", path: `/v0.9/doc/en/${smallkey}` });
	return (await body.text()).includes(`"${name}"`) && statusCode === 200;
}

async function main(): Promise<void> {
	const sent = await send(JSON.parse(await text(process.stdin)) as Order);
	if (!process.stdout.write(JSON.stringify(sent))) await once(process.stdout, "drain");
}

main().catch((error: Error) => {
	console.error(error.message);
	process.exitCode = 1;
});
