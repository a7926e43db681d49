import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { temporaryFolder } from "../../local.ts";
import { type Ended, root, runScript } from "../../process.ts";
import { type ReviewPeer, startReviewPeer } from "./review-peer.ts";

let peer: ReviewPeer;
let remove: () => Promise<void>;

const owners = `{
	"operators": ["@maps/operators"],
	"layers": {
		"*": ["@maps/reviewers", "@ada"]
	}
}`;

test.before(async () => {
	const folder = await temporaryFolder();
	remove = folder.remove;
	await mkdir(join(folder.path, "layers"));
	await writeFile(join(folder.path, "layers/owners.json"), owners);
	// The command works in the folder in which it is started.
	process.chdir(folder.path);
	peer = await startReviewPeer();
	assert.is((await codeowners([])).code, 0);
});
test.after(async () => {
	await peer.close();
	process.chdir(root);
	await remove();
});

function codeowners(words: string[], env: Record<string, string> = {}): Promise<Ended> {
	const own = { GITHUB_REPOSITORY: "maps/layers", GITHUB_TOKEN: "x", GITHUB_API_URL: peer.url };
	return runScript("codeowners", words, { ...own, ...env });
}

test("--check asks GitHub for its own errors where there is a token, and only then", async () => {
	const without = await codeowners(["--check"], { GITHUB_TOKEN: "" });
	assert.is(without.code, 0, without.stderr);
	assert.equal(peer.requests, []);
	const none = await codeowners(["--check"]);
	assert.is(none.code, 0, none.stderr);
	assert.match(none.stdout, "GitHub has no .github/CODEOWNERS on the branch main");
	peer.codeowners = [{ path: ".github/CODEOWNERS", line: 3, kind: "Unknown owner", source: "* @maps/none" }];
	const wrong = await codeowners(["--check"]);
	assert.is(wrong.code, 1);
	assert.match(wrong.stderr, ".github/CODEOWNERS:3: Unknown owner: * @maps/none");
	peer.codeowners = [];
	assert.is((await codeowners(["--check"])).code, 0);
});

test("--owners warns of teams that do not exist, of empty ones, and of people, at their line", async () => {
	for (const name of ["maps/operators", "maps/reviewers"]) peer.teams.set(name, ["ada"]);
	peer.accounts.add("ada");
	assert.match((await codeowners(["--owners"])).stdout, "GitHub knows all owners");
	peer.teams.delete("maps/operators");
	peer.teams.set("maps/reviewers", []);
	peer.accounts.delete("ada");
	const { code, stdout } = await codeowners(["--owners"], { GITHUB_ACTIONS: "true" });
	assert.is(code, 1);
	const place = (line: number) => `::warning file=layers/owners.json,line=${line},title=Owners`;
	assert.equal(stdout.trim().split("\n"), [
		`${place(2)}::@maps/operators: there is no such team, or the token may not see it`,
		`${place(4)}::@maps/reviewers: the team has no members`,
		`${place(4)}::@ada: there is no such account`,
		"3 owners are not known",
	]);
	const silent = await codeowners(["--owners"], { GITHUB_REPOSITORY: "" });
	assert.is(silent.code, 2);
});

test("what GitHub does not answer is no owner who is missing", async () => {
	peer.answers.push({ path: /\/teams\//, status: 500, message: "down" });
	const { code, stdout } = await codeowners(["--owners"]);
	assert.is(code, 2);
	assert.not.match(stdout, "not known");
	peer.answers.length = 0;
});

test.run();
