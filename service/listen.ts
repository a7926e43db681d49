import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Waits until a server listens.
 * @param settings the names of the settings of host and port, for the error
 * @param advice a sentence at the end of the error
 * @returns the server's address, such as `http://127.0.0.1:8080`
 * @throws {Error} that names the settings, if the server cannot listen
 */
export async function listen(
	server: Server,
	{ host, port }: { host: string; port: number },
	settings: string,
	advice = "",
): Promise<string> {
	server.listen(port, host);
	await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
		const reason = error.code === "EADDRINUSE" ? "another process listens there" : error.message;
		throw new Error(`${settings}: cannot listen on ${host}:${port}: ${reason}${advice}`);
	});
	const { port: listening } = server.address() as AddressInfo;
	return `http://${host.includes(":") ? `[${host}]` : host}:${listening}`;
}
