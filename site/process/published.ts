import { existsSync } from "node:fs";
import { repositoryPath } from "../../api/service/data-dir.ts";
import { readReviews, servedRef } from "../../api/service/repository.ts";
import type { Published } from "../../api/service/senders.ts";
import { isShallow, readLog } from "../../store/git/commands/commits.ts";
import { GitFailure } from "../../store/git/commands/run.ts";
import { authorOf } from "../../store/store.ts";
import { historyCommit } from "../data/history.ts";

/**
 * Reads from the repository of a data folder what each sender has published: the layers that it registered last, and its
 * changes that wait for a reviewer.
 * @returns sender's id → what it has published; null if there is no such repository with its whole history
 */
export async function readPublished(dataDir: string): Promise<ReadonlyMap<string, Published> | null> {
	const repository = repositoryPath(dataDir);
	if (!existsSync(repository)) return null;
	return readFrom(repository).catch((error: unknown) => {
		if (error instanceof GitFailure) return null;
		throw error;
	});
}

async function readFrom(repository: string): Promise<ReadonlyMap<string, Published> | null> {
	if (await isShallow(repository)) return null;
	/** Smallkey → the sender who registered it last; null: it arrived in another way. */
	const senders = new Map<string, string | null>();
	// Not only first parents: the commit of a merge is its reviewer's.
	for await (const commit of readLog(repository, ["--reverse", "--topo-order", servedRef, "--", "layers"])) {
		const { layers, registered, sender } = historyCommit(commit);
		for (const { smallkey, kind } of layers) {
			if (kind === "removed") senders.delete(smallkey);
			else if (registered.has(smallkey)) senders.set(smallkey, sender);
		}
	}
	const published = new Map<string, { layers: string[]; waiting: string[] }>();
	const of = (id: string) => {
		const found = published.get(id) ?? { layers: [], waiting: [] };
		published.set(id, found);
		return found;
	};
	for (const smallkey of [...senders.keys()].sort()) {
		const id = senders.get(smallkey);
		if (id) of(id).layers.push(smallkey);
	}
	for (const { branch, mail } of await readReviews(repository, "waiting")) {
		const id = authorOf(mail);
		if (id) of(id).waiting.push(branch);
	}
	return published;
}
