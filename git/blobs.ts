import { objectAt } from "./cat-file.ts";
import { GitDamage, GitFailure, killGroup, outputOf, runGit, startGit } from "./run.ts";

/** Ids in one portion that is handed to git. */
const idsInPortion = 2_000;

/** Size of each object that the repository has, in bytes, without reading any of them. */
export async function readSizes(
	repository: string,
	ids: Iterable<string>,
): Promise<ReadonlyMap<string, number>> {
	const unique = [...new Set(ids)];
	if (unique.length === 0) return new Map();
	const input = `${unique.join("\n")}\n`;
	const args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
	const output = await runGit(repository, args, { input });
	const lines = output.toString("latin1").split("\n").filter(Boolean);
	// `<id> missing` has no size.
	const sizes = lines.map((line) => line.split(" ")).map(([id = "", size]) => [id, Number(size)] as const);
	return new Map(sizes.filter(([, size]) => Number.isInteger(size)));
}

/**
 * The contents of blobs in the order of their ids, in portions as they come.
 * @throws {GitFailure} where the repository does not have one of them, or git ends early
 */
export function readBlobs(repository: string, ids: readonly string[]): AsyncGenerator<Buffer[]> {
	return readObjects(repository, "blob", ids);
}

/**
 * The contents of objects of one type in the order of their ids, in portions as they come. For many it takes a fraction
 * of what asking for one after the other takes: git answers in long writes (`git cat-file --batch --buffer`).
 * @throws {GitFailure} where the repository does not have one of them, or git ends early
 */
export async function* readObjects(
	repository: string,
	type: "blob" | "commit",
	ids: readonly string[],
): AsyncGenerator<Buffer[]> {
	if (ids.length === 0) return;
	const child = startGit(repository, ["cat-file", "--batch", "--buffer"]);
	let complaint = "";
	child.stderr.on("data", (data: Buffer) => {
		complaint += data;
	});
	child.stdin.on("error", () => undefined);
	for (let start = 0; start < ids.length; start += idsInPortion) {
		child.stdin.write(`${ids.slice(start, start + idsInPortion).join("\n")}\n`);
	}
	child.stdin.end();
	let given = 0;
	let rest: Buffer = Buffer.alloc(0);
	/** Bytes that have to be there before the next look at what has come. */
	let needed = 1;
	const chunks: Buffer[] = [];
	let length = 0;
	try {
		for await (const chunk of outputOf(child, "cat-file")) {
			chunks.push(chunk);
			length += chunk.length;
			if (length < needed) continue;
			const parsed = parseObjects(Buffer.concat([...chunks.splice(0)]), type, ids, given);
			rest = parsed.rest;
			needed = parsed.needed;
			chunks.push(rest);
			length = rest.length;
			given += parsed.bodies.length;
			if (parsed.bodies.length > 0) yield parsed.bodies;
		}
		if (given < ids.length) throw new GitFailure(`git cat-file ended early: ${complaint.trim()}`);
	} finally {
		killGroup(child);
	}
}

/** The objects that are whole at the start of what has come, and how many bytes of the rest there have to be. */
function parseObjects(
	data: Buffer,
	type: "blob" | "commit",
	ids: readonly string[],
	given: number,
): { bodies: Buffer[]; rest: Buffer; needed: number } {
	const bodies: Buffer[] = [];
	let start = 0;
	let next = objectAt(data, start);
	for (; "end" in next; next = objectAt(data, start)) {
		const { object, end } = next;
		if (object?.type !== type)
			throw new GitDamage(`object ${ids[given + bodies.length]} is missing, or no ${type}`);
		bodies.push(object.body);
		start = end;
	}
	return { bodies, rest: data.subarray(start), needed: next.needed - start };
}
