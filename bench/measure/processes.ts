import { readFileSync } from "node:fs";
import { descendantsOf } from "../../tests/process.ts";

/** Clock ticks per second of the times in /proc (`getconf CLK_TCK`; 100 on every Linux of today). */
const ticksPerSecond = 100;

/** A process and its running descendants. */
export function familyOf(pid: number): number[] {
	return [pid, ...descendantsOf(pid)];
}

/** Sums a figure of a process's files in /proc over its family; a process that has ended has none. */
function sumOf(pid: number, file: string, figureOf: (text: string) => number): number {
	let sum = 0;
	for (const member of familyOf(pid)) {
		try {
			sum += figureOf(readFileSync(`/proc/${member}/${file}`, "latin1"));
		} catch {
			// The process has ended.
		}
	}
	return sum;
}

/** CPU seconds (user and system) of a process and its descendants, also of those that have ended. */
export function cpuSeconds(pid: number): number {
	return sumOf(pid, "stat", (text) => {
		// The fields after the name, which may have spaces. utime and stime are of the process, then of its ended children.
		const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
		return fields.slice(11, 15).reduce((ticks, field) => ticks + Number(field), 0) / ticksPerSecond;
	});
}

const memoryIntervalMs = 200;

/**
 * The maximum of memory of a process and its descendants during a task, in megabytes. Pages that several share are counted
 * once (PSS).
 */
export async function maxMegabytes(pid: number, task: () => Promise<unknown>): Promise<number> {
	const pss = (text: string) => (Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024) / 1_000_000;
	let max = 0;
	const look = () => {
		max = Math.max(max, sumOf(pid, "smaps_rollup", pss));
	};
	look();
	const timer = setInterval(look, memoryIntervalMs);
	await task().finally(() => clearInterval(timer));
	return max;
}
