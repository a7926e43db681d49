import type { Lang } from "../../registry/smallkey.ts";
import type { TargetName } from "../../registry/targets/target.ts";

/** A text as HTML has it, inside elements and attributes. */
export function escapeHtml(text: string): string {
	return text
		.replaceAll("&", "&amp;")
		.replaceAll("<", "&lt;")
		.replaceAll(">", "&gt;")
		.replaceAll('"', "&quot;")
		.replaceAll("'", "&#39;");
}

/** HTML, in which nothing needs to be escaped any more. */
export class Html {
	constructor(readonly text: string) {}
}

/** What a template holds: texts, which are escaped, HTML, and lists of both; null, undefined and false are nothing. */
export type Part = Html | string | number | null | undefined | false | readonly Part[];

/** HTML as a template has it. Attributes are in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
	return new Html(String.raw({ raw: strings }, ...parts.map(textOf)));
}

function textOf(part: Part): string {
	if (part instanceof Html) return part.text;
	if (Array.isArray(part)) return part.map(textOf).join("");
	return part === null || part === undefined || part === false ? "" : escapeHtml(String(part));
}

/** A value as JSON in a script, which without a `<` nothing in it ends. */
export function scriptData(value: object): Html {
	return new Html(JSON.stringify(value).replaceAll("<", "\\u003c"));
}

/** Content-hashed names of what the pages load, below the site's root. */
export interface Assets {
	/** The policy that each page carries. */
	policy: string;
	script: string;
	/** The script of the page at the root, which chooses a language. */
	choose: string;
	styles: string;
	icon: string;
	landLight: string;
	landDark: string;
}

/** What a page made of entries needs beside them: the content of `pages.json`. */
export interface PageSettings {
	assets: Assets;
	/** Address of the site with a slash at its end; empty where it is not known. */
	publicUrl: string;
	/** Names of the targets that are served. */
	targets: readonly TargetName[];
	/** Address of the public repository; empty where it is not public. */
	repository: string;
	/** Whether each layer has a page without a script. */
	hasLayerPages: boolean;
}

/** Where the settings of pages are kept, for pages that are rendered when they are asked for. */
export const pageSettingsPath = "pages.json";

/** What the catalogue's own page loads beside that. */
export interface PageAssets extends Assets {
	/** Scripts that the page's own imports at once. */
	imports: readonly string[];
	/** The script that finds texts. */
	worker: string;
}

/** A whole document. */
export function documentHtml(lang: Lang, head: Part, body: Part): string {
	const page = html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}
</head>
<body>
${body}
</body>
</html>
`;
	return page.text;
}

/** The head of every page. @param root from the page to the site's root, such as `../` */
export function headOf(root: string, assets: Assets, title: string, more: Part): Html {
	return html`<meta http-equiv="Content-Security-Policy" content="${new Html(assets.policy)}">
<meta name="referrer" content="strict-origin-when-cross-origin">
<title>${title}</title>
<link rel="stylesheet" href="${root}${assets.styles}">
<link rel="icon" type="image/svg+xml" href="${root}${assets.icon}">
${more}`;
}
