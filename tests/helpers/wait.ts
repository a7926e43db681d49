import { setTimeout as sleep } from "node:timers/promises";

/** After how long the output names the condition, in milliseconds: the test command ends a file that never comes to its end. */
const quietMs = 60_000;

/** How long is waited before one asks again, in milliseconds: more and more, as an answer may take a picture of a page. */
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
