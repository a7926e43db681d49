import Ajv, { type AnySchemaObject, type ErrorObject, type Options } from "ajv";
import { formats } from "./definitions.ts";

export interface Validator {
	(value: unknown): boolean;
	errors?: ErrorObject[] | null;
	/** Absent in the output of ajv's standalone mode. */
	compiledFrom?: { schema: AnySchemaObject; options: Options };
}

/**
 * `strictNumbers`: the JSON `1e999` becomes Infinity. `validateSchema` would take half of a compilation;
 * tests check the schemas.
 */
export const firstError: Options = {
	strict: false,
	strictNumbers: true,
	discriminator: true,
	validateSchema: false,
	formats,
};

export const everyError: Options = { ...firstError, allErrors: true, verbose: true };

/** Compiles at the first use: that takes longer than loading everything else. */
export function compile(schema: AnySchemaObject, options: Options): Validator {
	let compiled: Validator | undefined;
	const validator: Validator = (value) => {
		compiled ??= new Ajv(options).compile(schema);
		const fits = compiled(value);
		validator.errors = compiled.errors;
		return fits;
	};
	validator.compiledFrom = { schema, options };
	return validator;
}
