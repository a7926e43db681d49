import { parseSenders } from "../../api/senders.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { readCommit } from "../../store/files/version.ts";
import { Handlers } from "../helpers/handlers.ts";
import { listen } from "../helpers/listen.ts";
import { senders } from "./engine.ts";
import { testConformance } from "./suite.ts";

testConformance({
	name: "Node",
	missing: null,
	async start(layers) {
		const files = [...layers].map(([smallkey, text]) => [layerPath(smallkey), text]);
		const handlers = new Handlers(Object.fromEntries(files));
		const { context, store } = handlers;
		context.now = () => new Date();
		context.commit = readCommit();
		context.settings = { ...context.settings, senders: parseSenders(JSON.stringify(senders), "") };
		const { origin, end } = await listen(handlers);
		const state = async () => store.commits.at(-1)?.id ?? "";
		return { origin, docsMaxKeys: 1000, published: true, state, stop: end };
	},
});
