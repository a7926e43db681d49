// A process that sends signed PUTs as fast as a service answers. It reads an `Order` as JSON, and prints a `Sent` as JSON.
import { text } from "node:stream/consumers";
import { Pool } from "undici";
import { sign } from "../../api/senders.ts";
import { generateLayers, renamed } from "./layers.ts";

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

async function send({ url, sender, secret, order, count, publishers }: Order): Promise<Sent> {
	const layers = [...generateLayers(count)].values();
	const pool = new Pool(url, { connections: publishers });
	const milliseconds: number[] = [];
	const publish = async () => {
		// All publishers take their layers from the same iterator. Each signs as it sends.
		for (const { smallkey, registration } of layers) {
			const path = `/register/${smallkey}`;
			const timestamp = new Date().toISOString();
			const body = Buffer.from(JSON.stringify(renamed(registration, `Published in order ${order}.`)));
			const signature = await sign(secret, { path, sender, timestamp, body });
			const headers = { Authorization: signature, TimeStamp: timestamp, Sender: sender };
			const start = performance.now();
			const answer = await pool.request({ path, method: "PUT", headers, body });
			const receipt = await answer.body.text();
			if (answer.statusCode !== 201) throw new Error(`${path}: ${answer.statusCode} ${receipt}`);
			milliseconds.push(performance.now() - start);
		}
	};
	const start = performance.now();
	await Promise.all(Array.from({ length: publishers }, publish));
	const seconds = (performance.now() - start) / 1000;
	await pool.close();
	return { seconds, milliseconds };
}

process.stdout.write(JSON.stringify(await send(JSON.parse(await text(process.stdin)) as Order)));
