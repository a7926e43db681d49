import type { LayerFile } from "../../registry/judge.ts";
import { type FileEntry, type Folder, kindOfMode, memoize, readerOf } from "../reader.ts";
import type { CatFile, GitObject } from "./commands/cat-file.ts";
import { GitDamage } from "./commands/run.ts";

export type CommitReader = ReturnType<typeof openReader>;

/** Each folder is read once. */
export function openReader(catFile: Pick<CatFile, "read">, commitId: string) {
	const treeAt = memoize(readTree);
	const folder = (name: string) => treeAt(`layers/${name}`);
	const text = async (id: string, path: string) => (await readObject(id, "blob", path)).body.toString("utf8");
	const reader = readerOf({ folder, text });

	async function file(path: string): Promise<LayerFile | null> {
		const entry = await reader.find(path);
		if (entry === null) return null;
		if (typeof entry === "string") return { path, kind: "file", bytes: Buffer.from(entry) };
		const kind = kindOfMode(entry.mode);
		return {
			path,
			kind,
			bytes: kind === "file" ? (await readObject(entry.id, "blob", path)).body : Buffer.of(),
		};
	}

	async function readTree(path: string): Promise<Folder> {
		if (path === "") return parseTree(await readObject(`${commitId}^{tree}`, "tree", "the branch"));
		const slash = path.lastIndexOf("/");
		const entry = (await treeAt(path.slice(0, Math.max(slash, 0)))).get(path.slice(slash + 1));
		return entry?.mode === folderMode ? parseTree(await readObject(entry.id, "tree", path)) : new Map();
	}

	async function readObject(id: string, type: string, path: string): Promise<GitObject> {
		const object = await catFile.read(id);
		if (object?.type !== type) throw new GitDamage(`${type} ${id} of ${path} is missing`);
		return object;
	}

	return { ...reader, folder, file };
}

const folderMode = "40000";

/** Each entry is `<mode> <name>\0<id>`, with the id in bytes (Pro Git, "Git Objects"). */
function parseTree({ id, body }: GitObject): Folder {
	const entries = new Map<string, FileEntry>();
	for (let start = 0; start < body.length; ) {
		const space = body.indexOf(0x20, start);
		const end = body.indexOf(0, space);
		// All ids of a repository have the same length.
		const next = end + 1 + id.length / 2;
		const mode = body.toString("latin1", start, space);
		entries.set(body.toString("utf8", space + 1, end), { mode, id: body.toString("hex", end + 1, next) });
		start = next;
	}
	return entries;
}
