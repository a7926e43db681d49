import { type Ended, runScript } from "./process.ts";
import { eventually } from "./wait.ts";

export interface Serving extends AsyncDisposable {
	url: string;
	output: () => string;
	end: () => Promise<Ended>;
}

/** In this process. @throws {Error} with its output if it ends first */
export async function serve(env: Record<string, string>): Promise<Serving> {
	const ending = new AbortController();
	let output = "";
	const write = (text: string) => {
		output += `${text}\n`;
	};
	const io = { print: write, warn: write, interrupted: () => ending.signal };
	let hasEnded = false;
	const ended = runScript("serve", [], { PORT: "0", HARVEST: "off", ...env }, io).finally(() => {
		hasEnded = true;
	});
	await eventually(() => hasEnded || /^Senders: .*\n/m.test(output));
	const url = /^Serving (?:\d+ layers? )?at (\S+)$/m.exec(output)?.[1];
	if (url === undefined) throw new Error(`no address: ${output}`);
	const end = () => {
		ending.abort();
		return ended;
	};
	const dispose = async () => void (await end());
	return { url, output: () => output, end, [Symbol.asyncDispose]: dispose };
}
