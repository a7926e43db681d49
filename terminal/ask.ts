import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

/**
 * Asks the person at the terminal.
 * @param hidden whether the answer stays off the screen, as a secret does
 * @returns the answer without spaces around it; null where nobody is at a terminal
 */
export async function askAtTerminal(question: string, hidden: boolean): Promise<string | null> {
	const { stdin, stderr } = process;
	if (!stdin.isTTY || !stderr.isTTY) return null;
	stderr.write(question);
	const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
	const lines = createInterface({ input: stdin, output: hidden ? silent : stderr, terminal: hidden });
	try {
		return (await lines.question("")).trim();
	} finally {
		lines.close();
		if (hidden) stderr.write("\n");
	}
}
