import { join } from "node:path";
import { textsOf } from "../../registry/problems.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { type GitStore, type GitStoreOptions, openGitStore } from "../../store/git/git-store.ts";
import type { Log } from "../../store/log.ts";
import { type Commit, isRefusal, type Meta, type Refusal } from "../../store/store.ts";
import { runGit } from "../../system/git/run.ts";
import { wms } from "../helpers/local.ts";
import { metaOf } from "./contract.ts";

/** Options of a store in a folder without readers. */
export function optionsIn(folder: string, parts: Partial<GitStoreOptions> = {}): GitStoreOptions {
	return {
		repository: join(folder, "repository.git"),
		now: () => new Date(),
		publish: async () => ({ warnings: Promise.resolve([]) }),
		log: logTo([]),
		...parts,
	};
}

/** A log that keeps the errors, and the lines that are no warnings. */
export function logTo(reported: unknown[], lines: object[] = []): Log {
	return {
		info: (fields) => lines.push(fields),
		warn: () => undefined,
		error: (error) => reported.push(error),
	};
}

/** A store of tests, which ends with the block of `await using`. */
export type TestStore = GitStore & AsyncDisposable;

/** A store without layers in a folder. */
export async function openEmpty(folder: string, parts: Partial<GitStoreOptions> = {}): Promise<TestStore> {
	const store = await openGitStore(optionsIn(folder, parts), async () => []);
	return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}

/** Registers a layer whose WMS layer is called `layer`. */
export function put(
	store: GitStore,
	smallkey: string,
	layer = "limits",
	parts: Partial<Meta> = {},
): Promise<Commit | Refusal> {
	const edits = async () => [{ path: layerPath(smallkey), text: wms(layer) }];
	return store.change(edits, metaOf(smallkey, parts));
}

/** The commit of a change. @throws {Error} where it was refused */
export async function committed(change: Promise<Commit | Refusal>): Promise<string> {
	const outcome = await change;
	if (isRefusal(outcome)) throw new Error(`refused: ${textsOf(outcome.errors).join()}`);
	return outcome.commit;
}

/** What git prints in the repository of a folder, without the space around it. */
export async function git(folder: string, ...args: string[]): Promise<string> {
	return (await runGit(join(folder, "repository.git"), args)).toString("utf8").trim();
}
