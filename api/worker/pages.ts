import { etagOf, textOf } from "../etag.ts";
import { answerPage, type PageWanted } from "../pages.ts";
import { Rendered } from "../rendered.ts";
import type { Reply } from "../reply.ts";
import { type Bindings, fetchPage } from "./bindings.ts";

/**
 * Answers with a file of the catalogue that the hosting has, or with the page of a layer, made of the index: that takes
 * three files. @throws {Error} where a binding fails
 */
export async function handleFetchedPage(
	wanted: PageWanted,
	ifNoneMatch: string | null,
	bindings: Bindings,
): Promise<Reply> {
	const found = await fetchPage(bindings, wanted.file);
	if (found) return answerPage(wanted, found.body, { ifNoneMatch, isSecure: true, etag: textOf(found.etag) });
	const rendered = new Rendered(async (file) => {
		const read = await fetchPage(bindings, file);
		return read && new TextDecoder().decode(read.body);
	});
	// The plain list would take every chunk, more files than a request may fetch; a build has it as files.
	const page = layerPage.test(wanted.file) ? await rendered.page(wanted.file) : null;
	const body = page === null ? null : new TextEncoder().encode(page);
	return answerPage(wanted, body, { ifNoneMatch, isSecure: true, ...(body && { etag: etagOf(body) }) });
}

const layerPage = /^(?:en\/layer|fr\/couche)\//;
