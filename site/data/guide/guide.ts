import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import glob from "fast-glob";
import { Marked, Renderer, type Tokens } from "marked";
import { type Lang, otherLang } from "../../../registry/smallkey.ts";
import { frameHtml } from "../../static/frame.ts";
import { escapeHtml, Html, html } from "../../static/html.ts";
import type { PageSettings } from "../../static/page-settings.ts";
import { textsIn } from "../../text/static.ts";

/** The page on security has another name in the root of the repository. */
const securityFile = "SECURITY.md";
const securityPage = "security.md";

const docs = fileURLToPath(new URL("../../../docs", import.meta.url));

/** Sorted by path, then security. Paths are below `docs/`: `fr/publish.md`. */
export function readGuidePages() {
	const paths = glob.sync("**/*.md", { cwd: docs }).sort();
	const pages = paths.map((path) => ({ path, markdown: readFileSync(join(docs, path), "utf8") }));
	// GitHub expects SECURITY.md in the root, so its links begin with `docs/`.
	const security = readFileSync(join(docs, "..", securityFile), "utf8");
	return [...pages, { path: securityPage, markdown: security.replaceAll("](docs/", "](") }];
}

export function renderGuide(
	pages: ReturnType<typeof readGuidePages>,
	settings: PageSettings,
): Map<string, string> {
	const paths = new Set(pages.map(({ path }) => path));
	return new Map(
		pages.map(({ path, markdown }) => {
			const lang = path.startsWith("fr/") ? "fr" : "en";
			const [otherPath, up] = lang === "fr" ? [path.slice("fr/".length), "../"] : [`fr/${path}`, ""];
			const other = paths.has(otherPath) ? up + htmlPath(otherPath) : null;
			const page = frameHtml(settings, {
				lang,
				root: "../".repeat(path.split("/").length),
				other,
				title: /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll("`", "") ?? path,
				content: new Html(renderMarkdown(markdown, path, paths, lang)),
				head: other !== null && html`<link rel="alternate" hreflang="${otherLang[lang]}" href="${other}">`,
				className: "guide",
			});
			return [`guide/${htmlPath(path)}`, page];
		}),
	);
}

function htmlPath(path: string): string {
	return path.replace("README.md", "index.md").replace(/\.md$/, ".html");
}

/** Shows HTML as text. A link in the repository, but not in the guide, becomes plain text. */
function renderMarkdown(markdown: string, path: string, paths: ReadonlySet<string>, lang: Lang): string {
	const slugOf = createSlugs();
	const { t } = textsIn[lang];
	const group = (code: "example" | "table") => `role="group" aria-label="${t(code)}" tabindex="0"`;
	const marked = new Marked({
		renderer: {
			html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
			image: ({ text }: Tokens.Image) => escapeHtml(text),
			// Wide examples and tables scroll; `tabindex` lets the keyboard scroll them, too.
			code: ({ text }: Tokens.Code) => `<pre ${group("example")}><code>${escapeHtml(text)}\n</code></pre>\n`,
			heading({ tokens, depth, text }: Tokens.Heading) {
				return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
			},
			link({ href, tokens }: Tokens.Link) {
				const content = this.parser.parseInline(tokens);
				const target = linkTarget(href, path, paths);
				return target === null ? content : `<a href="${escapeHtml(target)}">${content}</a>`;
			},
			table(token: Tokens.Table) {
				return `<div class="wide" ${group("table")}>${Renderer.prototype.table.call(this, token)}</div>\n`;
			},
		},
	});
	return marked.parse(markdown, { async: false });
}

function linkTarget(href: string, path: string, paths: ReadonlySet<string>): string | null {
	if (/^https?:\/\//.test(href) || href.startsWith("#")) return href;
	const [file = "", anchor] = href.replace(`../${securityFile}`, securityPage).split("#");
	const page = new URL(file, `http://docs/${path}`).pathname.slice(1);
	// `URL` drops a `..` above the root, so a link out of `docs/` would look like one inside.
	const isInside = !file.startsWith(path.includes("/") ? "../../" : "../");
	if (!isInside || !paths.has(page)) return null;
	return `${htmlPath(file)}${anchor === undefined ? "" : `#${anchor}`}`;
}

/** Ids of a page's headings, as GitHub makes them; a repeated one gets a number. */
function createSlugs(): (text: string) => string {
	const used = new Map<string, number>();
	return (text) => {
		const slug = text
			.toLowerCase()
			.replace(/[^\p{L}\p{N}\p{M} _-]/gu, "")
			.replaceAll(" ", "-");
		const times = used.get(slug) ?? 0;
		used.set(slug, times + 1);
		return times === 0 ? slug : `${slug}-${times}`;
	};
}
