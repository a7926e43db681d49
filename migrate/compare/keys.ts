import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { runGit } from "../../git/run.ts";
import { parseLayerPath, parseSmallkey, smallkeyRule } from "../../registry/smallkey.ts";

/** Largest file of smallkeys, in bytes. */
const maxFileBytes = 100_000_000;

/** Whether a file is JSON, thus a dump of the older service's database and not a list. */
export async function isJson(path: string): Promise<boolean> {
	const file = await open(path);
	try {
		const { bytesRead, buffer } = await file.read(Buffer.alloc(64), 0, 64, 0);
		return /^\ufeff?\s*[[{]/.test(buffer.toString("utf8", 0, bytesRead));
	} finally {
		await file.close();
	}
}

/** Parses smallkeys, separated by white space or commas. @throws {Error} that names the first invalid one */
export async function readKeys(path: string): Promise<string[]> {
	const { size } = await stat(path);
	if (size > maxFileBytes) throw new Error(`${path}: has ${size} bytes, and may have ${maxFileBytes}`);
	const chunks: Buffer[] = [];
	for await (const chunk of createReadStream(path)) chunks.push(chunk as Buffer);
	const items = Buffer.concat(chunks)
		.toString("utf8")
		.split(/[\s,]+/)
		.filter(Boolean);
	const bad = items.find((item) => parseSmallkey(item) === null);
	if (bad !== undefined) {
		throw new Error(`${path}: a smallkey ${smallkeyRule}, not ${JSON.stringify(bad.slice(0, 80))}`);
	}
	return [...new Set(items)];
}

/** The smallkeys of a repository's branch main. @throws {Error} where there is no such repository */
export async function keysOfRepository(repository: string): Promise<string[]> {
	const words = ["ls-tree", "-r", "-z", "--name-only", "refs/heads/main", "--", "layers"];
	const paths = (await runGit(repository, words)).toString("utf8").split("\0");
	const names = paths.map(parseLayerPath).filter((name) => name !== null);
	return names.filter(({ kind }) => kind === "registration").map(({ smallkey }) => smallkey);
}
