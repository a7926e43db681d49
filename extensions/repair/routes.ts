import type { OtherRoute, Question } from "../../api/context.ts";
import type { Reply } from "../../api/reply.ts";
import { decodeSegment, langs, parseSmallkey } from "../../registry/smallkey.ts";
import type { Catalogue } from "../../site/http/catalogue-requests.ts";
import { answerMoved, answerNoPage, rootFrom } from "../../site/http/pages.ts";
import { pageHeaders } from "../../site/http/site-headers.ts";
import { repairFile, repairFolders } from "../../site/static/addresses.ts";
import { repairHtml, repairsHtml } from "./repair-page.ts";
import type { ReadRepairs } from "./waiting-repairs.ts";

/** The folder of repairs in a language, with a slash and a smallkey behind it, with or without the file's ending. */
const repairPath = new RegExp(
	`^/(${Object.values(repairFolders).join("|")})(?:(/)([^/?]{0,200}?)(?:\\.html)?)?(?:\\?.*)?$`,
);

/**
 * GET <base>/en/repair/<smallkey>, /en/repair/ and the same in French: they follow the repository, so that a decision changes
 * them at once.
 */
export function repairRoutes(catalogue: Catalogue, repairs: ReadRepairs): OtherRoute[] {
	async function answer({ path, basePath }: Question): Promise<Reply> {
		const [, folder = "", slash, segment = ""] = repairPath.exec(path) ?? [];
		if (slash === undefined) return answerMoved(`${basePath}/${folder}/${path.slice(folder.length + 1)}`);
		const lang = langs.find((candidate) => repairFolders[candidate] === folder) ?? "en";
		const smallkey = segment === "" ? "" : parseSmallkey(decodeSegment(segment) ?? "");
		const file = repairFile(lang, smallkey ?? "");
		const [settings, { isSecure }] = [await catalogue.settings(), catalogue.files];
		const page = { file, root: rootFrom(path.slice(1)) };
		if (!settings || smallkey === null) return answerNoPage(page, settings, isSecure);
		const found = smallkey === "" ? null : await repairs.of(smallkey);
		if (smallkey !== "" && !found) return answerNoPage(page, settings, isSecure);
		const html = found
			? repairHtml(lang, smallkey, await catalogue.entries.find(smallkey), found, settings)
			: repairsHtml(lang, await repairs.list(), settings);
		return { status: 200, headers: pageHeaders(file, isSecure), body: new TextEncoder().encode(html) };
	}

	const bound = "one list of git for all who ask meanwhile; the evidence of a repair is read once";
	return [{ name: "page", bound, matches: (path) => repairPath.test(path), answer }];
}
