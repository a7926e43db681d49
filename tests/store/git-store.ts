import { join } from "node:path";
import { layerPath } from "../../registry/smallkey.ts";
import type { StoreLimits } from "../../store/git/base.ts";
import type { Publish } from "../../store/git/branch.ts";
import { runGit } from "../../store/git/commands/run.ts";
import { type GitStore, type GitStoreOptions, openGitStore } from "../../store/git/git-store.ts";
import { syncPath } from "../../store/git/writer.ts";
import type { Commit, Layer, Log, Meta, Refusal } from "../../store/store.ts";
import { wms } from "../helpers/local.ts";
import { commitOf, metaOf } from "./contract.ts";

export function logTo(reported: unknown[], lines: object[] = []): Log {
	return {
		info: (fields) => lines.push(fields),
		warn: () => undefined,
		error: (error) => reported.push(error),
	};
}

export const publishNothing: Publish = async () => true;

export type TestStore = GitStore & AsyncDisposable;

export async function openEmpty(folder: string, parts: Partial<GitStoreOptions> = {}): Promise<TestStore> {
	const repository = join(folder, "repository.git");
	const options = { repository, now: () => new Date(), publish: publishNothing, log: logTo([]), ...parts };
	const store = await openGitStore(options, async () => []);
	return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}

export function put(
	store: GitStore,
	smallkey: string,
	layer = "limits",
	parts: Partial<Meta> = {},
): Promise<Commit | Refusal> {
	const decide = async () => [{ path: layerPath(smallkey), text: wms(layer) }];
	return store.change(decide, metaOf(smallkey, parts));
}

export async function commitIdOf(change: Promise<Commit | Refusal>): Promise<string> {
	return (await commitOf(change)).commit;
}

export async function git(folder: string, ...args: string[]): Promise<string> {
	return (await runGit(join(folder, "repository.git"), args)).toString("utf8").trim();
}

export class TestRepository implements AsyncDisposable {
	now: number | null = null;
	sync = syncPath;
	publish = publishNothing;
	store!: GitStore;
	readonly log: string[] = [];

	constructor(readonly folder: string) {}

	get path(): string {
		return join(this.folder, "repository.git");
	}

	async open(limits: Partial<StoreLimits> = {}): Promise<void> {
		const note = (line: unknown) => void this.log.push(String(line));
		this.store = await openEmpty(this.folder, {
			now: () => new Date(this.now ?? Date.now()),
			sync: (path) => this.sync(path),
			publish: (range) => this.publish(range),
			log: { info: () => undefined, warn: note, error: note },
			limits,
		});
	}

	async restart(limits: Partial<StoreLimits> = {}): Promise<void> {
		await this.store?.close();
		await this.open(limits);
	}

	put(smallkey: string, layer?: string, parts?: Partial<Meta>): Promise<Commit | Refusal> {
		return put(this.store, smallkey, layer, parts);
	}

	async read(smallkey: string): Promise<Layer | null> {
		return (await this.store.served()).read(smallkey);
	}

	git(...args: string[]): Promise<string> {
		return git(this.folder, ...args);
	}

	tip(): Promise<string> {
		return this.git("rev-parse", "refs/heads/main");
	}

	async commit(message = "by hand", tree = "refs/heads/main^{tree}", who = "Ada"): Promise<string> {
		const identity = ["-c", `user.name=${who}`, "-c", `user.email=${who}@sender.invalid`];
		const words = ["commit-tree", "-p", "refs/heads/main", "-m", message, tree];
		const id = await this.git(...identity, ...words);
		await this.git("update-ref", "refs/heads/main", id);
		return id;
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.store.close();
	}
}
