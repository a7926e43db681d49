import Ajv, { type AnySchema, type ErrorObject, type Options } from "ajv";
import { formats } from "./formats.ts";

/** One reason why a value does not fit its schema. */
export type SchemaError = ErrorObject;

/** A compiled schema: true when `value` fits; otherwise its `errors` say why. */
export interface Validator {
	(value: unknown): boolean;
	errors?: SchemaError[] | null;
}

/**
 * `1e999` is JSON, and not finite: it could not be written again. That the schemas are schemas is tested: to look here
 * would take half the time of a compilation.
 */
const common: Options = {
	strict: false,
	strictNumbers: true,
	discriminator: true,
	validateSchema: false,
	formats,
};

/** For what people mend: every error, with its value and with the schema that it stands in. */
export const everyError: Options = { ...common, allErrors: true, verbose: true };

/** For what is only told good from bad: the first error ends it. */
export const firstError: Options = common;

/**
 * Compiles a schema, when it is first used: that takes longer than loading all the rest, and many commands use none. A
 * worker cannot (no code generation there), so its bundle carries the output of ajv's standalone mode in place of each
 * module called `validate-….ts`.
 */
export function compile(schema: AnySchema, options: Options): Validator {
	let compiled: Validator | undefined;
	const validator: Validator = (value) => {
		compiled ??= new Ajv(options).compile(schema);
		const fits = compiled(value);
		validator.errors = compiled.errors;
		return fits;
	};
	return validator;
}
