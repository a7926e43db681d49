import { createServer } from "node:http";
import { listen } from "../../api/node/serve.ts";
import { folderPages } from "../../site/http/folder-pages.ts";

/** On this machine, on a free port. @returns the address with a slash at its end */
export async function serveFolder(dist: string): Promise<{ address: string; close: () => void }> {
	const files = folderPages(dist, false);
	const server = createServer(async (request, response) => {
		const path = decodeURIComponent(new URL(request.url ?? "", "http://host").pathname.slice(1));
		const file = path.replace(/(^|\/)$/, "$1index.html");
		const acceptEncoding = String(request.headers["accept-encoding"] ?? "");
		const options = { ifNoneMatch: null, acceptEncoding };
		const { status, headers, body } = await files.answer({ file, root: "/" }, options);
		response.writeHead(status, headers).end(body);
	});
	const address = await listen(server, { host: "127.0.0.1", port: 0 }, "");
	return { address: `${address}/`, close: () => server.close() };
}
