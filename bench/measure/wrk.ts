import { run } from "./process.ts";

/** Connections that ask at once, and seconds of one measurement. */
const connections = 64;
const seconds = 3;

/**
 * Asks an address as fast as it answers, every time with 200.
 * @returns the answers of one measurement, and those of a second
 * @throws {Error} if wrk is not installed, or an answer was another one
 */
export async function wrk(url: string): Promise<{ requests: number; perSecond: number }> {
	// A machine with other work may take longer than its two seconds.
	const patience = ["--timeout", "30s"];
	const args = ["-t1", `-c${connections}`, `-d${seconds}s`, ...patience, url];
	const printed = await run("wrk", args).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") throw new Error("wrk is not installed: apt-get install wrk");
		throw error;
	});
	const requests = /^\s*(\d+) requests in /m.exec(printed)?.[1];
	const perSecond = /^Requests\/sec:\s+([\d.]+)$/m.exec(printed)?.[1];
	if (/Non-2xx|Socket errors/.test(printed) || requests === undefined || perSecond === undefined)
		throw new Error(`wrk: ${url}: ${printed}`);
	return { requests: Number(requests), perSecond: Number(perSecond) };
}
