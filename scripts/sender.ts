// npm run sender: who may publish, in the senders file of DATA_DIR
import { createSenderLine } from "../service/senders/command-line.ts";
import { createRun, exitCodes, runCommand } from "../terminal/command-line.ts";

export const run = createRun(async (argv, environment, io) => {
	await createSenderLine(environment, io).parseAsync(argv, { from: "user" });
	return exitCodes.done;
});

await runCommand(import.meta.url, run);
