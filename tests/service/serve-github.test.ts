import * as assert from "uvu/assert";
import { manual } from "../helpers/local.ts";
import { ServerProcess } from "../helpers/process.ts";
import { signed } from "../helpers/signed.ts";
import { eventually } from "../helpers/wait.ts";
import { sharedSuite, temporaryFolder } from "../helpers/world.ts";
import { startPeer } from "../store/github-peer.ts";

const secret = "a publisher's secret";

const test = sharedSuite("service on GitHub", async (use) => {
	const folder = use(await temporaryFolder());
	const peer = use(await startPeer());
	const server = await ServerProcess.start({
		DATA_DIR: folder.path,
		SENDERS: JSON.stringify({ catalogue: secret, careful: { key: `${secret} 2`, review: true } }),
		GITHUB_REPOSITORY: peer.repository,
		GITHUB_API_URL: peer.proxy.url,
		GITHUB_APP_ID: peer.app.appId,
		GITHUB_APP_PRIVATE_KEY: peer.app.privateKey.replaceAll("\n", "\\n"),
	});
	return { peer, server: use(server) };
});

async function put(
	server: ServerProcess,
	smallkey: string,
	sender: string,
	secret: string,
): Promise<Response> {
	const path = `/v1/register/${smallkey}`;
	return fetch(server.url + path, await signed(path, manual, { sender, secret }));
}

test("a signed PUT is a commit on the branch, read back through the API", async ({ peer, server }) => {
	assert.is((await fetch(`${server.url}/healthz`)).status, 200);
	const answer = await put(server, "23ax5t", "catalogue", secret);
	const text = await answer.text();
	assert.is(answer.status, 201, text);
	const receipt = JSON.parse(text) as { commit: string; published: boolean };
	assert.is(receipt.published, false);
	const [head] = await peer.commits();
	assert.is(head?.sha, receipt.commit);
	assert.match(head?.commit.message ?? "", /^register 23ax5t \(wms\)\n\nSender: catalogue\nTimeStamp: /);
	assert.is(head?.commit.author.email, "catalogue@sender.invalid");
	const file = await peer.api<{ content: string }>("GET", "/contents/layers/23/23ax5t.json");
	assert.equal(JSON.parse(Buffer.from(file.data.content, "base64").toString()), JSON.parse(manual));
});

test("a sender under review gets a pull request", async ({ peer, server }) => {
	const before = (await peer.commits())[0]?.sha;
	const answer = await put(server, "reviewed", "careful", `${secret} 2`);
	assert.is(answer.status, 201);
	const receipt = (await answer.json()) as { branch: string; pull_request: string };
	assert.is(receipt.branch, "register/reviewed");
	assert.match(receipt.pull_request, /\/pull\/\d+$/);
	assert.is((await peer.commits())[0]?.sha, before);
});

test("reads come from the last build, and nothing secret is in the log", async ({ peer, server }) => {
	assert.is((await fetch(`${server.url}/v0.9/doc/en/never-built`)).status, 404);
	assert.is((await fetch(`${server.url}/v0.9/doc/de/never-built`)).status, 400);
	const docs = await fetch(`${server.url}/v0.9/docs/en/never-built`);
	assert.equal(await docs.json(), [{ error_code: 404, smallkey: "never-built" }]);
	assert.not.match(server.output, secret);
	assert.not.match(server.output, peer.app.privateKey.split("\n")[1] ?? "");
	assert.not.match(server.output, /"error"/);
});

test("a refusal by a ruleset is in the log in GitHub's own words, and nothing is stored", async (context) => {
	const { peer, server } = context;
	const message = "Repository rule violations found\n\nChanges must be made through a pull request.\n\n";
	const effect = { kind: "answer", status: 422, message } as const;
	peer.proxy.faults.push({ method: "PATCH", path: /refs/, times: 1, effect });
	const before = server.output.length;
	assert.is((await put(server, "ruled", "catalogue", secret)).status, 500);
	await eventually(() => server.output.slice(before).includes(`"error"`));
	assert.ok(server.output.slice(before).includes(JSON.stringify(message).slice(1, -1)), server.output);
	assert.is(await peer.file("layers/ru/ruled.json"), null);
});

test.run();
