// A bare node:http server that sends the bytes of one answer from memory: the reference for reads.
// Forked with a URL: it fetches that once, sends its own address to its parent, and answers every request with the bytes.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Headers that node:http adds to every answer itself. */
const ownHeaders: ReadonlySet<string> = new Set(["connection", "date", "keep-alive"]);

const answer = await fetch(process.argv[2] as string);
const headers = Object.fromEntries([...answer.headers].filter(([name]) => !ownHeaders.has(name)));
const body = Buffer.from(await answer.arrayBuffer());
const server = createServer((_request, response) => {
	response.writeHead(200, headers);
	response.end(body);
});
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => {
	process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
