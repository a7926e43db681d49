import { indexPath } from "../../registry/index/index.ts";
import {
	indexVersion,
	parseObject,
	piecePath,
	readShapeFile,
	type SetKind,
	shapePath,
} from "../../registry/index/set.ts";
import type { Shape } from "../../registry/index/shape.ts";
import { readSplits, type Splits, splitsPath } from "../../registry/index/splits.ts";

/** Reads a file of the index by its path below the service; null where there is none. `again` passes any cache by. */
export type ReadText = (path: string, again: boolean) => Promise<string | null>;

/** Why a part of the index cannot be used. */
export type IndexProblem =
	/** The index is of a form that this page does not know. */
	| { kind: "version" }
	/** A file is missing or not whole: published anew just now, or cut off. */
	| { kind: "piece"; path: string }
	/** Nobody answers. */
	| { kind: "network"; path: string };

/** A part of the index that cannot be used; the rest goes on. */
export class IndexUnusable extends Error {
	constructor(readonly problem: IndexProblem) {
		super(problem.kind);
	}
}

/** The files of the index, each read once. */
export class Pieces {
	readonly #read: ReadText;
	readonly #texts = new Map<string, Promise<string | null>>();
	readonly #shapes = new Map<string, Promise<Shape>>();
	readonly #splits = new Map<string, Promise<Splits>>();
	readonly #things = new Map<string, Promise<readonly unknown[]>>();
	#again = false;

	constructor(read: ReadText) {
		this.#read = read;
	}

	/** Forgets everything, and reads past any cache from now on: for an index that changed under the page. */
	renew(): void {
		this.#again = true;
		for (const known of [this.#texts, this.#shapes, this.#splits, this.#things]) known.clear();
	}

	/** Number of layers. @throws {IndexUnusable} */
	async count(): Promise<number> {
		const head = parseObject((await this.#text(indexPath)) ?? "");
		if (!head) throw new IndexUnusable({ kind: "piece", path: indexPath });
		if (head.version !== indexVersion) throw new IndexUnusable({ kind: "version" });
		return Number(head.layers) || 0;
	}

	/** How a set is cut. @throws {IndexUnusable} */
	shape(kind: { folder: string }): Promise<Shape> {
		return this.#cuts(this.#shapes, shapePath(kind), readShapeFile);
	}

	/** Which terms many layers have. @throws {IndexUnusable} */
	splits(): Promise<Splits> {
		return this.#cuts(this.#splits, splitsPath, readSplits);
	}

	#cuts<T>(known: Map<string, Promise<T>>, path: string, read: (text: string) => T | null): Promise<T> {
		return remember(known, path, async () => {
			const text = (await this.#text(path)) ?? "";
			const cuts = read(text);
			if (cuts) return cuts;
			const version = parseObject(text)?.version;
			const isOther = version !== undefined && version !== indexVersion;
			throw new IndexUnusable(isOther ? { kind: "version" } : { kind: "piece", path });
		});
	}

	/** The things of a piece. @throws {IndexUnusable} */
	async things<T>(kind: SetKind<T>, path: string): Promise<readonly T[]> {
		const file = piecePath(kind, path);
		const things = await remember(this.#things, file, async () => {
			const text = await this.#text(file);
			const read = text === null ? null : readSafely(kind, text);
			if (!read) throw new IndexUnusable({ kind: "piece", path: file });
			return read;
		});
		return things as readonly T[];
	}

	#text(path: string): Promise<string | null> {
		return remember(this.#texts, path, () =>
			this.#read(path, this.#again).catch(() => {
				throw new IndexUnusable({ kind: "network", path });
			}),
		);
	}
}

function readSafely<T>(kind: SetKind<T>, text: string): T[] | null {
	try {
		return kind.read(text);
	} catch {
		return null;
	}
}

/** What is asked for twice is looked up once; what failed may be tried again. */
function remember<T>(known: Map<string, Promise<T>>, key: string, find: () => Promise<T>): Promise<T> {
	const found = known.get(key) ?? find();
	known.set(key, found);
	found.catch(() => {
		if (known.get(key) === found) known.delete(key);
	});
	return found;
}
