import { createHash } from "node:crypto";

/** What git keeps, but for tags (gitglossary(7), "object"). */
export type ObjectType = "blob" | "commit" | "tree";

/** How a repository names its objects: by their SHA-1, or by their SHA-256 (git-init(1), `--object-format`). */
export type ObjectFormat = "sha1" | "sha256";

/** The format of the repository that an id, in hex, is from. */
export function formatOf(id: string): ObjectFormat {
	return id.length === 64 ? "sha256" : "sha1";
}

/** Bytes of an id in a tree or a pack. */
export function idBytesOf(format: ObjectFormat): number {
	return format === "sha256" ? 32 : 20;
}

/** The hash of some pieces, one behind the other. */
export function hashOf(format: ObjectFormat, pieces: Iterable<Uint8Array>): Buffer {
	const hash = createHash(format);
	for (const piece of pieces) hash.update(piece);
	return hash.digest();
}

/** The id of an object: the hash of `<type> <bytes>\0` and what is in it (Pro Git, "Git Objects"). */
export function objectId(format: ObjectFormat, type: ObjectType, body: Buffer): Buffer {
	return hashOf(format, [Buffer.from(`${type} ${body.length}\0`), body]);
}
