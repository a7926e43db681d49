// A bare node:http server that sends the bytes of one answer from memory: the reference for reads.
// node --import tsx bench/measure/bare-server.ts URL: fetches URL once, prints its own address, and answers every request
// with the fetched bytes.
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
server.listen(0, "127.0.0.1", () => {
	console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
