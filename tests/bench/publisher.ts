// A process that sends signed PUTs as fast as a service answers. It reads an `Order` as JSON, and prints a `Sent` as JSON.
import { text } from "node:stream/consumers";
import { Pool } from "undici";
import { sign } from "../../api/senders.ts";

/** What to send. The secret is in here and not on the command line, which other users can see. */
export interface Order {
	/** Address of the service, with its base path and without a slash at the end. */
	url: string;
	sender: string;
	secret: string;
	/** Concurrent publishers, each on a connection of its own. */
	publishers: number;
	/** Path below the service's address, and payload. */
	puts: [path: string, body: string][];
}

/** The measured times. */
export interface Sent {
	/** Time from the first PUT to the last answer. */
	seconds: number;
	/** Time of each PUT until its answer, in the order of the answers. */
	milliseconds: number[];
}

async function send({ url, secret, sender, publishers, puts }: Order): Promise<Sent> {
	const { origin, pathname } = new URL(url);
	const pool = new Pool(origin, { connections: publishers });
	const milliseconds: number[] = [];
	const waiting = puts.values();
	const publish = async () => {
		// All publishers take their payloads from the same iterator. Each signs as it sends.
		for (const [below, payload] of waiting) {
			const path = pathname.replace(/\/$/, "") + below;
			const timestamp = new Date().toISOString();
			const body = Buffer.from(payload);
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
