import type { ErrorObject } from "ajv";
import type { Validator } from "./schemas/compile.ts";
import {
	oneOf,
	type Problem,
	pointerSegment,
	shownValue,
	type Text,
	type TextCode,
	textOf,
} from "./texts.ts";

type Params = Record<string, unknown>;

/** For keywords that are the code of their text: its first value; the second one is the wrong value. */
const valuesOf: Readonly<Record<string, (params: Params) => string | number | Text>> = {
	required: () => "",
	additionalProperties: () => "",
	enum: ({ allowedValues }) => oneOf(allowedValues as string[]),
	// A test compares the types and keywords of all schemas with the texts.
	type: ({ type }) => textOf(`${/^[aeiou]/.test(String(type)) ? "an" : "a"}-${type}` as TextCode),
	...{ maxLength: limitOf, minimum: limitOf, maximum: limitOf, maxItems: limitOf },
};

function limitOf({ limit }: Params): number {
	return limit as number;
}

/**
 * `stored`: what a document needs to be served at all: a newer rule, or one for a single viewer, never
 * removes a stored layer.
 */
export type Rules = "written" | "stored";

/** The problems that a validator found last. */
export function schemaProblems({ errors: all }: Validator, rules: Rules = "written"): Problem[] {
	const errors = (all ?? []).filter((error) => rules === "written" || !isOnlyOnWrite(error));
	const ofType = errors.filter(({ keyword }) => keyword === "type");
	const mistyped = new Set(ofType.map(({ instancePath }) => instancePath));
	return errors
		.filter((error) => !isRepeated(error, mistyped))
		.map((error) => ({ place: placeOf(error), ...ruleOf(error) }));
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
	const first = valuesOf[keyword]?.(params);
	const [example] = keyword === "type" ? (parentSchema?.examples ?? []) : [];
	if (first && example) return textOf("type-example", first, shownValue(example));
	if (first !== undefined) return textOf(keyword as TextCode, first, value);
	const code: string = parentSchema?.code ?? keyword;
	const isAlmost = code === "address" && /^\s*https?:/i.test(data as string);
	return textOf((isAlmost ? "address-impossible" : code) as TextCode, value);
}
