import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { folderPages } from "../../site/http/folder-pages.ts";

/** On this machine, on a free port. @returns the address with a slash at its end */
export async function serveFolder(dist: string): Promise<{ address: string; close: () => void }> {
	const files = folderPages(dist, false);
	const server = createServer(async (request, response) => {
		const path = new URL(request.url ?? "", "http://host").pathname.slice(1);
		const file = path === "" || path.endsWith("/") ? `${path}index.html` : decodeURIComponent(path);
		const route = { file, root: "/" };
		const acceptEncoding = String(request.headers["accept-encoding"] ?? "");
		const { status, headers, body } = await files.answer(route, { ifNoneMatch: null, acceptEncoding });
		response.writeHead(status, headers).end(body);
	});
	await once(server.listen(0, "127.0.0.1"), "listening");
	const { port } = server.address() as AddressInfo;
	return { address: `http://127.0.0.1:${port}/`, close: () => server.close() };
}
