// npm run -s sign -- <smallkey> [<file>] [--url U] [--sender S]: the three headers, for curl -H @-
import { readFile } from "node:fs/promises";
import { parseCommand, signRequest } from "./put/request.ts";
import { runCommand } from "./terminal/command-line.ts";

const usage = "npm run sign -- <smallkey> [<file>] [--url http://127.0.0.1:8080] [--sender <id>]";

await runCommand(async () => {
	const command = parseCommand(process.argv.slice(2), usage, false);
	const body = command.file === null ? new Uint8Array(0) : await readFile(command.file);
	const headers = await signRequest(command, body, process.env, new Date());
	for (const [name, text] of Object.entries(headers)) console.log(`${name}: ${text}`);
	return 0;
});
