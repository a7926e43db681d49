import Ajv, { type AnySchema, type ErrorObject, type Options } from "ajv";

/** One reason why a value does not fit its schema. */
export type SchemaError = ErrorObject;

/** A compiled schema: true when `value` fits; otherwise its `errors` say why. */
export interface Validator {
	(value: unknown): boolean;
	errors?: SchemaError[] | null;
}

/** For what people mend: every error, with its value and with the schema that it stands in. */
export const everyError: Options = {
	allErrors: true,
	verbose: true,
	strict: false,
	discriminator: true,
};

/** For what is only told good from bad: the first error ends it. */
export const firstError: Options = { strict: false, discriminator: true };

/**
 * Compiles a schema. A worker cannot (no code generation there), so its bundle carries the output of ajv's standalone
 * mode in place of each module called `validate-….ts`.
 */
export function compile(schema: AnySchema, options: Options): Validator {
	return new Ajv(options).compile(schema);
}
