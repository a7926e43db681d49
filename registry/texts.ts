import type { ErrorObject } from "ajv";
import type { Validator } from "./schemas/compile.ts";
import { keyTexts, type Lang } from "./smallkey.ts";
import { documentTexts } from "./texts/documents.ts";
import { type Coded, fillText, textsByLang } from "./texts/pairs.ts";
import { requestTexts } from "./texts/requests.ts";
import { shorten } from "./untrusted.ts";

const pairs = { ...documentTexts, ...requestTexts, ...keyTexts };

export type TextCode = keyof typeof pairs;

export const texts = textsByLang(pairs);

export type Text = Coded<TextCode>;

export interface Problem extends Text {
	/**
	 * A JSON pointer, a header or a word such as `smallkey`; `document`: the whole. Empty where the text says
	 * it.
	 */
	place: string;
}

export function textOf(code: TextCode, ...values: Text["values"]): Text {
	return { code, values };
}

export function problemAt(place: string, code: TextCode, ...values: Text["values"]): Problem {
	return { place, code, values };
}

/** `/fr/layer: is missing`, `le document : doit être un objet` */
export function textIn(lang: Lang, { place = "", ...text }: Text & { place?: string }): string {
	const rule = fillText(texts[lang], text);
	if (place === "document") return fillText(texts[lang], textOf("document", rule));
	return place === "" ? rule : `${place}: ${rule}`;
}

const maxProblems = 20;

const maxPointerLength = 160;

const maxValueLength = 80;

/** Of a text that may hold a user name or password. */
export const credentials = /\/\/[^/?#]*@/;

export function textsOf(problems: readonly Problem[], lang: Lang = "en"): string[] {
	return problems.map((problem) => textIn(lang, problem));
}

export function listProblems(all: readonly Problem[]): Problem[] {
	const problems = all.slice(0, maxProblems).map(({ place, ...text }): Problem => {
		return { ...text, place: shorten(place.toWellFormed(), maxPointerLength) || "document" };
	});
	const hidden = all.length - problems.length;
	return hidden > 0 ? [...problems, problemAt("document", "more-problems", hidden)] : problems;
}

function pointerSegment(name: string): string {
	return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** RFC 6901. Cut early: names may be long, and many. */
export function pointerOf(path: readonly (string | number)[]): string {
	let pointer = "";
	for (const segment of path) {
		if (pointer.length > maxPointerLength) break;
		pointer += `/${pointerSegment(String(segment).slice(0, maxPointerLength + 1))}`;
	}
	return shorten(pointer.toWellFormed(), maxPointerLength);
}

/** At most 80 characters, without credentials. */
export function shownValue(value: unknown): string | Text {
	if (value === undefined) return textOf("nothing");
	if (Array.isArray(value)) return value.length === 0 ? "[]" : textOf("an-array");
	if (typeof value === "object" && value !== null) return textOf("an-object");
	if (typeof value !== "string") return String(value);
	if (credentials.test(value)) return "…";
	return shorten(JSON.stringify(value.slice(0, maxValueLength).toWellFormed()), maxValueLength);
}

type Params = Record<string, unknown>;

const limits = ["maxLength", "minimum", "maxItems"];

/** The first value of the text of a keyword; the second one is the wrong value. */
function firstValue(keyword: string, { type, allowedValues, limit }: Params) {
	// A test compares all schemas with the texts.
	if (keyword === "type") return textOf(`${/^[aeiou]/.test(String(type)) ? "an" : "a"}-${type}` as TextCode);
	if (keyword === "enum") return (allowedValues as string[]).join(" | ");
	if (limits.includes(keyword)) return limit as number;
	return keyword === "required" || keyword === "additionalProperties" ? "" : undefined;
}

/** `stored`: what a document needs to be served: no newer or single viewer's rule removes a stored layer. */
export type Rules = "written" | "stored";

/** The problems of the validator's last call. */
export function schemaProblems({ errors: all }: Validator, rules: Rules = "written"): Problem[] {
	const errors = (all ?? []).filter((error) => rules === "written" || !isOnlyOnWrite(error));
	const pointersOf = (test: (error: ErrorObject) => boolean) =>
		new Set(errors.filter(test).map(({ instancePath }) => instancePath));
	const foreign = pointersOf(isForeign);
	const mistyped = pointersOf(({ keyword }) => keyword === "type");
	const isShown = (error: ErrorObject) => !foreign.has(error.instancePath) && !isRepeated(error, mistyped);
	return errors
		.filter((error) => isForeign(error) || isShown(error))
		.map((error) => ({ place: placeOf(error), ...ruleOf(error) }));
}

/** The value does not belong to the type of the layer: nothing else is said of it. */
function isForeign({ keyword }: ErrorObject): boolean {
	return keyword === "false schema";
}

/** Another error reports the same. @param mistyped pointers to values of a wrong type */
function isRepeated({ keyword, params, instancePath }: ErrorObject, mistyped: ReadonlySet<string>): boolean {
	if (keyword === "discriminator") return params.tagValue === undefined;
	if (keyword === "if" || keyword === "propertyNames") return true;
	return keyword !== "type" && mistyped.has(instancePath);
}

const onlyOnWrite = ["maxLength", "pattern", "not"];

function isOnlyOnWrite({ keyword, parentSchema }: ErrorObject): boolean {
	return onlyOnWrite.includes(keyword) && parentSchema?.onlyOnWrite === true;
}

function placeOf({ instancePath, params, propertyName }: ErrorObject): string {
	const { missingProperty, additionalProperty, tag } = params as Params;
	const name = missingProperty ?? additionalProperty ?? tag ?? propertyName;
	return name === undefined ? instancePath : `${instancePath}/${pointerSegment(String(name))}`;
}

function ruleOf(error: ErrorObject): Text {
	const { keyword, params, data, parentSchema } = error;
	const value = shownValue(keyword === "discriminator" ? params.tagValue : data);
	const first = firstValue(keyword, params);
	if (first !== undefined) return textOf(keyword as TextCode, first, value);
	return textOf((parentSchema?.code ?? keyword) as TextCode, value);
}
