import type { OtherRoute, Question } from "../../api/context.ts";
import type { Catalogue } from "./catalogue-requests.ts";
import { answerMoved, noPage, parsePage } from "./pages.ts";

/** With a page for every path that nothing else answers. */
export function catalogueRoutes(catalogueOf: () => Catalogue): OtherRoute[] {
	const bound = "a file, or one page rendered from entries in memory";
	const answer = (question: Question) => {
		const { path, basePath } = question;
		const route = parsePage(path, basePath);
		if (typeof route === "string") return answerMoved(route);
		return catalogueOf().answer(route ?? noPage(path, basePath), question);
	};
	return [
		{ name: "page", bound, matches: (path) => parsePage(path, "") !== null, answer },
		{ name: "page", bound, isFallback: true, matches: (path) => path.startsWith("/"), answer },
	];
}
