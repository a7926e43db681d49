const escapes: Readonly<Record<string, string>> = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	'"': "&quot;",
	"'": "&#39;",
};

export function escapeHtml(text: string): string {
	return text.replace(/[&<>"']/g, (sign) => escapes[sign] ?? "");
}

export class Html {
	constructor(readonly text: string) {}
}

/** Texts are escaped. Null, undefined and false render nothing. */
export type Part = Html | string | number | null | undefined | false | readonly Part[];

/** Attributes must be in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
	let text = strings[0] as string;
	for (const [at, part] of parts.entries()) text += textOf(part) + strings[at + 1];
	return new Html(text);
}

function textOf(part: Part): string {
	if (part instanceof Html) return part.text;
	if (Array.isArray(part)) return part.map(textOf).join("");
	return part === null || part === undefined || part === false ? "" : escapeHtml(String(part));
}

/** Has no `<`, so that it cannot end the `script` element. */
export function scriptData(value: object): Html {
	return new Html(JSON.stringify(value).replaceAll("<", "\\u003c"));
}
