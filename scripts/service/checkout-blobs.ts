import { runGit } from "../../api/git/run.ts";

/** The end of GitHub's route to a blob, with its id. */
const blobPath = /\/git\/blobs\/([0-9a-f]{40})$/;

/**
 * A fetch that takes the blobs which a checkout has from there, and the rest from GitHub: a blob is the same wherever
 * its id is, and GitHub allows a workflow's token 1,000 requests an hour ("Rate limits for the REST API").
 */
export function fetchPastCheckout(checkout: string, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
	return async (input, init) => {
		const id = isRead(init) ? blobPath.exec(addressOf(input))?.[1] : undefined;
		const bytes = id ? await readBlob(checkout, id) : null;
		return bytes ? Response.json({ content: bytes.toString("base64") }) : fetch(input, init);
	};
}

function isRead(init: RequestInit | undefined): boolean {
	return (init?.method ?? "GET") === "GET";
}

function addressOf(input: string | URL | Request): string {
	return input instanceof Request ? input.url : String(input);
}

/** The bytes of a blob; null where the checkout does not have it. */
async function readBlob(checkout: string, id: string): Promise<Buffer | null> {
	return runGit(checkout, ["cat-file", "blob", id]).catch(() => null);
}
