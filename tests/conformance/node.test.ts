import type { AddressInfo } from "node:net";
import { createNodeServer } from "../../api/node/serve.ts";
import { parseSenders } from "../../api/senders.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { readCommit } from "../../store/files/version.ts";
import { Handlers } from "../helpers/handlers.ts";
import { type Candidate, senders } from "./engine.ts";
import { conformance } from "./suite.ts";

const node: Candidate = {
	name: "Node",
	missing: null,
	async start(layers) {
		const handlers = new Handlers(
			Object.fromEntries([...layers].map(([smallkey, text]) => [layerPath(smallkey), text])),
		);
		const { context, store, file } = handlers;
		context.now = () => new Date();
		context.commit = readCommit();
		context.settings = { ...context.settings, senders: parseSenders(JSON.stringify(senders), "") };
		const log = () => undefined;
		const { server, end } = createNodeServer({
			context,
			file,
			log,
			allReads: false,
			count: log,
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		return {
			origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
			docsMaxKeys: 1000,
			published: true,
			state: async () => store.commits.at(-1)?.id ?? "",
			stop: end,
		};
	},
};

conformance(node);
