// npm run put -- <smallkey> <file> [--url U] [--sender S]
import { readFile } from "node:fs/promises";
import { parseCommand, send, signRequest } from "./put/request.ts";
import { runCommand } from "./terminal/command-line.ts";

const usage = "npm run put -- <smallkey> <file> [--url http://127.0.0.1:8080] [--sender <id>]";

await runCommand(async () => {
	const command = parseCommand(process.argv.slice(2), usage, true);
	const body = await readFile(command.file as string);
	return send("PUT", command, await signRequest(command, body, process.env, new Date()), body);
});
