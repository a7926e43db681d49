import { run } from "./process.ts";

/** Concurrent connections, and seconds of one measurement. */
const connections = 64;
const seconds = 3;

/**
 * Requests an address as fast as it answers. Every answer must be 200.
 * @returns the number of answers, and the answers per second
 * @throws {Error} if wrk is not installed, or an answer is not 200
 */
export async function wrk(url: string): Promise<{ requests: number; perSecond: number }> {
	// The default time-out, two seconds, is too short for a machine with other work.
	const timeout = ["--timeout", "30s"];
	const args = ["-t1", `-c${connections}`, `-d${seconds}s`, ...timeout, url];
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
