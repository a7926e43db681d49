import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import type { PlannedRequest } from "../../../extensions/review/commands/approvals.ts";
import { marker, type Report } from "../../../extensions/review/comment.ts";
import { exits, root, runScript, warns } from "../../helpers/process.ts";
import { freshSuite, Repository, temporaryFolder } from "../../helpers/world.ts";
import { bot, type PeerCheck, type ReviewPeer, startReviewPeer } from "./approvals/review-peer.ts";

const layer = "layers/ab/abc.json";
let peer: ReviewPeer;
let folder: string;
let repository: Repository;
let head: string;

const test = freshSuite("what is said at a pull request", async (use) => {
	folder = use(await temporaryFolder()).path;
	await writeFile(join(folder, "teams.json"), "{}");
	repository = use(new Repository({ "layers/owners.json": '{"operators":["@boss#1"],"layers":{}}' }));
	repository.git("remote", "add", "origin", ".");
	repository.propose({ [layer]: "{}" });
	head = repository.git("rev-parse", "head").trim();
	peer = use(await startReviewPeer());
	const files = [{ filename: layer }];
	const pull = { author: "carl", from: "carl:change", base: "main", sha: head, files, reviews: [] };
	peer.pulls.push({ number: 1, ...pull });
});

function report(comment: string, conclusion: Report["conclusion"] = "failure"): Report {
	return { conclusion, comment };
}

function approvals(...words: string[]) {
	process.chdir(repository.path);
	const teams = join(folder, "teams.json");
	const run = runScript("approvals", ["--reports", folder, "--teams", teams, ...words], peer.env);
	return run.finally(() => process.chdir(root));
}

async function post(
	text: string | object | null,
	pulls: object = [{ number: 1, headRefOid: head }],
	author = bot,
) {
	const path = join(folder, "review-1.json");
	await rm(path, { force: true });
	if (text !== null) await writeFile(path, JSON.stringify(typeof text === "string" ? report(text) : text));
	return approvals("--pulls", JSON.stringify(pulls), "--author", author);
}

test("one comment and the check layers follow the report; comments of others stay", async () => {
	peer.comments.push({ number: 1, id: 0, body: `${marker}\nforged\n`, author: "mallory" });
	for (const [text, done] of [
		["first", "posted"],
		["second", "edited"],
		["second", "unchanged"],
	])
		assert.match((await post(`${marker}\n${text}\n`)).stdout, `#1: ${done}`);
	const texts = () => peer.comments.map(({ body }) => body).filter((body) => body.startsWith(marker));
	assert.equal(texts(), [`${marker}\nforged\n`, `${marker}\nsecond\n`]);
	await post(report(`${marker}\nsecond\n`, "success"));
	const { stdout } = await exits(post(null), 0);
	assert.match(stdout, /^#1: could not be checked\n/);
	assert.is(texts().length, 2, "none without a report");
	const checks = peer.checks.filter(({ name }) => name === "layers");
	const conclusions = checks.map(({ conclusion }) => conclusion);
	assert.equal(conclusions, ["failure", "failure", "success", "cancelled"], "one for each that differs");
	assert.equal(
		[checks[1]?.head_sha, checks[1]?.output],
		[head, { title: "something has to be corrected: see the comment", summary: `${marker}\nsecond\n` }],
	);
});

/** What was posted of a report; the check of the owners does not depend on it. */
const posted = () => [
	...peer.checks.filter(({ name }) => name === "layers"),
	...peer.comments.filter(({ body }) => body.startsWith(marker)),
];

test("nothing is posted for an older commit or a closed pull request, and the others get their comments", async () => {
	const text = `${marker}\nx\n`;
	assert.match((await post(text, [{ number: 1, headRefOid: "1".repeat(40) }])).stdout, "nothing posted");
	Object.assign(peer.pulls[0] ?? {}, { isClosed: true });
	assert.match((await post(text)).stdout, "#1: nothing posted: it has changed meanwhile");
	assert.equal(posted(), []);
	Object.assign(peer.pulls[0] ?? {}, { isClosed: false });
	peer.answers.push({ path: /pulls\/99$/, status: 404, message: "Not Found" });
	const { code, stdout, stderr } = await post(
		text,
		[99, 1].map((number) => ({ number, headRefOid: head })),
	);
	assert.is(code, 2);
	assert.match(stderr, /^#99: GitHub answers 404/m);
	assert.match(stdout, /^#1: posted/m);
});

test("what was planned before a wrong teams file is kept", async () => {
	await post(`${marker}\nx\n`);
	const before = posted();
	await writeFile(join(folder, "review-1.json"), JSON.stringify(report(`${marker}\ny\n`)));
	await writeFile(join(folder, "teams.json"), "{");
	const plan = join(folder, "plan.json");
	const run = approvals("--pulls", JSON.stringify([{ number: 1, headRefOid: head }]), "--plan", plan);
	await warns(run, 2, "JSON");
	const planned: PlannedRequest[] = JSON.parse(await readFile(plan, "utf8"));
	const check = planned.find(({ path }) => path === "check-runs")?.body as Partial<PeerCheck> | undefined;
	assert.equal([check?.name, check?.output?.summary], ["layers", `${marker}\ny\n`]);
	assert.equal(posted(), before);
});

test.run();
