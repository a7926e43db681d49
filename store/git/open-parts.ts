import { dirname, join } from "node:path";
import type { CatFile } from "../../git/cat-file.ts";
import type { SyncPath } from "../../git/sync.ts";
import { Trees } from "../../git/trees.ts";
import { WrittenBlobs } from "../../git/written-blobs.ts";
import { clockSkew, type Edit } from "../store.ts";
import { Branch } from "./branch.ts";
import { Condition } from "./condition.ts";
import { startTask } from "./damage.ts";
import { commitSeed, readHead } from "./first-commit.ts";
import { settleIntents } from "./intents.ts";
import { syncNames } from "./landing.ts";
import type { StoreLimits } from "./limits.ts";
import type { MeasureGit } from "./measure.ts";
import { Packs } from "./packs.ts";
import type { Parts } from "./parts.ts";
import { describePush, type Push } from "./pushes.ts";
import { type Onward, type Publish, Served } from "./served.ts";
import { Turns } from "./turns.ts";
import { UsedRequests } from "./used-requests.ts";

/** What the parts of a store need from outside. */
export interface PartsOptions {
	repository: string;
	branchName: string;
	/** Reads the repository. */
	catFile: CatFile;
	now: () => Date;
	sync: SyncPath;
	limits: StoreLimits;
	publish: Publish;
	report: (error: unknown) => void;
	tell?: (line: string) => void;
	measure: MeasureGit;
	/** Told of what was pushed, once it is served. */
	pushed?: (push: Push) => void;
}

/**
 * The parts of a store on a repository that is set up.
 * @param seed the files of the first commit, where the branch has none
 * @throws {Error} that tells the way out where the repository is damaged
 */
export async function openParts(options: PartsOptions, seed: () => Promise<Edit[]>): Promise<Parts> {
	const { repository, branchName, catFile, sync, limits, report, measure, tell = () => undefined } = options;
	const now = () => options.now().getTime();
	const branch = new Branch(repository, catFile, branchName, limits.commandMs);
	const head = await startTask(repository, () => readHead(repository, branchName, catFile));
	const trees = new Trees(catFile);
	const written = new WrittenBlobs();
	const tip =
		head ??
		(await commitSeed(
			{ repository, trees, written: new WrittenBlobs(), sync },
			branchName,
			await seed(),
			now(),
		));
	if (head === null) await syncNames({ repository, sync });
	const folder = join(dirname(repository), "requests");
	const requests = await UsedRequests.open({ folder, windowMs: clockSkew, now, sync });
	await settleIntents(requests, branch);
	const packs = new Packs({ repository, limits, report, measure });
	await packs.count();
	const followed = (step: Onward) => {
		const { pushed } = options;
		if (pushed) void describePush(repository, step).then((push) => push && pushed(push), report);
	};
	const served = new Served({ ...options, trees, branch, followed }, tip);
	const condition = new Condition({ report, tell, damaged: () => catFile.renew() });
	const turns = new Turns(limits.waitMs);
	const shared = { repository, now, sync, limits, catFile, trees, written, branch, measure };
	return { ...shared, served, requests, packs, condition, turns };
}
