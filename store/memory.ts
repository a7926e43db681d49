import pLimit from "p-limit";
import { decideChange, isProposed, isRefusal, usesOf } from "./decide.ts";
import { blobId } from "./hashes.ts";
import { reviewBranch, servedBranch } from "./naming.ts";
import { type FileEntry, readerOf } from "./reader.ts";
import type { Commit, Decide, Edit, Meta, Refusal, Store } from "./store.ts";
import { UsedRequests } from "./used-requests.ts";

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
			const entries = new Map<string, FileEntry>();
			for (const [path, text] of snapshot)
				if (path.startsWith(start))
					entries.set(path.slice(start.length), { mode: "100644", id: await blobId(text) });
			return entries;
		},
		text: async (_id, path) => snapshot.get(path) as string,
	});
}

/** Nothing is durable, and no request forgotten. @param files path → text */
export function memoryStore(files: Readonly<Record<string, string>> = {}) {
	const reviews = new Map<string, Branch>();
	const served: Branch = { files: new Map(Object.entries(files)), commit: "", author: "" };
	const commits: MemoryCommit[] = [];
	const used = new UsedRequests(() => Number.NEGATIVE_INFINITY);
	const inOrder = pLimit(1);

	async function spellings(smallkey: string): Promise<string[]> {
		const waiting = [...reviews.values()].map((review) => readerAt(review).spellings(smallkey));
		return (await Promise.all(waiting)).flat();
	}

	async function make(decide: Decide, meta: Meta): Promise<Commit | Refusal> {
		const { author, smallkey } = meta;
		const branch = meta.review ? reviewBranch(meta) : servedBranch;
		const review = reviews.get(branch);
		const holder = review && review.author !== author ? review.author : null;
		const base = review && holder === null ? review : served;
		const now = readerAt(base);
		const waiting = meta.review ? { holder, spellings } : null;
		const outcome = await decideChange({ decide, meta }, now, waiting, used);
		if (isRefusal(outcome)) return outcome;
		if (outcome.length === 0) {
			const isWaiting = base !== served && (await isProposed(smallkey, now, readerAt(served)));
			return { commit: base.commit, changed: false, ...(isWaiting ? { branch } : { published: true }) };
		}
		const id = commits.length.toString(16).padStart(40, "0");
		commits.push({ ...meta, id, branch, edits: outcome });
		const target = meta.review ? { ...base, files: new Map(base.files), author } : served;
		target.commit = id;
		for (const { path, text } of outcome) {
			if (text === null) target.files.delete(path);
			else target.files.set(path, text);
		}
		if (meta.review) reviews.set(branch, target);
		return { commit: id, changed: true, ...(meta.review ? { branch } : { published: true }) };
	}

	async function change(decide: Decide, meta: Meta): Promise<Commit | Refusal> {
		const answer = await make(decide, meta);
		for (const use of usesOf(meta, answer)) used.note(use);
		return answer;
	}

	const store: Store = {
		served: async () => readerAt(served),
		change: (decide, meta) => inOrder(() => change(decide, meta)),
		remember: async (use) => used.note(use),
	};
	return { ...store, commits, files: served.files as ReadonlyMap<string, string> };
}
