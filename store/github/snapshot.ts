import { folderOf, parseSmallkey } from "../../registry/smallkey.ts";
import { blobId } from "../hashes.ts";
import type { Edit, Layer, LayerIds, Reader } from "../store.ts";
import { dataOf, dataOrNull, type Github } from "./answer.ts";
import type { Head } from "./history.ts";

type Files = ReadonlyMap<string, string>;

/** The contents API lists at most this many files of a folder, and does not say that there are more. */
const maxListed = 1000;

/** Most folders that are listed one by one; then all of them are read at once. */
const maxFoldersListed = 40;

/** The files of exactly one commit, even if the branch moves. Each folder and file is read once. */
export class CommitFiles {
	readonly #github: Github;
	readonly #head: Head | null;
	readonly #folders = new Map<string, Promise<Files>>();
	readonly #texts = new Map<string, Promise<string>>();
	#all: Promise<ReadonlyMap<string, Files> | null> | null = null;

	/** @param head null: there are no files */
	constructor(github: Github, head: Head | null) {
		this.#github = github;
		this.#head = head;
	}

	folder(folder: string): Promise<Files> {
		const files = this.#folders.get(folder) ?? this.#readFolder(folder);
		this.#folders.set(folder, files);
		return files;
	}

	text(id: string): Promise<string> {
		const text = this.#texts.get(id) ?? this.#readBlob(id);
		this.#texts.set(id, text);
		return text;
	}

	async #readFolder(folder: string): Promise<Files> {
		const head = this.#head;
		if (!head) return new Map();
		if (this.#folders.size < maxFoldersListed) return this.#listFolder(head, folder);
		this.#all ??= this.#readAllFolders(head);
		const all = await this.#all;
		return all ? (all.get(folder) ?? new Map()) : this.#listFolder(head, folder);
	}

	/** One request, or three if the folder is large. */
	async #listFolder(head: Head, folder: string): Promise<Files> {
		const { rest, repo } = this.#github;
		const asked = rest.repos.getContent({ ...repo, path: `layers/${folder}`, ref: head.commit });
		const data = await dataOrNull(asked, "list a folder");
		if (!Array.isArray(data)) return new Map();
		if (data.length < maxListed) {
			return new Map(data.filter(({ type }) => type === "file").map(({ name, sha }) => [name, sha]));
		}
		const layers = await this.#subtree(head.tree, "layers");
		const subtree = layers && (await this.#subtree(layers, folder));
		const entries = subtree ? (await this.#readTree(subtree)).tree : [];
		return new Map(entries.filter(({ type }) => type === "blob").map(({ path, sha }) => [path, sha]));
	}

	/** Every folder under `layers/` by two requests; null if GitHub truncates the list. */
	async #readAllFolders(head: Head): Promise<ReadonlyMap<string, Files> | null> {
		const layers = await this.#subtree(head.tree, "layers");
		if (!layers) return new Map();
		const { tree, truncated } = await this.#readTree(layers, "1");
		if (truncated) return null;
		const folders = new Map<string, Map<string, string>>();
		for (const { path, type, sha } of tree) {
			const [folder = "", name, ...deeper] = path.split("/");
			if (type !== "blob" || name === undefined || deeper.length > 0) continue;
			folders.set(folder, (folders.get(folder) ?? new Map<string, string>()).set(name, sha));
		}
		return folders;
	}

	/** The id of a folder in a tree, or null. */
	async #subtree(tree: string, name: string): Promise<string | null> {
		const { tree: entries } = await this.#readTree(tree);
		return entries.find(({ path, type }) => path === name && type === "tree")?.sha ?? null;
	}

	#readTree(tree_sha: string, recursive?: string) {
		const { rest, repo } = this.#github;
		return dataOf(rest.git.getTree({ ...repo, tree_sha, recursive }), `show the tree ${tree_sha}`);
	}

	async #readBlob(id: string): Promise<string> {
		const { rest, repo } = this.#github;
		const { content } = await dataOf(rest.git.getBlob({ ...repo, file_sha: id }), `show the blob ${id}`);
		const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
		return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
	}
}

/** The layers at a commit, with edits on top of it that are not on the branch yet. */
export class Snapshot implements Reader {
	readonly #files: CommitFiles;
	readonly #edits: readonly Edit[];
	/** Text of each written file by its id. */
	readonly #texts = new Map<string, string>();

	constructor(files: CommitFiles, edits: readonly Edit[] = []) {
		this.#files = files;
		this.#edits = edits;
	}

	async read(smallkey: string): Promise<Layer | null> {
		const ids = await this.ids(smallkey);
		if (!ids) return null;
		const textOf = async (id: string) => this.#texts.get(id) ?? this.#files.text(id);
		const registration = await textOf(ids.registration);
		return { registration, description: ids.description && (await textOf(ids.description)) };
	}

	async ids(smallkey: string): Promise<LayerIds | null> {
		const names = await this.#folder(folderOf(smallkey));
		const registration = names.get(`${smallkey}.json`);
		return registration ? { registration, description: names.get(`${smallkey}.service.json`) ?? null } : null;
	}

	async keys(folder: string): Promise<string[]> {
		const names = [...(await this.#folder(folder)).keys()].filter((name) => name.endsWith(".json"));
		const stems = names.map((name) => name.slice(0, -".json".length));
		return stems.filter((stem) => parseSmallkey(stem) !== null).sort();
	}

	async #folder(folder: string): Promise<Files> {
		const files = new Map(await this.#files.folder(folder));
		for (const { path, text } of this.#edits) {
			const [, parent, name] = path.split("/");
			if (parent !== folder || name === undefined) continue;
			if (text === null) files.delete(name);
			else {
				const id = await blobId(text);
				this.#texts.set(id, text);
				files.set(name, id);
			}
		}
		return files;
	}
}
