import * as assert from "uvu/assert";
import { exits, runScript } from "../helpers/process.ts";
import { sharedSuite } from "../helpers/world.ts";
import { type Peer, startPeer } from "../store/github-peer.ts";

interface Issue {
	number: number;
	title: string;
	body: string;
	state: string;
}

let peer: Peer;
const test = sharedSuite("an issue of a failed workflow", async (use) => {
	peer = use(await startPeer());
});

/** Runs `npx fragment-publisher tell-failure` as the workflow does. */
async function tell(results: string, page: string): Promise<string> {
	const words = ["--workflow", "publish", "--results", results, "--run", page, "--author", "maps"];
	const { stdout } = await exits(runScript("tell-failure", words, peer.env), 0);
	return stdout.trim();
}

async function issues(): Promise<Issue[]> {
	return (await peer.api<Issue[]>("GET", "/issues?state=all")).data;
}

test("a workflow that fails has one issue, until it works again", async () => {
	assert.is(await tell("success skipped", "https://run/1"), "nothing to tell");
	assert.equal(await issues(), []);
	assert.match(await tell("success failure skipped", "https://run/2"), /^#\d+ opened$/);
	assert.match(await tell("cancelled", "https://run/3"), /^#\d+ updated$/);
	const [issue, ...others] = await issues();
	assert.equal(others, []);
	assert.equal([issue?.title, issue?.state], ["The workflow publish fails", "open"]);
	assert.match(issue?.body ?? "", "https://run/3");
	assert.match(await tell("success success", "https://run/4"), /^#\d+ closed$/);
	assert.is((await issues())[0]?.state, "closed");
	assert.match(await tell("failure", "https://run/5"), /^#\d+ opened$/);
	assert.is((await issues()).length, 2);
});

test("an issue of that title by another author is left alone", async () => {
	await tell("success", "https://run/6");
	await peer.api("POST", "/issues", { title: "The workflow publish fails", body: "mine" });
	const words = ["--workflow", "publish", "--results", "success", "--run", "x", "--author", "somebody"];
	assert.is((await runScript("tell-failure", words, peer.env)).stdout.trim(), "nothing to tell");
	assert.is((await issues()).find(({ body }) => body === "mine")?.state, "open");
});

test.run();
