import * as assert from "uvu/assert";
import { StoreBusy } from "../../store/store.ts";
import { answering, freshSuite } from "../helpers/world.ts";
import type { Effect } from "./fault-proxy.ts";
import { type Peer, startPeer } from "./github-peer.ts";

const path = "layers/ab/abc.json";

const test = freshSuite("a repository or an App that is not as it was", async (use) => {
	const peer = use(await startPeer());
	return { peer, before: JSON.stringify(await peer.commits()) };
});

function put(store: ReturnType<Peer["store"]>) {
	const meta = {
		author: "energy",
		time: new Date(),
		smallkey: "abc",
		subject: "register abc (wms)",
		trailers: [],
		request: null,
		review: false,
	};
	return store.change(async () => [{ path, text: "{}\n" }], meta as never);
}

/** What the log says of a PUT that cannot succeed. */
async function refusalOf(store: ReturnType<Peer["store"]>): Promise<string> {
	try {
		await put(store);
	} catch (error) {
		assert.not.instance(error, StoreBusy, "a publisher gets no Retry-After: a retry would not help");
		return (error as Error).message;
	}
	throw new Error("it cannot have worked");
}

const forbidden = (message: string): Effect => ({ kind: "answer", status: 403, message });

test("an archived repository: GitHub's words for the operator, and nothing is written", async (scene) => {
	const { peer, before } = scene;
	const effect = forbidden("Repository was archived so is read-only.");
	peer.proxy.faults.push({ method: "POST", path: /\/git\//, times: 100, effect });
	assert.match(await refusalOf(peer.store()), /403 to POST .*: Repository was archived so is read-only\./);
	assert.is(JSON.stringify(await peer.commits()), before);
	assert.is(peer.proxy.requests.filter((request) => request.startsWith("POST ")).length, 1, "asked once");
});

test("a suspended installation: the same, before anything is asked", async ({ peer, before }) => {
	const effect = forbidden("This installation has been suspended");
	peer.proxy.faults.push({ method: "POST", path: /\/access_tokens$/, times: 100, effect });
	const reason = await refusalOf(peer.store({ auth: peer.app }));
	assert.match(reason, /403 to POST .*access_tokens: This installation has been suspended/);
	assert.is(JSON.stringify(await peer.commits()), before);
	assert.equal(
		peer.proxy.requests.filter((request) => request.includes("/git/")),
		[],
	);
});

test("a repository that was renamed: redirects are followed, with the method and the body", async (scene) => {
	const { peer } = scene;
	// As GitHub does: 301 for what reads, 307 for what writes.
	const redirected: string[] = [];
	await using server = await answering(async (request, response) => {
		const { method = "GET", url = "/" } = request;
		if (url.startsWith("/repos/maps/old")) {
			redirected.push(method);
			const Location = url.replace("/repos/maps/old", "/repos/maps/layers");
			response.writeHead(method === "GET" ? 301 : 307, { Location }).end('{"message":"Moved"}');
			return;
		}
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
		const headers = {
			Authorization: request.headers.authorization ?? "",
			"Content-Type": "application/json",
		};
		const answer = await fetch(peer.proxy.url + url, { method, headers, body });
		response.writeHead(answer.status, { "Content-Type": "application/json" });
		response.end(Buffer.from(await answer.arrayBuffer()));
	});
	const commit = await put(peer.store({ apiUrl: server.origin, repository: "maps/old" }));
	assert.is("commit" in commit && commit.changed, true);
	assert.is(await peer.file(path), "{}\n");
	assert.ok(redirected.includes("POST") && redirected.includes("PATCH"));
});

test.run();
