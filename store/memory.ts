import pLimit from "p-limit";
import { reviewBranch } from "./branches.ts";
import { decideChange, isProposed } from "./decide.ts";
import { blobId } from "./hashes.ts";
import { readerOf } from "./reader.ts";
import {
	type Commit,
	type Decide,
	type Edit,
	isRefusal,
	type Meta,
	type Refusal,
	type Store,
} from "./store.ts";
import { UsedRequests, usesOf } from "./used-requests.ts";

interface MemoryCommit extends Meta {
	id: string;
	branch: string;
	edits: readonly Edit[];
}

interface Branch {
	files: Map<string, string>;
	commit: string;
	author: string;
}

function readerAt({ files }: Branch) {
	const snapshot = new Map(files);
	return readerOf({
		folder: async (folder) => {
			const start = `layers/${folder}/`;
			const inside = [...snapshot].filter(([path]) => path.startsWith(start));
			const entries = inside.map(async ([path, text]) => {
				return [path.slice(start.length), { mode: "100644", id: await blobId(text) }] as const;
			});
			return new Map(await Promise.all(entries));
		},
		text: async (_id, path) => snapshot.get(path) as string,
	});
}

/**
 * Layers in memory, with the promises of `Store` and a list of commits: no git, nothing durable.
 * @param files the first files: path → text
 */
export function memoryStore(files: Readonly<Record<string, string>> = {}) {
	const reviews = new Map<string, Branch>();
	const served: Branch = { files: new Map(Object.entries(files)), commit: "", author: "" };
	const commits: MemoryCommit[] = [];
	// It forgets no request.
	const used = new UsedRequests(() => Number.NEGATIVE_INFINITY);
	const inOrder = pLimit(1);

	async function make(decide: Decide, meta: Meta): Promise<Commit | Refusal> {
		const { smallkey, author } = meta;
		const branch = meta.review ? reviewBranch(meta) : "main";
		const review = reviews.get(branch);
		const holder = review && review.author !== author ? review.author : null;
		const base = review && holder === null ? review : served;
		const now = readerAt(base);
		const spellings = async (key: string) =>
			(await Promise.all([...reviews.values()].map((other) => readerAt(other).spellings(key)))).flat();
		const outcome = await decideChange(
			{ decide, meta },
			now,
			meta.review ? { holder, spellings } : null,
			used,
		);
		const answer = (commit: Commit | Refusal) => {
			for (const use of usesOf(meta, commit)) used.note(use);
			return commit;
		};
		if (isRefusal(outcome)) return answer(outcome);
		const { commit } = base;
		const isWaiting = base !== served && (await isProposed(smallkey, now, readerAt(served)));
		if (outcome.length === 0) return answer({ commit, changed: false, ...(isWaiting && { branch }) });
		const id = commits.length.toString(16).padStart(40, "0");
		commits.push({ ...meta, id, branch, edits: outcome });
		const target = meta.review ? { files: new Map(base.files), author, commit } : served;
		target.commit = id;
		for (const { path, text } of outcome) {
			if (text === null) target.files.delete(path);
			else target.files.set(path, text);
		}
		if (meta.review) reviews.set(branch, target);
		return answer({ commit: id, changed: true, ...(meta.review && { branch }) });
	}

	const store: Store = {
		publishesAtOnce: true,
		read: (smallkey) => readerAt(served).read(smallkey),
		ids: (smallkey) => readerAt(served).ids(smallkey),
		spellings: (smallkey) => readerAt(served).spellings(smallkey),
		change: (decide, meta) => inOrder(() => make(decide, meta)),
		remember: async (use) => used.note(use),
	};
	return { ...store, commits, files: served.files as ReadonlyMap<string, string> };
}
