import { suite } from "uvu";
import * as assert from "uvu/assert";
import { temporaryFolder } from "../../local.ts";
import { ServerProcess, sendRaw } from "../../process.ts";

const slow = suite<{ server: ServerProcess; remove: () => Promise<void> }>("slow senders");

slow.before(async (context) => {
	const folder = await temporaryFolder();
	context.remove = folder.remove;
	context.server = await ServerProcess.start({ DATA_DIR: folder.path });
});
slow.after(async ({ server, remove }) => {
	await server.stop();
	await remove();
});

slow(
	"a head or a body that does not come is cut off, and others are served meanwhile",
	async ({ server }) => {
		const head = sendRaw(server.port, "GET /v0.9/doc/en/toporama HTTP/1.1\r\nHost: h\r\nX-Slow: ");
		const body = sendRaw(
			server.port,
			"PUT /register/slow HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n{",
		);
		assert.is((await fetch(`${server.url}/v0.9/doc/en/toporama`)).status, 200);
		assert.match(await head, /^HTTP\/1\.1 408 /);
		const answer = await body;
		assert.match(answer, /^HTTP\/1\.1 408 /);
		assert.match(answer, "the body did not arrive within 20 seconds");
		assert.is((await fetch(`${server.url}/v0.9/doc/en/slow`)).status, 404);
	},
);

slow.run();
