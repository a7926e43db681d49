import * as assert from "uvu/assert";
import { watchStore } from "../../../api/service/github-composition.ts";
import { memoryStore } from "../../../store/memory.ts";
import { StoreBusy } from "../../../store/store.ts";
import { manual } from "../../helpers/local.ts";
import { serve } from "../../helpers/serving.ts";
import { signed } from "../../helpers/signed.ts";
import { folderSuite } from "../../helpers/world.ts";
import { metaOf } from "../../store/contract.ts";
import { startPeer } from "../../store/github-peer.ts";

const test = folderSuite("a service that writes to GitHub");

test("a PUT is a commit on the branch, or a pull request, and reads are from a build", async ({ folder }) => {
	const peer = await startPeer();
	const senders = { catalogue: "a publisher's secret", careful: { key: "another secret", review: true } };
	const server = await serve({
		...{ DATA_DIR: folder, SENDERS: JSON.stringify(senders), SITE: "off" },
		...{ GITHUB_REPOSITORY: peer.repository, GITHUB_API_URL: peer.proxy.url },
		GITHUB_APP_ID: peer.app.appId,
		GITHUB_APP_PRIVATE_KEY: peer.app.privateKey.replaceAll("\n", "\\n"),
	});
	const put = async (path: string, sender: string, secret: string) => {
		const answer = await fetch(server.url + path, await signed(path, manual, { sender, secret }));
		return { status: answer.status, receipt: await answer.json() };
	};
	try {
		const { status, receipt } = await put("/v1/register/23ax5t", "catalogue", "a publisher's secret");
		assert.equal([status, receipt.published], [201, false]);
		const [head] = await peer.commits();
		assert.is(head?.sha, receipt.commit);
		assert.match(head?.commit.message ?? "", /^register 23ax5t \(wms\)\n\nSender: catalogue\nTimeStamp: /);
		assert.equal(JSON.parse((await peer.file("layers/23/23ax5t.json")) ?? ""), JSON.parse(manual));
		const reviewed = await put("/register/reviewed", "careful", "another secret");
		assert.equal([reviewed.status, reviewed.receipt.branch], [201, "register/reviewed"]);
		assert.match(reviewed.receipt.pull_request, /\/pull\/\d+$/);
		assert.is((await peer.commits())[0]?.sha, head?.sha);
		const docs = await fetch(`${server.url}/v0.9/docs/en/23ax5t`);
		assert.equal(await docs.json(), [{ error_code: 404, smallkey: "23ax5t" }]);
	} finally {
		await server.end();
		await peer.close();
	}
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
	nowMs = 60_000;
	assert.is(watched.state(), null);
	assert.is(await stateAfter(true), "GitHub fails: see the log");
	assert.is(await stateAfter(false), null);
});

test.run();
