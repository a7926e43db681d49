import type { SchemaError, Validator } from "../schemas/compile.ts";
import { nearestName } from "./nearest.ts";
import { type Problems, pointerSegment, shownValue } from "./problems.ts";
import { type BrokenRule, broken, type TextCode } from "./texts.ts";

/** An error's parameters: each keyword has its own. */
type Params = Record<string, unknown>;

/** The keywords whose name is their code, and what their text names before the wrong value. */
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
		if (!isRepeated(error)) problems.add(() => [placeOf(error), ruleOf(error)]);
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
