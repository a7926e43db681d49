import { once } from "node:events";
import { createServer } from "node:http";
import type { Log } from "../../store/log.ts";
import { listen } from "../listen.ts";

/** The content of `GET /metrics`. */
interface Served {
	/** `Content-Type` of the text. */
	type: string;
	text: () => Promise<string>;
	/** Gets the error if the text cannot be made. */
	log: Log;
}

/**
 * Starts a server for `GET /metrics`, on a port of its own that is not open to publishers and readers.
 * @returns its address: `http://127.0.0.1:9464/metrics`
 * @throws {Error} that names the settings, if the server cannot listen
 */
export async function serveMetrics(place: { host: string; port: number }, { type, text, log }: Served) {
	const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
		const isMetrics = request.url?.split("?", 1)[0] === "/metrics";
		const isRead = request.method === "GET" || request.method === "HEAD";
		if (!isMetrics || !isRead) return void response.writeHead(isMetrics ? 405 : 404).end();
		text().then(
			(body) => response.writeHead(200, { "Content-Type": type, "Cache-Control": "no-store" }).end(body),
			(error) => {
				log.error(error);
				response.writeHead(500).end();
			},
		);
	});
	const address = await listen(server, place, "METRICS_PORT, METRICS_HOST");
	return {
		url: `${address}/metrics`,
		async close() {
			const closed = once(server, "close");
			server.close();
			server.closeAllConnections();
			await closed;
		},
	};
}
