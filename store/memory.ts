import { folderOf } from "../registry/smallkey.ts";
import { blobId, hashes, hexOf } from "./hashes.ts";
import { type Folder, readerOf } from "./reader.ts";
import {
	type Commit,
	commitMessage,
	type Edit,
	type Edits,
	isRefusal,
	judgeRepeat,
	type Meta,
	type Refusal,
	reviewBranch,
	type Store,
	twinWaits,
	type UsedRequest,
	waitsOf,
} from "./store.ts";

export interface MemoryCommit extends Meta {
	id: string;
	branch: string;
	edits: readonly Edit[];
}

interface Branch {
	files: Map<string, string>;
	commit: string;
	author: string;
}

const main = "main";

/**
 * Layers in memory, with the promises of `Store` and a list of commits: no git, nothing durable.
 * @param files the first files: path → text
 */
export function memoryStore(files: Readonly<Record<string, string>> = {}) {
	const branches = new Map<string, Branch>();
	const served: Branch = { files: new Map(Object.entries(files)), commit: "", author: "" };
	branches.set(main, served);
	const commits: MemoryCommit[] = [];
	const lastCommits = new Map<string, string>();
	const used = new Map<string, UsedRequest>();
	let queue: Promise<unknown> = Promise.resolve();

	function readerAt({ files: stored }: Branch) {
		const snapshot = new Map(stored);
		return readerOf({
			folder: async (folder) => {
				const entries: [string, { mode: string; id: string }][] = [];
				for (const [path, text] of snapshot) {
					const [top, name = "", file] = path.split("/");
					if (top === "layers" && name === folder && file !== undefined)
						entries.push([file, { mode: "100644", id: await blobId(text) }]);
				}
				return new Map(entries) as Folder;
			},
			text: async (_id, path) => snapshot.get(path) as string,
		});
	}

	async function commit(branch: string, edits: readonly Edit[], meta: Meta): Promise<string> {
		const text = `${commits.length}\n${commitMessage(meta)}\n${JSON.stringify(edits)}`;
		const id = hexOf(await hashes.sha1(new TextEncoder().encode(text)));
		commits.push({ ...meta, id, branch, edits });
		return id;
	}

	async function twinRefusal(smallkey: string | null, base: Branch): Promise<Refusal | null> {
		if (smallkey === null || (await readerAt(base).ids(smallkey)) !== null) return null;
		for (const [name, other] of branches) {
			const spellings = name === main ? [] : await readerAt(other).keys(folderOf(smallkey), smallkey);
			const twin = spellings.find((spelling) => spelling !== smallkey);
			if (twin !== undefined) return twinWaits(smallkey, twin);
		}
		return null;
	}

	/** Whether the state of a review differs from the served one in a layer. */
	async function differs(smallkey: string | null, review: Branch): Promise<boolean> {
		if (smallkey === null) return true;
		const ids = await Promise.all([review, served].map((state) => readerAt(state).ids(smallkey)));
		return ids[0]?.registration !== ids[1]?.registration;
	}

	async function make(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		const { request, method = "-", time, review, author } = meta;
		const name = review ? reviewBranch(meta) : main;
		const waiting = review ? branches.get(name) : undefined;
		const isHeld = waiting !== undefined && waiting.author !== author;
		const base = waiting && !isHeld ? waiting : served;
		const proposed = await edits(readerAt(base));
		const held = isHeld ? waitsOf(waiting.author) : review ? await twinRefusal(meta.smallkey, base) : null;
		const outcome = held && !isRefusal(proposed) && proposed.length > 0 ? held : proposed;
		const first = request === null ? undefined : used.get(request);
		const use = (result: string | number) => {
			if (request !== null && !first) used.set(request, { request, method, time, outcome: result });
		};
		const repeated = first ? judgeRepeat(first, method, outcome) : null;
		const refusal = repeated ?? (!first && isRefusal(outcome) ? outcome : null);
		if (refusal) {
			use(refusal.status);
			return refusal;
		}
		const isProposed = waiting && !isHeld && (await differs(meta.smallkey, waiting));
		const waits = isProposed ? { branch: name } : {};
		if (first || isRefusal(outcome) || outcome.length === 0) {
			const paths = [...lastCommits].filter(([path]) => path.endsWith(`/${meta.smallkey}.json`));
			const last = base === served ? (paths.at(-1)?.[1] ?? base.commit) : base.commit;
			use(last);
			return { commit: first ? String(first.outcome) : last, changed: false, ...waits };
		}
		const id = await commit(name, outcome, meta);
		use(id);
		const target = review && base === served ? { files: new Map(served.files), commit: id, author } : base;
		target.commit = id;
		for (const { path, text } of outcome) {
			if (text === null) target.files.delete(path);
			else target.files.set(path, text);
			if (target === served) lastCommits.set(path, id);
		}
		branches.set(name, target);
		return { commit: id, changed: true, ...(review ? { branch: name } : {}) };
	}

	function change(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		const result = queue.then(() => make(edits, meta));
		queue = result.catch(() => undefined);
		return result;
	}

	const store: Store = {
		published: true,
		read: (smallkey) => readerAt(served).read(smallkey),
		ids: (smallkey) => readerAt(served).ids(smallkey),
		keys: (folder, like) => readerAt(served).keys(folder, like),
		change,
		remember: async (request) => {
			const isFirst = !used.has(request.request);
			if (isFirst) used.set(request.request, request);
			return isFirst;
		},
	};
	return { ...store, commits, files: served.files as ReadonlyMap<string, string> };
}
