import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks in a second of the times in /proc (`getconf CLK_TCK`; 100 on every Linux of today). */
const ticksPerSecond = 100;

/** The fields of /proc/<pid>/stat behind the name, which may hold spaces; null if the process has ended. */
function statOf(pid: number): string[] | null {
	try {
		const text = readFileSync(`/proc/${pid}/stat`, "latin1");
		return text.slice(text.lastIndexOf(")") + 2).split(" ");
	} catch {
		return null;
	}
}

/** A process and all that it has started and that live. */
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

/** CPU seconds, user and system, of a process and of all that it has started, ended or not. */
export function cpuSeconds(pid: number): number {
	let ticks = 0;
	for (const member of familyOf(pid)) {
		const fields = statOf(member);
		if (!fields) continue;
		// utime and stime of its own, then of its children that have ended.
		for (const field of fields.slice(11, 15)) ticks += Number(field);
	}
	return ticks / ticksPerSecond;
}

/** Megabytes of a process and all that it has started, pages that several share counted once (PSS). */
export function pssMegabytes(pid: number): number {
	let kilobytes = 0;
	for (const member of familyOf(pid)) {
		try {
			const text = readFileSync(`/proc/${member}/smaps_rollup`, "latin1");
			kilobytes += Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0);
		} catch {
			// It has ended meanwhile.
		}
	}
	return (kilobytes * 1024) / 1_000_000;
}

const memoryEveryMs = 200;

/** The most memory (PSS) of a process and all that it has started, at any moment of a task, in megabytes. */
export async function maxMegabytes(pid: number, task: () => Promise<unknown>): Promise<number> {
	let most = pssMegabytes(pid);
	const timer = setInterval(() => {
		most = Math.max(most, pssMegabytes(pid));
	}, memoryEveryMs);
	await task().finally(() => clearInterval(timer));
	return most;
}
