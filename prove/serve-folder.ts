import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { folderPages } from "../api/node/pages.ts";

/** A build that is served on this machine. */
export interface ServedFolder {
	/** With a slash at its end. */
	address: string;
	close(): void;
}

/** Serves a build on this machine, on a port of its own. */
export async function serveFolder(dist: string): Promise<ServedFolder> {
	const files = folderPages(dist, false);
	const server = createServer(async (request, response) => {
		const path = new URL(request.url ?? "", "http://host").pathname.slice(1);
		const file = path === "" || path.endsWith("/") ? `${path}index.html` : decodeURIComponent(path);
		const wanted = { kind: "page" as const, file, root: "/" };
		const { status, headers, body } = await files(wanted, { ifNoneMatch: null, acceptEncoding: "" });
		response.writeHead(status, headers).end(body);
	});
	await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
	const { port } = server.address() as AddressInfo;
	return { address: `http://127.0.0.1:${port}/`, close: () => server.close() };
}
