// Floods a service on a number of connections until standard input ends: node --import tsx bench/measure/flood.ts URL KIND CONNECTIONS
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** What a flood does on each connection, again and again. */
export type FloodKind = "bad-puts" | "dribble" | "absent";

const [address = "", kind = "absent", connections = "100"] = process.argv.slice(2);
const { hostname, port } = new URL(address);
/** Milliseconds between two bytes of a dribbling connection. */
const dribbleMs = 100;
const bodyBytes = 64 * 1024;
const body = "x".repeat(bodyBytes);
/** Who floods, as a proxy would say: what this machine itself sends is not limited. */
const stranger = "X-Forwarded-For: 203.0.113.7\r\n";
const sockets = new Set<Socket>();
let isOver = false;
let sent = 0;

/** One request that is refused, whole. */
function requestText(): string {
	sent += 1;
	if (kind === "absent") return `GET /v0.9/doc/en/absent-${sent} HTTP/1.1\r\nHost: h\r\n${stranger}\r\n`;
	// Of the right shape and time: nothing but its hashes tells that it is wrong.
	const signature = randomBytes(32).toString("base64url");
	const head = `PUT /register/flood-${sent} HTTP/1.1\r\nHost: h\r\nAuthorization: ${signature}\r\nSender: bench\r\n`;
	return `${head}${stranger}TimeStamp: ${new Date().toISOString()}\r\nContent-Length: ${bodyBytes}\r\n\r\n${body}`;
}

function flood(): void {
	if (isOver) return;
	// Another address than the readers': what limits the one must not limit the other.
	const socket = connect({ port: Number(port), host: hostname, localAddress: "127.0.0.2" });
	sockets.add(socket);
	let timer: NodeJS.Timeout | undefined;
	socket.on("connect", () => {
		if (kind !== "dribble") return void socket.write(requestText());
		socket.write("GET /v0.9/doc/en/absent HTTP/1.1\r\nHost: h\r\nX-Slow: ");
		timer = setInterval(() => socket.write("x"), dribbleMs);
	});
	let isAnswered = false;
	socket.on("data", () => {
		// What is refused has a short answer, which comes in one piece.
		if (kind === "dribble" || isAnswered) return;
		isAnswered = true;
		setImmediate(() => {
			isAnswered = false;
			if (!isOver && socket.writable) socket.write(requestText());
		});
	});
	socket.on("error", () => undefined);
	socket.on("close", () => {
		clearInterval(timer);
		sockets.delete(socket);
		setTimeout(flood, 10);
	});
}

for (let index = 0; index < Number(connections); index += 1) flood();
console.log("flooding");
process.stdin.resume();
await once(process.stdin, "end");
isOver = true;
for (const socket of sockets) socket.destroy();
console.log(JSON.stringify({ sent }));
process.exit(0);
