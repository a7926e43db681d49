import { credentials } from "./texts.ts";

export interface Draft {
	smallkey: string;
	text: string;
}

/** Mail programs and terminals cut longer addresses. */
const maxShownLength = 16_000;

/** Three characters for each byte of a registration. */
const maxHashLength = 200_000;

/**
 * `#draft=…&text=…`, which browsers never send, without characters of Markdown; empty if it were too long to
 * be read.
 */
export function draftHash({ smallkey, text }: Draft): string {
	const hash = `#${new URLSearchParams({ draft: smallkey, text })}`.replaceAll("*", "%2A");
	return hash.length > maxHashLength ? "" : hash;
}

/** Null if the draft is too long or holds credentials, or `publicUrl` is empty. */
export function draftAddress(publicUrl: string, draft: Draft): string | null {
	const hash = draftHash(draft);
	if (publicUrl === "" || hash === "" || credentials.test(draft.text)) return null;
	const address = `${publicUrl}/?page=draft${hash}`;
	return address.length > maxShownLength ? null : address;
}

/** Null if it is not one of `draftHash`. */
export function readDraft(hash: string): Draft | null {
	const values = new URLSearchParams(hash.length > maxHashLength ? "" : hash.slice(1));
	const [smallkey, text] = [values.get("draft"), values.get("text")];
	return smallkey === null || text === null ? null : { smallkey: smallkey.slice(0, 64), text };
}
