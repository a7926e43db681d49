import { partition, type Sorted } from "./partition.ts";
import { nameOfPath, parseShape, Shape, shapeText } from "./shape.ts";

/** The form of everything under `index/`; a reader that knows another number reads none of it. */
export const indexVersion = 2;

/** Things that are kept in pieces of bounded size, each piece a file. */
export interface SetKind<T> {
	/** Folder of the pieces; how they are cut stands beside it, as `<folder>.json`. */
	folder: string;
	/** Ending of a piece's file, with its dot. */
	ending: string;
	maxThings: number;
	/** Most bytes of a piece, but for one that holds a single thing, and for what stands around the things. */
	maxBytes: number;
	/** What a thing is found and cut by: no two things have the same. */
	textOf(thing: T): string;
	bytesOf(thing: T): number;
	/** Where it says how it is cut, in place of `<folder>.json`: its path, how that is written, and read. */
	index?: {
		path: string;
		write(shape: Shape): string;
		read(text: string): Shape | null;
	};
	write(things: T[], path: string): string;
	/** Null where the text is no such piece. */
	read(text: string): T[] | null;
}

/** Files by path: text, or null for one that goes. */
export type Files = Map<string, string | null>;

/** The file of a piece. */
export function piecePath(kind: { folder: string; ending: string }, path: string): string {
	return `${kind.folder}/${nameOfPath(path)}${kind.ending}`;
}

/** The file that says how a set is cut. */
export function shapePath(kind: { folder: string; index?: { path: string } | undefined }): string {
	return kind.index?.path ?? `${kind.folder}.json`;
}

/** What that file of a set holds. */
export function writeShape<T>({ index }: SetKind<T>, shape: Shape): string {
	return index ? index.write(shape) : shapeFile(shape);
}

/** How a set is cut, by that file; null where it is of another version, or no such file. */
export function readShape<T>({ index }: SetKind<T>, text: string): Shape | null {
	return index ? index.read(text) : readShapeFile(text);
}

/** The text of that file. */
export function shapeFile(shape: Shape): string {
	return `${JSON.stringify({ version: indexVersion, pieces: shape.paths.length, shape: shapeText(shape) })}\n`;
}

/** Reads that file; null where it is of another version, or no such file. */
export function readShapeFile(text: string): Shape | null {
	const value = parseObject(text);
	if (value?.version !== indexVersion || typeof value.shape !== "string") return null;
	return typeof value.pieces === "number" ? parseShape(value.shape, value.pieces) : null;
}

/** A JSON object from a text, or null. */
export function parseObject(text: string): Record<string, unknown> | null {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
	} catch {
		return null;
	}
}

/** A piece: the version, and its things one a line, so that a change is one line of a diff. */
export function writeLines(member: string, lines: readonly string[]): string {
	return `{"version":${indexVersion},"${member}":[\n${lines.join(",\n")}\n]}\n`;
}

/** The things of such a piece; null where it is of another version, or no such piece. */
export function readLines(member: string, text: string): unknown[] | null {
	const value = parseObject(text);
	if (value?.version !== indexVersion) return null;
	const things = value[member];
	return Array.isArray(things) ? things : null;
}

/** Sorted things with the bytes of each run of them. */
export function sortedThings<T>(kind: SetKind<T>, things: readonly T[]): Sorted {
	const before = new Float64Array(things.length + 1);
	things.forEach((thing, index) => {
		before[index + 1] = (before[index] as number) + kind.bytesOf(thing);
	});
	return {
		length: things.length,
		textAt: (index) => kind.textOf(things[index] as T),
		fits: (from, to) =>
			to - from <= kind.maxThings && (before[to] as number) - (before[from] as number) <= kind.maxBytes,
	};
}

/** Bytes of things in a piece, without what stands around them. */
export function bytesOf<T>(kind: SetKind<T>, things: Iterable<T>): number {
	let bytes = 0;
	for (const thing of things) bytes += kind.bytesOf(thing);
	return bytes;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const isAscii = /^[\x00-\x7f]*$/;

/** Bytes of a text in UTF-8. */
export function byteLength(text: string): number {
	// A loop that has not run often takes many times as long as the engine's own.
	if (isAscii.test(text)) return text.length;
	let bytes = text.length;
	for (let index = 0; index < text.length; index += 1) {
		const unit = text.charCodeAt(index);
		if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
	}
	return bytes;
}

/** All files of a set, from things in the order of their texts. */
export function buildSet<T>(kind: SetKind<T>, things: readonly T[]): Files {
	const pieces = partition(sortedThings(kind, things));
	const files: Files = new Map();
	for (const { path, from, to } of pieces) {
		files.set(piecePath(kind, path), kind.write(things.slice(from, to), path));
	}
	files.set(shapePath(kind), writeShape(kind, new Shape(pieces.map(({ path }) => path))));
	return files;
}

/** Sorts things by their texts. */
export function sortThings<T>(kind: SetKind<T>, things: readonly T[]): T[] {
	const texts = new Map(things.map((thing) => [thing, kind.textOf(thing)]));
	return [...things].sort((a, b) => ((texts.get(a) as string) < (texts.get(b) as string) ? -1 : 1));
}
