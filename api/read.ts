import { asScript, bodyOf, type Fragments, findDocs } from "./docs.ts";
import { matchesEtag, textOf } from "./etag.ts";
import { emptyBody, fragmentHeaders, type Reply, refuseRead } from "./reply.ts";
import type { Wanted, WantedDocs } from "./wanted.ts";

export type { Fragment, Fragments } from "./docs.ts";
export { etagOf, hashOf } from "./etag.ts";
export { fragmentHeaders, readCaching } from "./reply.ts";

const jsonType = fragmentHeaders["Content-Type"];
const scriptType = "application/javascript; charset=utf-8";

/**
 * Answers a read. Pure, and the same on every engine.
 * @param ifNoneMatch the `If-None-Match` header, or null (RFC 9110, section 13.1.2)
 */
export function answerRead(wanted: Wanted, ifNoneMatch: string | null, fragments: Fragments): Reply {
	if (wanted.kind === "docs") return answerDocs(wanted, ifNoneMatch, fragments);
	const { target, lang, smallkey, callback } = wanted;
	const found = fragments(target, lang, smallkey);
	if (!found) return refuseRead(404);
	const fragment = callback === null ? found : asScript(found, callback);
	const type = callback === null ? jsonType : scriptType;
	const etag = textOf(fragment.etag);
	if (isUnchanged(ifNoneMatch, etag)) return notModified(type, etag);
	return { status: 200, headers: headersOf(type, etag), body: fragment.body };
}

function answerDocs(wanted: WantedDocs, ifNoneMatch: string | null, fragments: Fragments): Reply {
	const docs = findDocs(wanted, fragments);
	if (!docs) return refuseRead(414);
	const type = wanted.callback === null ? jsonType : scriptType;
	if (isUnchanged(ifNoneMatch, docs.etag)) return notModified(type, docs.etag);
	return { status: 200, headers: headersOf(type, docs.etag), body: bodyOf(docs) };
}

function isUnchanged(ifNoneMatch: string | null, etag: string): boolean {
	return ifNoneMatch !== null && matchesEtag(ifNoneMatch, etag);
}

function notModified(type: string, etag: string): Reply {
	return { status: 304, headers: headersOf(type, etag), body: emptyBody };
}

/** The headers are listed: copying `fragmentHeaders` for each request takes longer than finding the fragment. */
function headersOf(type: string, etag: string): Record<string, string> {
	return {
		"Content-Type": type,
		"Access-Control-Allow-Origin": fragmentHeaders["Access-Control-Allow-Origin"],
		"Access-Control-Expose-Headers": fragmentHeaders["Access-Control-Expose-Headers"],
		"Cache-Control": fragmentHeaders["Cache-Control"],
		"X-Content-Type-Options": fragmentHeaders["X-Content-Type-Options"],
		ETag: etag,
	};
}
