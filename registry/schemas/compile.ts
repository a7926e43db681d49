import Ajv, { type AnySchemaObject, type ErrorObject, type Options } from "ajv";
import { formats } from "./definitions.ts";

/** A compiled schema: true when `value` fits; otherwise its `errors` say why. */
export interface Validator {
	(value: unknown): boolean;
	errors?: ErrorObject[] | null;
	/** The source of the compiled schema; absent in the output of ajv's standalone mode. */
	madeOf?: { schema: AnySchemaObject; options: Options };
}

/**
 * Stops at the first error: for documents that are only accepted or rejected. `strictNumbers`: `1e999` is valid JSON, but
 * becomes Infinity, which JSON cannot express. `validateSchema` is off because tests check the schemas, and the check
 * takes half the time of a compilation.
 */
export const firstError: Options = {
	strict: false,
	strictNumbers: true,
	discriminator: true,
	validateSchema: false,
	formats,
};

/** Reports every error with its value and its schema: for documents that people write. */
export const everyError: Options = { ...firstError, allErrors: true, verbose: true };

/**
 * Compiles a schema at its first use: a compilation takes longer than loading everything else, and many commands need no
 * schema. A worker may not generate code, so its bundle replaces each module `validate-….ts` by the output of ajv's
 * standalone mode.
 */
export function compile(schema: AnySchemaObject, options: Options): Validator {
	let compiled: Validator | undefined;
	const validator: Validator = (value) => {
		compiled ??= new Ajv(options).compile(schema);
		const fits = compiled(value);
		validator.errors = compiled.errors;
		return fits;
	};
	validator.madeOf = { schema, options };
	return validator;
}
