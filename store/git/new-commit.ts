import type { ImportedCommit } from "../../git/fast-import.ts";
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

/** A commit as git is given it. @throws {Error} where a name would break the commit's lines */
export function importedCommit({ edits, meta, committed }: NewCommit): ImportedCommit {
	return {
		author: person(meta.author, meta.time),
		committer: person(serviceName, committed),
		message: commitMessage(meta),
		edits,
	};
}

function person(name: string, timeMs: number): string {
	if (/[<>\n\0]/.test(name)) throw new Error(`${JSON.stringify(name)}: cannot be the name of an author`);
	return `${name} <${authorMail(name)}> ${Math.floor(timeMs / 1000)} +0000`;
}
