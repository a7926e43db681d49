// node --import tsx --import ./scripts/bench/measure/loop-delay.ts PROGRAM: at the first SIGUSR2, starts to watch the event loop;
// at the second, writes its longest delay since then to LOOP_DELAY_FILE, in milliseconds, and stops.
import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

const delay = monitorEventLoopDelay({ resolution: 1 });
process.once("SIGUSR2", () => {
	delay.enable();
	process.once("SIGUSR2", () => {
		delay.disable();
		writeFileSync(process.env.LOOP_DELAY_FILE as string, String(delay.max / 1_000_000));
	});
});
