// npm run remove -- <smallkey> [--url U] [--sender S]

import { parseCommand, send, signRequest } from "./put/request.ts";
import { runCommand } from "./terminal/command-line.ts";

const usage = "npm run remove -- <smallkey> [--url http://127.0.0.1:8080] [--sender <id>]";

await runCommand(async () => {
	const command = parseCommand(process.argv.slice(2), usage, false);
	const body = new Uint8Array(0);
	return send("DELETE", command, await signRequest(command, body, process.env, new Date()), body);
});
