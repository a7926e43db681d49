import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks per second of the times in /proc (`getconf CLK_TCK`; 100 on every Linux of today). */
const ticksPerSecond = 100;

/** Reads the fields of /proc/<pid>/stat after the name, which may have spaces; null if the process has ended. */
function statOf(pid: number): string[] | null {
	try {
		const text = readFileSync(`/proc/${pid}/stat`, "latin1");
		return text.slice(text.lastIndexOf(")") + 2).split(" ");
	} catch {
		return null;
	}
}

/** A process and its running descendants. */
export function familyOf(pid: number): number[] {
	const parents = new Map<number, number>();
	for (const name of readdirSync("/proc")) {
		const fields = /^\d+$/.test(name) ? statOf(Number(name)) : null;
		if (fields) parents.set(Number(name), Number(fields[1]));
	}
	const family = [pid];
	for (const member of family) {
		for (const [child, parent] of parents) if (parent === member) family.push(child);
	}
	return family;
}

/** CPU seconds (user and system) of a process and its descendants, also of those that have ended. */
export function cpuSeconds(pid: number): number {
	let ticks = 0;
	for (const member of familyOf(pid)) {
		const fields = statOf(member);
		if (!fields) continue;
		// utime and stime of the process itself, then of its children that have ended.
		for (const field of fields.slice(11, 15)) ticks += Number(field);
	}
	return ticks / ticksPerSecond;
}

/** Megabytes of a process and its descendants; pages that several share are counted once (PSS). */
export function pssMegabytes(pid: number): number {
	let kilobytes = 0;
	for (const member of familyOf(pid)) {
		try {
			const text = readFileSync(`/proc/${member}/smaps_rollup`, "latin1");
			kilobytes += Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0);
		} catch {
			// The process has ended.
		}
	}
	return (kilobytes * 1024) / 1_000_000;
}

const memoryIntervalMs = 200;

/** The maximum of memory (PSS) of a process and its descendants during a task, in megabytes. */
export async function maxMegabytes(pid: number, task: () => Promise<unknown>): Promise<number> {
	let max = pssMegabytes(pid);
	const timer = setInterval(() => {
		max = Math.max(max, pssMegabytes(pid));
	}, memoryIntervalMs);
	await task().finally(() => clearInterval(timer));
	return max;
}
