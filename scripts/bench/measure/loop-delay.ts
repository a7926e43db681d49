// node --import tsx --import ./scripts/bench/measure/loop-delay.ts PROGRAM: on SIGUSR2, writes the longest delay of the event loop
// since the last signal to LOOP_DELAY_FILE, in milliseconds.
import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on("SIGUSR2", () => {
	writeFileSync(process.env.LOOP_DELAY_FILE as string, String(delay.max / 1_000_000));
	delay.reset();
});
