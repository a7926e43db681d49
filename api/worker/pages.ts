import { textOf } from "../etag.ts";
import { answerPage } from "../pages.ts";
import type { Reply } from "../reply.ts";
import { type Bindings, fetchPage } from "./bindings.ts";

/** Answers with a file of the catalogue that the hosting has. @throws {Error} where a binding fails */
export async function handleFetchedPage(
	file: string,
	ifNoneMatch: string | null,
	bindings: Bindings,
): Promise<Reply> {
	const found = await fetchPage(bindings, file);
	const request = { ifNoneMatch, isSecure: true, ...(found && { etag: textOf(found.etag) }) };
	return answerPage(file, found?.body ?? null, request);
}
