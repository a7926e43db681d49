import { keyTexts, type Lang, langs } from "./smallkey.ts";
import { documentTexts } from "./texts/documents.ts";
import { type Coded, fillText, textsByLang } from "./texts/pairs.ts";
import { requestTexts } from "./texts/requests.ts";
import { shortened } from "./untrusted-text.ts";

const pairs = { ...documentTexts, ...requestTexts, ...keyTexts };

export type TextCode = keyof typeof pairs;

export const texts = textsByLang(pairs);

export type Text = Coded<TextCode>;

export interface Problem extends Text {
	/**
	 * A JSON pointer, the name of a header, or a word such as `smallkey`; `document` is the whole document.
	 * Empty where the text says it.
	 */
	place: string;
}

export function textOf(code: TextCode, ...values: Text["values"]): Text {
	return { code, values };
}

export function problemAt(place: string, code: TextCode, ...values: Text["values"]): Problem {
	return { place, code, values };
}

export function oneOf(names: readonly string[]): string | Text {
	const [first = "", ...rest] = names;
	return rest.length === 0 ? first : textOf("or", first, oneOf(rest));
}

/** `/fr/layer: is missing`, `le document : doit être un objet` */
export function textIn(lang: Lang, { place = "", ...text }: Text & { place?: string }): string {
	const rule = fillText(texts[lang], text);
	if (place === "document") return fillText(texts[lang], textOf("document", rule));
	return place === "" ? rule : `${place}: ${rule}`;
}

const maxProblems = 20;

/** As JSON, so that they fit into an answer of 16 kB. */
const maxProblemBytes = 15_000;

const maxPointerLength = 160;

const maxValueLength = 80;

/** Characters that are searched for credentials before the text is cut. */
const maxSearchedLength = 200;

const encoder = new TextEncoder();

export function textsOf(problems: readonly Problem[], lang: Lang = "en"): string[] {
	return problems.map((problem) => textIn(lang, problem));
}

export function listProblems(all: readonly Problem[]): Problem[] {
	const problems: Problem[] = [];
	let bytes = 0;
	for (const { place, ...text } of all.slice(0, maxProblems)) {
		const problem = { ...text, place: shortened(place.toWellFormed(), maxPointerLength) || "document" };
		bytes += Math.max(...langs.map((lang) => encoder.encode(JSON.stringify(textIn(lang, problem))).length));
		if (bytes > maxProblemBytes) break;
		problems.push(problem);
	}
	const hidden = all.length - problems.length;
	if (hidden > 0) problems.push(problemAt("document", "more-problems", hidden));
	return problems;
}

export function pointerSegment(name: string): string {
	return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** RFC 6901. Cut early: names may be long, and this may run thousands of times. */
export function pointerOf(path: readonly (string | number)[]): string {
	let pointer = "";
	for (const segment of path) {
		if (pointer.length > maxPointerLength) break;
		pointer += `/${pointerSegment(String(segment).slice(0, maxPointerLength + 1))}`;
	}
	return shortened(pointer.toWellFormed(), maxPointerLength);
}

/** JSON of at most 80 characters, without the credentials of an address. */
export function shownValue(value: unknown): string | Text {
	if (value === undefined) return textOf("nothing");
	if (Array.isArray(value)) return value.length === 0 ? "[]" : textOf("an-array");
	if (typeof value === "object" && value !== null) return textOf("an-object");
	if (typeof value !== "string") return String(value);
	const start = JSON.stringify(value.slice(0, maxSearchedLength).toWellFormed());
	const text = start.replace(/\/\/[^/?#"]*@/g, "//…@");
	// A cut within an address's authority may leave a user name.
	const safe = value.length > maxSearchedLength ? text.replace(/\/\/[^/?#"]*"$/, '//…"') : text;
	return shortened(safe, maxValueLength);
}
