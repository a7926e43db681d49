import type { SchemaError, Validator } from "../schemas/compile.ts";
import { nearestName } from "./nearest.ts";
import { type BrokenRule, type Problems, pointerSegment, shownValue } from "./problems.ts";

/** An error's parameters: each keyword has its own. */
type Params = Record<string, unknown>;

/**
 * The texts of rules by their keyword, which is also their code. Every other rule has its text and its code beside it in
 * the schema, as `errorMessage` and `code`.
 */
const generalWords: Record<string, (params: Params, value: string) => string> = {
	required: () => "is missing",
	enum: ({ allowedValues }, value) => `must be ${(allowedValues as string[]).join(" or ")}, not ${value}`,
	const: ({ allowedValue }, value) => `must be ${allowedValue}, not ${value}`,
	type: ({ type }, value) => `must be ${articled(String(type))}, not ${value}`,
	maxLength: ({ limit }) => `must have at most ${limit} characters`,
	minLength: () => "must not be empty",
	minimum: ({ limit }, value) => `must be ${limit} or more, not ${value}`,
	minItems: ({ limit }) => `must have at least ${counted(limit)}`,
	maxItems: ({ limit }) => `must have at most ${counted(limit)}`,
};

/** Keywords whose errors only say that one below them failed. */
const wrappers: ReadonlySet<string> = new Set(["if", "propertyNames"]);

/**
 * The rules that a document is checked by. `written`: all of them. `stored`: those without which it could not be served,
 * so that a newer rule, or one for a single viewer's sake, never removes a stored layer.
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
		if (!isRepeated(error))
			problems.add(
				() => placeOf(error),
				() => ruleOf(error),
			);
	}
}

/** Whether an error only repeats another: the failure of a nested schema, or of a missing member. */
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
	const value = shownValue(error.keyword === "discriminator" ? error.params.tagValue : error.data);
	if (error.keyword === "additionalProperties") return { code: error.keyword, text: unknownMember(error) };
	const general = generalWords[error.keyword];
	if (general) return { code: error.keyword, text: general(error.params as Params, value) };
	const { errorMessage, code } = error.parentSchema ?? {};
	const rule = String(errorMessage ?? error.message);
	// The value helps with a pattern and a discriminator only; every other rule is about which members exist.
	const hasValue = error.keyword === "pattern" || error.keyword === "discriminator";
	return { code: String(code ?? error.keyword), text: hasValue ? `${rule}, not ${value}` : rule };
}

/** An unknown member, with the nearest known one. */
function unknownMember({ params, parentSchema }: SchemaError): string {
	const known = Object.keys((parentSchema?.properties ?? {}) as object);
	const nearest = nearestName(String((params as Params).additionalProperty), known);
	return `is not a known member${nearest === null ? "" : `: did you mean ${nearest}?`}`;
}

function articled(type: string): string {
	return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function counted(limit: unknown): string {
	return limit === 1 ? "1 entry" : `${limit} entries`;
}
