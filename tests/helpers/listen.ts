import type { AddressInfo } from "node:net";
import { createNodeServer } from "../../api/node/serve.ts";
import type { Requests } from "./handlers.ts";

export async function listen({ context, file }: Pick<Requests, "context" | "file">) {
	const ignore = () => undefined;
	const { server, end } = createNodeServer({ context, file, observe: ignore });
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	return { origin, end, [Symbol.asyncDispose]: end };
}
