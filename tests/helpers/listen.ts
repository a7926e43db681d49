import type { AddressInfo } from "node:net";
import { createNodeServer } from "../../api/node/serve.ts";
import type { Local } from "./local.ts";

/** A service of this process behind a port of its own. */
export interface Listening extends AsyncDisposable {
	/** Its address, without a slash at the end and without the base path. */
	origin: string;
	end: () => Promise<void>;
}

/** Serves a service on 127.0.0.1, pages included. */
export async function listen(local: Local): Promise<Listening> {
	const { server, end } = createNodeServer({
		context: local.context,
		file: local.file,
		log: () => undefined,
		allReads: false,
		count: () => undefined,
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	return { origin, end, [Symbol.asyncDispose]: end };
}
