import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked, type Tokens } from "marked";
import type { Lang } from "../../registry/smallkey.ts";
import { frameHtml } from "../static/frame.ts";
import { type Assets, escapeHtml, Html, html } from "../static/html.ts";

/** One page of the documents, as it is in `docs/`. */
export interface GuidePage {
	/** Path below `docs/`: `publish.md`, `fr/publish.md`. */
	path: string;
	markdown: string;
}

/** Where the contents are, in each folder. */
const contentsName = "README.md";

/** The page on security: outside `docs/` it has another name. */
export const securityFile = "SECURITY.md";
export const securityPage = "security.md";

const docs = fileURLToPath(new URL("../../docs", import.meta.url));

/** Every page of the documents, sorted by path. */
export function readGuidePages(): GuidePage[] {
	const names = readdirSync(docs, { recursive: true, encoding: "utf8" });
	const paths = names.map((name) => name.replaceAll("\\", "/")).filter((name) => name.endsWith(".md"));
	const pages = paths.sort().map((path) => ({ path, markdown: readFileSync(join(docs, path), "utf8") }));
	// GitHub expects it at this place, and its links are relative to it.
	const security = readFileSync(join(docs, "..", securityFile), "utf8");
	return [...pages, { path: securityPage, markdown: security.replaceAll("](docs/", "](") }];
}

/** The documents as pages of the site, by path below its root. */
export function guideFiles(assets: Assets): Map<string, string> {
	return renderGuide(readGuidePages(), assets);
}

/** The pages as HTML, by path below the site's root: `guide/publish.html`, `guide/fr/index.html`. */
export function renderGuide(pages: readonly GuidePage[], assets: Assets): Map<string, string> {
	const known = new Set(pages.map(({ path }) => path));
	return new Map(
		pages.map((page) => {
			const { path, markdown } = page;
			const lang: Lang = path.startsWith("fr/") ? "fr" : "en";
			const other = otherLanguage(path, known);
			const otherLang = lang === "en" ? "fr" : "en";
			const frame = {
				...{ lang, root: "../".repeat(path.split("/").length), other, title: titleOf(page) },
				content: new Html(renderMarkdown(markdown, path, known, lang)),
				head: other !== null && html`<link rel="alternate" hreflang="${otherLang}" href="${other}">`,
				attributes: html` class="guide"`,
			};
			return [`guide/${htmlPath(path)}`, frameHtml(assets, frame)];
		}),
	);
}

/** `publish.html` of `publish.md`, `index.html` of the contents. */
function htmlPath(path: string): string {
	return path.replace(contentsName, "index.md").replace(/\.md$/, ".html");
}

/** From a page to the same one in the other language; null where there is none. */
function otherLanguage(path: string, known: ReadonlySet<string>): string | null {
	const isFrench = path.startsWith("fr/");
	const other = isFrench ? path.slice("fr/".length) : `fr/${path}`;
	if (!known.has(other)) return null;
	return isFrench ? `../${htmlPath(other)}` : htmlPath(other);
}

function titleOf({ path, markdown }: GuidePage): string {
	return /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll("`", "") ?? path;
}

/**
 * Markdown as HTML: HTML in it is shown as text, and links lead to the pages of the guide.
 * What is not there, such as a source file, is its text alone.
 */
function renderMarkdown(markdown: string, path: string, known: ReadonlySet<string>, lang: Lang): string {
	const slugOf = slugs();
	const named = (en: string, fr: string) =>
		`role="group" aria-label="${lang === "fr" ? fr : en}" tabindex="0"`;
	const marked = new Marked({
		renderer: {
			html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
			image: ({ text }: Tokens.Image) => escapeHtml(text),
			// Wide ones are scrolled: with the keyboard, too.
			code: ({ text }: Tokens.Code) =>
				`<pre ${named("Example", "Exemple")}><code>${escapeHtml(text)}\n</code></pre>\n`,
			heading({ tokens, depth, text }: Tokens.Heading) {
				return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
			},
			link({ href, tokens }: Tokens.Link) {
				const content = this.parser.parseInline(tokens);
				const target = linkTarget(href, path, known);
				return target === null ? content : `<a href="${escapeHtml(target)}">${content}</a>`;
			},
			table(token: Tokens.Table) {
				const cells = (row: Tokens.TableCell[], name: "td" | "th") =>
					`<tr>${row.map((cell) => `<${name}>${this.parser.parseInline(cell.tokens)}</${name}>`).join("")}</tr>\n`;
				const rows = token.rows.map((row) => cells(row, "td")).join("");
				return `<div class="wide" ${named("Table", "Tableau")}><table>\n<thead>${cells(token.header, "th")}</thead>\n<tbody>${rows}</tbody>\n</table></div>\n`;
			},
		},
	});
	return marked.parse(markdown, { async: false });
}

/** Where a link of a page leads; null where that is nothing that the site has. */
function linkTarget(href: string, path: string, known: ReadonlySet<string>): string | null {
	if (/^https?:\/\//.test(href) || href.startsWith("#")) return href;
	const [file = "", anchor] = href.replace(`../${securityFile}`, securityPage).split("#");
	const found = new URL(file, `http://docs/${path}`).pathname.slice(1);
	// From `docs/`, a path that leaves it begins at the root, too.
	const isInside = !file.startsWith(path.includes("/") ? "../../" : "../");
	if (!isInside || !known.has(found)) return null;
	return `${htmlPath(file)}${anchor === undefined ? "" : `#${anchor}`}`;
}

/** Names headings of one page as GitHub does. */
function slugs(): (text: string) => string {
	const used = new Map<string, number>();
	return (text) => {
		const bare = text.toLowerCase().replace(/[^\p{L}\p{N}\p{M} _-]/gu, "");
		const slug = bare.replaceAll(" ", "-");
		const times = used.get(slug) ?? 0;
		used.set(slug, times + 1);
		return times === 0 ? slug : `${slug}-${times}`;
	};
}
