import { join } from "node:path";
import * as assert from "uvu/assert";
import { listBranches } from "../../store/git/review-branches.ts";
import { folderSuite } from "../helpers/world.ts";
import { git, openEmpty } from "./git-store.ts";

const test = folderSuite("branches of reviews");

test("no message of a commit can name another branch", async ({ folder }) => {
	await using _store = await openEmpty(folder);
	const message = "subject\n\nwhy\x01\nregister/other/x\n";
	const who = ["-c", "user.name=ann", "-c", "user.email=ann@example.ca"];
	const commit = await git(folder, ...who, "commit-tree", "main^{tree}", "-p", "main", "-m", message);
	await git(folder, "branch", "register/roads", commit);
	const branches = await listBranches(join(folder, "repository.git"), [], ["register/"]);
	assert.equal(
		branches.map(({ name, commit, message }) => [name, commit, message]),
		[["register/roads", commit, message]],
	);
});

test.run();
