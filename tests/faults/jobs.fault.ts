import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import glob from "fast-glob";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { startReviewPeer } from "../review/approvals/review-peer.ts";
import { commands, Origin, runJob } from "../review/origin.ts";
import { ownersFile, wmsFile } from "../review/repository.ts";
import { startPeer } from "../store/github-peer.ts";

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

test("owners: the event's pull request is judged, then all, and conflicts are looked for", async () => {
	const peer = await startReviewPeer();
	try {
		peer.teams.set("maps/reviewers", ["ann"]);
		const sha = "a".repeat(40);
		const files = [{ filename: "layers/aa/aaa.json" }];
		const reviews = [{ login: "ann", state: "APPROVED", commit: sha }];
		peer.pulls.push({ number: 1, author: "carl", from: "carl:change", base: "main", sha, files, reviews });
		const cwd = origin.checkout();
		const event = join(cwd, "event.json");
		const run = {
			event: "pull_request_review",
			head_branch: "change",
			head_sha: sha,
			head_repository: { owner: { login: "carl" } },
		};
		writeFileSync(event, JSON.stringify({ workflow_run: run }));
		const env = {
			GITHUB_EVENT_PATH: event,
			GITHUB_TOKEN: "t",
			GITHUB_API_URL: peer.url,
			AUTHOR: "github-actions[bot]",
		};
		const { status, output } = await runJob(cwd, commands("owners", "owners"), env);
		assert.is(status, 0, output);
		assert.is(output.split("#1: success: approved by ann").length, 3, "once for the event, once for all");
		assert.equal(
			peer.statuses.map(({ state, context }) => `${context} ${state}`),
			["owners success"],
		);
		assert.ok(peer.requests.some((request) => request.includes("/matching-refs/")));
	} finally {
		await peer.close();
	}
});

test("refresh, and describing by the workflow's own token, which asks for the next run", async () => {
	const peer = await startPeer();
	try {
		await peer.push("layers/owners.json", ownersFile);
		await peer.push("layers/aa/aaa.json", wmsFile("a", "http://127.0.0.1:9/wms"));
		const cwd = origin.checkout();
		mkdirSync(join(cwd, "harvested"));
		writeFileSync(join(cwd, "harvested", "descriptions.patch"), "");
		const env = { GITHUB_TOKEN: peer.token, GITHUB_API_URL: peer.proxy.url };
		const proposed = await runJob(cwd, commands("refresh", "refresh"), env);
		assert.is(proposed.status, 0, proposed.output);
		const pulls = (await peer.api<{ head: { ref: string } }[]>("GET", "/pulls?state=open")).data;
		assert.equal(
			pulls.map(({ head }) => head.ref),
			["refresh"],
		);

		const bin = join(cwd, "bin");
		mkdirSync(bin);
		writeFileSync(join(bin, "gh"), `#!/bin/sh\necho "$@" > ${join(cwd, "asked")}\n`);
		chmodSync(join(bin, "gh"), 0o755);
		// `git apply` refuses an empty patch: the job runs only where something was found.
		const runs = commands("publish", "describe-by-token").filter((run) => !run.startsWith("git apply"));
		const own = { ...env, BRANCH: "main", GH_TOKEN: "t", PATH: `${bin}:${process.env.PATH}` };
		const described = await runJob(cwd, runs, own);
		assert.is(described.status, 0, described.output);
		assert.is(readFileSync(join(cwd, "asked"), "utf8"), "workflow run publish.yml --ref main\n");
	} finally {
		await peer.close();
	}
});

test.run();
