import glob from "fast-glob";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { bot, startReviewPeer } from "../review/approvals/review-peer.ts";
import { commands, Origin, runJob } from "../review/origin.ts";
import { ownersFile, wmsFile } from "../review/repository.ts";

// The commands of the jobs that start many processes, as the workflows have them; tests/review runs the others.

let origin: Origin;

test.before(async () => {
	const fixtures = await glob("tests/fixtures/layers/**", { onlyFiles: true });
	const none = fixtures.map((path) => [path.replace("tests/fixtures/", ""), null] as const);
	// Its service is on this machine, which is never asked.
	const own = {
		"layers/owners.json": ownersFile,
		"layers/aa/aaa.json": wmsFile("a", "http://127.0.0.1:9/wms"),
	};
	origin = new Origin({ ...Object.fromEntries(none), ...own });
});
test.after(() => origin.remove());

test("approvals: the event's pull request is judged, and each hour all of them", async () => {
	const peer = await startReviewPeer();
	try {
		for (const team of ["operators", "reviewers", "energy"]) peer.teams.set(`maps/${team}`, ["ann"]);
		const sha = "a".repeat(40);
		const files = [{ filename: "layers/aa/aaa.json" }];
		const reviews = [{ login: "ann", state: "APPROVED", commit: sha }];
		for (const number of [1, 2])
			peer.pulls.push({ number, author: "carl", from: "carl:change", base: "main", sha, files, reviews });
		const cwd = origin.checkout();
		const env = { GITHUB_TOKEN: "t", GITHUB_API_URL: peer.url, AUTHOR: bot };
		const runs = commands("layers", "approvals");
		const PULLS = JSON.stringify([{ number: 1, head: sha }]);
		const one = await runJob(cwd, runs, { ...env, EVENT: "workflow_run", PULLS });
		assert.equal([one.status, one.output], [0, "#1: success: approved by ann\n"]);
		const all = await runJob(cwd, runs, { ...env, EVENT: "schedule" });
		assert.is(all.status, 0, all.output);
		assert.match(all.output, /^#1: success: approved by ann\n#2: success: approved by ann$/m);
		assert.ok(peer.checks.every(({ name, conclusion }) => `${name} ${conclusion}` === "owners success"));
	} finally {
		await peer.close();
	}
});

test.run();
