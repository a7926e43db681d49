// npx fragments remove: removes a layer from a service
import { createRequestLine, sendRequest, signRequest } from "../publisher/request.ts";
import { createRun } from "../terminal/command-line.ts";

export const run = createRun(async (argv, environment, io) => {
	const line = createRequestLine("remove", io).parse(argv, { from: "user" });
	const request = {
		...line.opts(),
		method: "DELETE",
		smallkey: line.processedArgs[0],
		body: new Uint8Array(0),
	};
	return sendRequest(await signRequest(request, environment, io), io);
});
