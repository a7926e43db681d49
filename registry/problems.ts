import type { SchemaError, Validator } from "../schemas/compile.ts";
import { nearestName } from "./nearest.ts";
import { type BrokenRule, broken, type TextCode } from "./texts.ts";

/** Most problems of one document that are listed; the others are counted. */
export const maxProblems = 20;

/** Most bytes of the listed problems as JSON, so that they fit into an answer of 16 kB. */
const maxProblemBytes = 15_000;

/** Longest pointer in a problem, in characters. */
const maxPointerLength = 160;

/** Longest value in a problem, in characters. */
const maxValueLength = 80;

/** Most characters of a text that are searched for credentials before the text is cut. */
const maxSearchedLength = 200;

const encoder = new TextEncoder();

/** The texts of problems, in the same order. */
export function textsOf(problems: readonly BrokenRule[]): string[] {
	return problems.map(({ text }) => text);
}

/**
 * The problems of one document, each as `<JSON pointer>: <rule>`. At most 20 of them and a count of the others are kept,
 * with long pointers cut: at most 16 kB as JSON.
 */
export class Problems {
	readonly #problems: BrokenRule[] = [];
	#bytes = 0;
	#hidden = 0;

	/** Adds a problem. `make` is called only for a problem that is listed. */
	add(make: () => readonly [pointer: string, rule: BrokenRule]): void {
		if (this.#problems.length < maxProblems && this.#hidden === 0) {
			const [pointer, rule] = make();
			const text = `${cutPointer(pointer) || "the document"}: ${rule.text}`;
			const bytes = this.#bytes + encoder.encode(JSON.stringify(text)).length;
			if (bytes <= maxProblemBytes) {
				this.#bytes = bytes;
				this.#problems.push({ code: rule.code, text });
				return;
			}
		}
		this.#hidden += 1;
	}

	get isEmpty(): boolean {
		return this.#problems.length === 0 && this.#hidden === 0;
	}

	/** The problems in the order of their addition. If some are not listed, the last element has their number. */
	list(): BrokenRule[] {
		if (this.#hidden === 0) return [...this.#problems];
		const code = this.#hidden === 1 ? "more-problem" : "more-problems";
		return [...this.#problems, broken(code, this.#hidden)];
	}
}

/** Escapes one member name for a JSON pointer (RFC 6901, section 3). */
export function pointerSegment(name: string): string {
	return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * The JSON pointer (RFC 6901) of a path, cut as in a problem: `["en", "a/b", 0]` is `/en/a~1b/0`. Stops as soon as the
 * pointer is long enough: names may be long, and this function may run thousands of times.
 */
export function pointerOf(path: readonly (string | number)[]): string {
	let pointer = "";
	for (const segment of path) {
		if (pointer.length > maxPointerLength) break;
		pointer += `/${pointerSegment(String(segment).slice(0, maxPointerLength + 1))}`;
	}
	return cutPointer(pointer);
}

function cutPointer(pointer: string): string {
	return pointer.length > maxPointerLength
		? `${cut(pointer, maxPointerLength - 1)}…`
		: pointer.toWellFormed();
}

/** A value as an error's text shows it: JSON, at most 80 characters, without the credentials of an address. */
export function shownValue(value: unknown): string {
	if (value === undefined) return "nothing";
	if (Array.isArray(value)) return value.length === 0 ? "[]" : "a list";
	if (typeof value === "object" && value !== null) return "an object";
	if (typeof value !== "string") return String(value);
	const isLong = value.length > maxSearchedLength;
	const text = JSON.stringify(cut(value, maxSearchedLength)).replace(/\/\/[^/?#"]*@/g, "//…@");
	// If the text was cut within the authority of an address, the remaining part may be a user name.
	const safe = isLong ? text.replace(/\/\/[^/?#"]*"$/, '//…"') : text;
	return safe.length > maxValueLength ? `${cut(safe, maxValueLength - 1)}…` : safe;
}

/** The first characters of a text, without half a surrogate pair. */
function cut(text: string, length: number): string {
	return text.slice(0, length).toWellFormed();
}

type Params = Record<string, unknown>;

/** For keywords that are the code of their own text: the first value of that text; the second one is the wrong value. */
const valuesOf: Readonly<Record<string, (params: Params) => unknown>> = {
	required: () => "",
	minLength: () => "",
	enum: ({ allowedValues }) => (allowedValues as string[]).join(" or "),
	const: ({ allowedValue }) => allowedValue,
	type: ({ type }) => (/^[aeiou]/.test(String(type)) ? `an ${type}` : `a ${type}`),
	maxLength: ({ limit }) => limit,
	minimum: ({ limit }) => limit,
	minItems: ({ limit }) => counted(limit),
	maxItems: ({ limit }) => counted(limit),
};

/** Keywords whose errors only say that a nested schema failed. */
const wrappers: ReadonlySet<string> = new Set(["if", "propertyNames"]);

/**
 * The rules by which a document is checked. `written`: all rules. `stored`: only the rules that a document must keep to be
 * served at all, so that a newer rule, or a rule for a single viewer, never removes a stored layer.
 */
export type Rules = "written" | "stored";

/** Checks a value against a schema and adds a problem for each rule that it breaks. */
export function addSchemaProblems(
	problems: Problems,
	validate: Validator,
	value: unknown,
	rules: Rules = "written",
): void {
	if (validate(value)) return;
	for (const error of validate.errors ?? []) {
		if (rules === "stored" && isOnlyOnWrite(error)) continue;
		if (!isRepeated(error)) problems.add(() => [placeOf(error), ruleOf(error)]);
	}
}

/** Whether an error only repeats another one: that a nested schema failed, or that a member is missing. */
function isRepeated({ keyword, params }: SchemaError): boolean {
	if (keyword === "discriminator") return params.tagValue === undefined;
	return wrappers.has(keyword);
}

/** A schema's `onlyOnWrite` applies to its `pattern` or its `not`. */
function isOnlyOnWrite({ keyword, parentSchema }: SchemaError): boolean {
	return (keyword === "pattern" || keyword === "not") && parentSchema?.onlyOnWrite === true;
}

/** The JSON pointer of an error; of a missing, unknown or wrongly named member, that of the member. */
function placeOf({ instancePath, params, propertyName }: SchemaError): string {
	const { missingProperty, additionalProperty, tag } = params as Params;
	const name = missingProperty ?? additionalProperty ?? tag ?? propertyName;
	return name === undefined ? instancePath : `${instancePath}/${pointerSegment(String(name))}`;
}

function ruleOf(error: SchemaError): BrokenRule {
	const { keyword, params, data, parentSchema } = error;
	if (keyword === "additionalProperties") return unknownMember(error);
	const value = shownValue(keyword === "discriminator" ? params.tagValue : data);
	const first = valuesOf[keyword];
	if (first) return broken(keyword as TextCode, first(params), value);
	return broken((parentSchema?.code ?? keyword) as TextCode, value);
}

/** An unknown member, with the nearest known one: `lyer` for `layer`, `url` for `service_url`. */
function unknownMember({ params, parentSchema }: SchemaError): BrokenRule {
	const known = Object.keys((parentSchema?.properties ?? {}) as object);
	const name = String((params as Params).additionalProperty);
	const isPart = (one: string) => one.split("_").includes(name.toLowerCase());
	const nearest = nearestName(name, known) ?? known.find(isPart) ?? null;
	return nearest === null ? broken("additionalProperties") : broken("misspelt", nearest);
}

function counted(limit: unknown): string {
	return limit === 1 ? "1 entry" : `${limit} entries`;
}
