import type { AddressInfo } from "node:net";
import { createNodeServer } from "../../api/node/serve.ts";
import type { Local } from "./local.ts";

export interface Listening extends AsyncDisposable {
	origin: string;
	end: () => Promise<void>;
}

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
