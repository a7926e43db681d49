import * as assert from "uvu/assert";
import { watchStore } from "../../../api/service/github-composition.ts";
import { memoryStore } from "../../../store/memory.ts";
import { StoreBusy } from "../../../store/store.ts";
import { manual } from "../../helpers/local.ts";
import { serve } from "../../helpers/serving.ts";
import { signed } from "../../helpers/signed.ts";
import { sharedSuite, temporaryFolder } from "../../helpers/world.ts";
import { metaOf } from "../../store/contract.ts";
import { startPeer } from "../../store/github-peer.ts";

const secrets = { catalogue: "a publisher's secret", careful: "another secret" };
const senders = { ...secrets, careful: { key: secrets.careful, review: true } };

interface Scene {
	peer: Awaited<ReturnType<typeof startPeer>>;
	url: string;
}

const test = sharedSuite<Scene>("a service that writes to GitHub", async (use) => {
	const peer = await startPeer();
	use(() => peer.close());
	const server = await serve({
		DATA_DIR: use(await temporaryFolder()).path,
		SENDERS: JSON.stringify(senders),
		SITE: "off",
		GITHUB_REPOSITORY: peer.repository,
		GITHUB_API_URL: peer.proxy.url,
		GITHUB_APP_ID: peer.app.appId,
		GITHUB_APP_PRIVATE_KEY: peer.app.privateKey.replaceAll("\n", "\\n"),
	});
	use(() => server.end());
	return { peer, url: server.url };
});

async function put(url: string, path: string, sender: keyof typeof secrets) {
	const answer = await fetch(url + path, await signed(path, manual, { sender, secret: secrets[sender] }));
	return { status: answer.status, receipt: await answer.json() };
}

test("a PUT is a commit on the branch, not published yet", async ({ peer, url }) => {
	const { status, receipt } = await put(url, "/v1/register/23ax5t", "catalogue");
	assert.equal([status, receipt.published], [201, false]);
	const [head] = await peer.commits();
	assert.is(head?.sha, receipt.commit);
	assert.match(head?.commit.message ?? "", /^register 23ax5t \(wms\)\n\nSender: catalogue\nTimeStamp: /);
	assert.equal(JSON.parse((await peer.file("layers/23/23ax5t.json")) ?? ""), JSON.parse(manual));
});

test("a PUT for review is a pull request, and no commit on the branch", async ({ peer, url }) => {
	const [before] = await peer.commits();
	const { status, receipt } = await put(url, "/register/reviewed", "careful");
	assert.equal([status, receipt.branch], [201, "register/reviewed"]);
	assert.match(receipt.pull_request, /\/pull\/\d+$/);
	assert.is((await peer.commits())[0]?.sha, before?.sha);
});

test("reads are from a build, not from the branch", async ({ url }) => {
	assert.is((await put(url, "/register/unbuilt", "catalogue")).status, 201);
	const docs = await fetch(`${url}/v0.9/docs/en/unbuilt`);
	assert.equal(await docs.json(), [{ error_code: 404, smallkey: "unbuilt" }]);
});

test("a failure is named for a minute, or until a change succeeds", async () => {
	let nowMs = 0;
	let isFailing = false;
	const change = async () => {
		if (isFailing) throw new StoreBusy("github", 5, "GitHub: GET /: 502");
		return { commit: "c", changed: true };
	};
	const watched = watchStore({ ...memoryStore(), change }, () => nowMs);
	const stateAfter = async (failing: boolean) => {
		isFailing = failing;
		const write = watched.store.change(async () => [], metaOf("k"));
		const reason = await write.then(() => null, String);
		assert.is(reason, failing ? "StoreBusy: GitHub: GET /: 502" : null);
		return watched.state();
	};
	assert.is(await stateAfter(false), null);
	assert.is(await stateAfter(true), "GitHub fails: see the log");
	nowMs = 59_999;
	assert.is(watched.state(), "GitHub fails: see the log");
	nowMs = 60_000;
	assert.is(watched.state(), null);
	assert.is(await stateAfter(true), "GitHub fails: see the log");
	assert.is(await stateAfter(false), null);
});

test.run();
