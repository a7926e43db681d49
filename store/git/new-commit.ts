import { authorMail, commitMessage, type Edit, type Meta } from "../store.ts";

/** One commit to write. */
export interface NewCommit {
	edits: Edit[];
	meta: Meta;
	/** Time of the commit itself, in milliseconds since 1970. */
	committed: number;
}

/** Name of the service in what it commits by itself. */
export const serviceName = "fragment-publisher";

/** The committer of every commit that the service makes, and of no other. */
export const serviceIdentity = `${serviceName} <${authorMail(serviceName)}>`;

/**
 * A commit object.
 * @param tree id of the tree of its files
 * @param parent id of the commit before it; null for the first
 * @throws {Error} where a name would break the object's lines
 */
export function commitBody(tree: string, parent: string | null, { meta, committed }: NewCommit): Buffer {
	const lines = [
		`tree ${tree}`,
		...(parent === null ? [] : [`parent ${parent}`]),
		`author ${person(meta.author, meta.time)}`,
		`committer ${person(serviceName, committed)}`,
	];
	return Buffer.from(`${lines.join("\n")}\n\n${commitMessage(meta)}`);
}

function person(name: string, timeMs: number): string {
	if (/[<>\n\0]/.test(name)) throw new Error(`${JSON.stringify(name)}: cannot be the name of an author`);
	return `${name} <${authorMail(name)}> ${Math.floor(timeMs / 1000)} +0000`;
}
