// Readers that ask for one address again and again until standard input ends. Prints how long answers took, as JSON.
import { once } from "node:events";
import { Pool } from "undici";

/** What readers met. */
export interface Met {
	requests: number;
	/** Milliseconds of the slowest of a thousand answers, and of the slowest of all. */
	slowOfThousand: number;
	slowest: number;
}

const [address = "", readers = "8"] = process.argv.slice(2);
const { origin, pathname } = new URL(address);
const pool = new Pool(origin, { connections: Number(readers), pipelining: 1 });
const milliseconds: number[] = [];
let isOver = false;
process.stdin.resume();
void once(process.stdin, "end").then(() => {
	isOver = true;
});
console.log("reading");

async function read(): Promise<void> {
	while (!isOver) {
		const start = performance.now();
		const { statusCode, body } = await pool.request({ path: pathname, method: "GET" });
		await body.dump();
		if (statusCode !== 200) throw new Error(`${address}: ${statusCode}`);
		milliseconds.push(performance.now() - start);
	}
}

await Promise.all(Array.from({ length: Number(readers) }, read));
await pool.close();
const sorted = Float64Array.from(milliseconds).sort();
const met: Met = {
	requests: sorted.length,
	slowOfThousand: sorted[Math.floor((sorted.length - 1) * 0.999)] ?? 0,
	slowest: sorted.at(-1) ?? 0,
};
console.log(JSON.stringify(met));
