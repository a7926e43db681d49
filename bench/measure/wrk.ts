import { run } from "./process.ts";

/** Connections that ask at once, and seconds of one measurement. */
const connections = 64;
const seconds = 3;

/**
 * Requests per second that an address answers, every one of them with 200.
 * @throws {Error} where wrk is not installed, or an answer was another one
 */
export async function requestsPerSecond(url: string): Promise<number> {
	return figureOf(await runWrk(url), /^Requests\/sec:\s+([\d.]+)$/m);
}

/** Requests that an address answers in one measurement. */
export async function requestsIn(url: string): Promise<number> {
	return figureOf(await runWrk(url), /^\s*(\d+) requests in /m);
}

async function runWrk(url: string): Promise<string> {
	// A machine with other work may take longer than its two seconds.
	const patience = ["--timeout", "30s"];
	const args = ["-t1", `-c${connections}`, `-d${seconds}s`, ...patience, url];
	const printed = await run("wrk", args).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") throw new Error("wrk is not installed: apt-get install wrk");
		throw error;
	});
	if (/Non-2xx|Socket errors/.test(printed)) throw new Error(`wrk: ${url}: ${printed}`);
	return printed;
}

function figureOf(printed: string, pattern: RegExp): number {
	const found = pattern.exec(printed)?.[1];
	if (found === undefined) throw new Error(`wrk: printed no figure: ${printed}`);
	return Number(found);
}
