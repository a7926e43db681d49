// npx fragments sign: prints the three headers that sign a request, for curl -H @-
import { readFile } from "node:fs/promises";
import { createRequestLine, explain, signRequest } from "../publisher/request.ts";
import { createRun, exitCodes } from "../terminal/command-line.ts";
import { printLine } from "../terminal/io.ts";

export const run = createRun(async (argv, environment, io) => {
	const line = createRequestLine("sign", io)
		.argument("[file]", "the registration; without one a removal is signed")
		.option("--explain", "show the signed text with its parts, and what is sent, for a person")
		.parse(argv, { from: "user" });
	const [smallkey, file] = line.processedArgs;
	const body = file === undefined ? new Uint8Array(0) : await readFile(file);
	const method = file === undefined ? "DELETE" : "PUT";
	const signed = await signRequest({ ...line.opts(), method, smallkey, body }, environment, io);
	const headers = Object.entries(signed.headers).map(([name, text]) => `${name}: ${text}`);
	printLine(io, (line.opts().explain ? explain(signed) : headers).join("\n"));
	return exitCodes.done;
});
