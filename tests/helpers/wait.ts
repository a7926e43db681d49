import { setTimeout as sleep } from "node:timers/promises";

/** The output names a condition that takes longer. */
const quietMs = 60_000;

/** Between two checks: longer and longer. */
const firstPauseMs = 5;
const longestPauseMs = 100;

export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
	const note = setTimeout(() => console.error(`still waiting until ${condition}`), quietMs);
	try {
		for (let pauseMs = firstPauseMs; !(await condition()); pauseMs = Math.min(pauseMs * 1.5, longestPauseMs))
			await sleep(pauseMs);
	} finally {
		clearTimeout(note);
	}
}

export function gate(): [passed: Promise<void>, open: () => void] {
	let open = () => {};
	const passed = new Promise<void>((resolve) => {
		open = resolve;
	});
	return [passed, open];
}
