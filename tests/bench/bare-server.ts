// A bare node:http server, the reference for reads. Forked with a URL: it fetches that once, sends its own address to its parent, and
// answers every request with the same bytes. In a process of its own: it would share the processor with what measures.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const answer = await fetch(process.argv[2] as string);
const headers = Object.fromEntries(answer.headers);
// node:http adds these to every answer itself.
for (const name of ["connection", "date", "keep-alive"]) delete headers[name];
const body = Buffer.from(await answer.arrayBuffer());
const server = createServer((_, response) => response.writeHead(200, headers).end(body));
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => {
	process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
