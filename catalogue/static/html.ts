/** A text as HTML has it, inside elements and attributes. */
export function escapeHtml(text: string): string {
	return text
		.replaceAll("&", "&amp;")
		.replaceAll("<", "&lt;")
		.replaceAll(">", "&gt;")
		.replaceAll('"', "&quot;")
		.replaceAll("'", "&#39;");
}

/** Content-hashed names of what the pages load, below the site's root. */
export interface Assets {
	/** The policy that each page carries. */
	policy: string;
	script: string;
	/** The script of the page at the root, which chooses a language. */
	choose: string;
	styles: string;
	landLight: string;
	landDark: string;
}

/** The head of every page. @param root from the page to the site's root, such as `../` */
export function headOf(root: string, assets: Assets, title: string, more: string): string {
	return `<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${assets.policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="strict-origin-when-cross-origin">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${root}${assets.styles}">
<link rel="icon" href="data:,">
${more}`;
}
